/* Calls hooked functions where a library has little room: on a stack of the smallest size, in a
 * signal handler, without any descriptor, with every descriptor taken. Checks that errno stays. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void need(int fact, const char *what) {
  if (fact) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

static int child_of(pid_t pid) {
  int status = -1;
  errno = 77;
  need(waitpid(pid, &status, 0) == pid, "waitpid");
  need(errno == 77, "errno after waitpid");
  return status;
}

static void start_one(void) {
  char *argv[] = {"/bin/true", NULL};
  errno = 78;
  pid_t pid = fork();
  need(pid == 0 || errno == 78, "errno after fork");
  if (pid == 0) {
    if (errno != 78) _exit(3);
    execve("/nonexistent", argv, environ);
    if (errno != ENOENT) _exit(4);
    execve(argv[0], argv, environ);
    _exit(5);
  }
  need(child_of(pid) == 0, "a child in a strange place");
}

static void *on_small_stack(void *data) {
  start_one();
  return data;
}

static void small_stack(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  need(pthread_create(&thread, &attributes, on_small_stack, NULL) == 0, "a thread");
  pthread_join(thread, NULL);
}

static void handler(int signal) {
  (void)signal;
  start_one();
}

static void without_descriptors(void) {
  pid_t pid = fork();
  if (pid == 0) {
    closefrom(0);
    pid = fork();
    if (pid == 0) _exit(6);
    int status = 0;
    waitpid(pid, &status, 0);
    int first = open("/dev/null", O_RDONLY);
    _exit(first == 0 && WEXITSTATUS(status) == 6 ? 0 : 7); /* no descriptor of ours was left */
  }
  need(child_of(pid) == 0, "a process without descriptors");
}

static void all_descriptors_taken(void) {
  pid_t pid = fork();
  if (pid == 0) {
    struct rlimit limit = {16, 16};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (dup(0) >= 0) {
    }
    pid = fork();
    if (pid == 0) _exit(8);
    int status = 0;
    waitpid(pid, &status, 0);
    _exit(WEXITSTATUS(status) == 8 ? 0 : 9);
  }
  need(child_of(pid) == 0, "a process with all descriptors");
}

static void bad_pointers(void) {
  char *argv[] = {"/bin/true", NULL};
  need(execve(NULL, argv, environ) == -1 && errno == EFAULT, "a file that is NULL");
  need(execve("/bin/true", (char **)-1L, environ) == -1 && errno == EFAULT, "words at -1");
  char *broken[] = {"/bin/true", (char *)-1L, NULL};
  need(execve("/bin/true", broken, environ) == -1 && errno == EFAULT, "a word at -1");
  need(execve("/bin/true", argv, broken) == -1 && errno == EFAULT, "a variable at -1");
}

int main(void) {
  stack_t stack = {.ss_sp = malloc(16 << 10), .ss_size = 16 << 10};
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  need(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
  small_stack();
  raise(SIGUSR1);
  without_descriptors();
  all_descriptors_taken();
  bad_pointers();
  puts("fine");
  return 0;
}
