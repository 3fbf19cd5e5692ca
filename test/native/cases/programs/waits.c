/* Parents of every kind: `waits WAY`. Children end with 5 or by SIGKILL; what the parent heard of
 * it is printed, never a pid. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void line(const char *text) {
  if (write(1, text, strlen(text)) < 0) _exit(99);
}

static pid_t child(int code) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  if (code < 0) kill(getpid(), -code);
  _exit(code);
}

static int by_waitid(void) {
  siginfo_t info;
  child(5);
  /* Looked at twice before it is taken: it has ended once. */
  for (int i = 0; i < 2; i++) {
    if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0) return 1;
    printf("waitid: peeked %d %d\n", info.si_code, info.si_status);
  }
  if (waitid(P_ALL, 0, &info, WEXITED) != 0) return 1;
  printf("waitid: %d %d\n", info.si_code, info.si_status);
  child(-SIGKILL);
  if (waitid(P_ALL, 0, &info, WEXITED) != 0) return 1;
  printf("waitid: %d %d\n", info.si_code, info.si_status);
  return waitid(P_ALL, 0, &info, WEXITED) == -1 && errno == ECHILD ? 0 : 2;
}

static int by_wait4(void) {
  struct rusage used;
  int status;
  pid_t one = child(5);
  if (wait4(one, &status, 0, &used) != one) return 1;
  printf("wait4: %x\n", status);
  child(-SIGKILL);
  if (wait3(&status, 0, &used) < 0) return 1;
  printf("wait3: %x\n", status);
  child(5);
  if (wait(NULL) < 0) return 1; /* nobody wants to know how */
  puts("wait: gone");
  return 0;
}

static int by_polling(void) {
  int status = 0, rounds = 0;
  pid_t one = child(5);
  while (waitpid(one, &status, WNOHANG) == 0) rounds++, sched_yield();
  printf("polled: %x\n", status);
  return rounds < 0;
}

static int by_stopping(void) {
  int status, go[2];
  char nothing;
  if (pipe(go) != 0) return 1;
  pid_t one = fork();
  if (one == 0) {
    close(go[1]);
    raise(SIGSTOP);
    while (read(go[0], &nothing, 1) > 0) continue;
    _exit(5);
  }
  waitpid(one, &status, WUNTRACED);
  printf("stopped: %x\n", status);
  kill(one, SIGCONT);
  waitpid(one, &status, WCONTINUED);
  printf("continued: %x\n", status);
  close(go[1]);
  waitpid(one, &status, 0);
  printf("ended: %x\n", status);
  return 0;
}

/* Nobody hears of its end but the kernel, and what it says itself. */
static int by_ignoring(void) {
  signal(SIGCHLD, SIG_IGN);
  pid_t one = fork();
  if (one == 0) exit(5);
  int got = waitpid(one, NULL, 0);
  printf("ignored: %s\n", got == -1 && errno == ECHILD ? "ECHILD" : "?");
  return 0;
}

static int by_setsid(void) {
  pid_t one = fork();
  if (one == 0) {
    setsid();
    line("setsid: child\n");
    exit(5);
  }
  int status;
  waitpid(one, &status, 0);
  printf("setsid: %x\n", status);
  return 0;
}

/* Forks twice, and speaks when its parents are gone. */
static int by_daemon(void) {
  int gone[2];
  char nothing;
  if (pipe(gone) != 0) return 1;
  pid_t one = fork();
  if (one == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    close(gone[1]);
    while (read(gone[0], &nothing, 1) > 0) continue;
    line("daemon: alone\n");
    exit(6);
  }
  waitpid(one, NULL, 0);
  line("daemon: left\n");
  return 3;
}

static void interrupt(int signal) { (void)signal; }

static int by_interrupts(void) {
  struct sigaction once = {.sa_handler = interrupt};
  sigaction(SIGALRM, &once, NULL);
  pid_t one = fork();
  if (one == 0) {
    for (;;) pause();
  }
  int status = 0;
  ualarm(50000, 0);
  int got = waitpid(one, &status, 0);
  printf("interrupted: %d %s\n", got, got < 0 && errno == EINTR ? "EINTR" : "?");
  kill(one, SIGTERM);
  while (waitpid(one, &status, 0) < 0 && errno == EINTR) continue;
  printf("interrupted: %x\n", status);
  return 0;
}

static void *waiter(void *pid) {
  int status;
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
  waitpid(*(pid_t *)pid, &status, 0);
  return NULL;
}

/* A thread that is cancelled while it waits leaves the wait, and the child is still there. */
static int by_cancelling(void) {
  pthread_t thread;
  void *how = NULL;
  int status;
  pid_t one = fork();
  if (one == 0) {
    for (;;) pause();
  }
  pthread_create(&thread, NULL, waiter, &one);
  usleep(50000); /* until it waits; earlier it is cancelled at the same place */
  pthread_cancel(thread);
  pthread_join(thread, &how);
  printf("cancelled: %s\n", how == PTHREAD_CANCELED ? "yes" : "no");
  kill(one, SIGKILL);
  waitpid(one, &status, 0);
  printf("cancelled: %x\n", status);
  return 0;
}

static int by_many(void) {
  int status, ended = 0, sum = 0;
  for (int i = 0; i < 64; i++) child(i % 8);
  while (wait(&status) > 0) ended++, sum += WEXITSTATUS(status);
  printf("many: %d %d\n", ended, sum);
  return 0;
}

struct way {
  const char *name;
  int (*go)(void);
};

static const struct way WAYS[] = {
    {"waitid", by_waitid},         {"wait4", by_wait4},   {"polling", by_polling},
    {"stopping", by_stopping},     {"setsid", by_setsid}, {"ignoring", by_ignoring},
    {"cancelling", by_cancelling}, {"many", by_many},     {"interrupts", by_interrupts},
    {"daemon", by_daemon},
};

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  for (size_t i = 0; argc > 1 && i < sizeof WAYS / sizeof *WAYS; i++)
    if (strcmp(WAYS[i].name, argv[1]) == 0) return WAYS[i].go();
  return 2;
}
