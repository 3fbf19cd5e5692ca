/* Starts `file` with the words behind it in the way that the first word names, and gives its exit
 * code; 99 and the errno on stderr when it could not be started. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int gone(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int spawned(int error, pid_t pid) {
  int status;
  if (error != 0) {
    fprintf(stderr, "errno %d\n", error);
    return 99;
  }
  return waitpid(pid, &status, 0) == pid ? gone(status) : 98;
}

static char **words;

static void *in_thread(void *data) {
  (void)data;
  execve(words[0], words, environ);
  return NULL;
}

static void from_thread(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  pthread_create(&thread, &attributes, in_thread, NULL);
  pthread_join(thread, NULL);
}

static void become(const char *way, char **argv) {
  const char *file = argv[0];
  words = argv;
  if (strcmp(way, "execve") == 0) execve(file, argv, environ);
  if (strcmp(way, "execv") == 0) execv(file, argv);
  if (strcmp(way, "execvp") == 0) execvp(file, argv);
  if (strcmp(way, "execvpe") == 0) execvpe(file, argv, environ);
  if (strcmp(way, "execl") == 0) execl(file, file, argv[1], argv[1] ? argv[2] : NULL, NULL);
  if (strcmp(way, "execlp") == 0) execlp(file, file, argv[1], argv[1] ? argv[2] : NULL, NULL);
  if (strcmp(way, "execle") == 0)
    execle(file, file, argv[1], argv[1] ? argv[2] : NULL, NULL, environ);
  if (strcmp(way, "fexecve") == 0) fexecve(open(file, O_RDONLY), argv, environ);
#ifdef __GLIBC__ /* musl has no such function */
  if (strcmp(way, "execveat") == 0) execveat(AT_FDCWD, file, argv, environ, 0);
  if (strcmp(way, "execveat-fd") == 0)
    execveat(open(file, O_RDONLY), "", argv, environ, AT_EMPTY_PATH);
#endif
  if (strcmp(way, "thread") == 0) from_thread();
  if (strcmp(way, "empty") == 0) execve(file, argv, (char *[]){NULL});
  if (strcmp(way, "null") == 0) execve(file, argv, NULL);
  if (strcmp(way, "clearenv") == 0) clearenv(), execv(file, argv);
}

static int run(const char *way, char **argv) {
  pid_t pid = 0;
  if (strcmp(way, "posix_spawn") == 0) {
    int error = posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);
    return spawned(error, pid);
  }
  if (strcmp(way, "posix_spawnp") == 0) {
    int error = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
    return spawned(error, pid);
  }
  if (strcmp(way, "system") == 0) return gone(system(argv[0]));
  if (strcmp(way, "popen") == 0) {
    char line[4096];
    FILE *from = popen(argv[0], "r");
    while (fgets(line, sizeof line, from) != NULL) fputs(line, stdout);
    return gone(pclose(from));
  }
  if (strcmp(way, "vfork") == 0) {
    pid = vfork();
    if (pid == 0) {
      execve(argv[0], argv, environ);
      _exit(99);
    }
    return spawned(0, pid);
  }
  if (strcmp(way, "fork") == 0) {
    pid = fork();
    if (pid == 0) {
      execve(argv[0], argv, environ);
      _exit(99);
    }
    return spawned(0, pid);
  }
  become(way, argv);
  fprintf(stderr, "errno %d\n", errno);
  return 99;
}

int main(int argc, char **argv) { return argc < 3 ? 97 : run(argv[1], argv + 2); }
