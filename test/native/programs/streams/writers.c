/* Many writers at once: `writers KIND COUNT`. Every line is 64 bytes and says which process wrote
 * it, so that a test can hold a record's process against the bytes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE = 64, WRITERS = 8 };

static int count;
static char stack[64 << 10];

/* No stdio: also for signal handlers and vfork children. */
static void line(int fd, char kind, int number) {
  char text[LINE];
  memset(text, '.', sizeof text);
  text[LINE - 1] = '\n';
  text[0] = kind;
  for (int i = 0, value = (int)syscall(SYS_getpid); i < 10; i++, value /= 10)
    text[11 - i] = (char)('0' + value % 10);
  for (int i = 0, value = number; i < 10; i++, value /= 10) text[22 - i] = (char)('0' + value % 10);
  if (write(fd, text, sizeof text) != LINE) _exit(90);
}

static void *thread(void *number) {
  int me = (int)(long)number;
  for (int i = 0; i < count; i++) line(me % 2 + 1, (char)('a' + me), i);
  return NULL;
}

static void threads(void) {
  pthread_t all[WRITERS];
  for (long i = 0; i < WRITERS; i++) pthread_create(&all[i], NULL, thread, (void *)i);
  for (int i = 0; i < WRITERS; i++) pthread_join(all[i], NULL);
}

static void forks(void) {
  for (int i = 0; i < WRITERS; i++) {
    line(1, 'p', i); /* still in the parent's batch when it forks */
    if (fork() != 0) continue;
    for (int k = 0; k < count; k++) line(1 + k % 2, (char)('a' + i), k);
    if (i % 2) exit(0);
    _exit(0);
  }
  while (wait(NULL) > 0) continue;
  line(1, 'p', 99);
}

static void vforks(void) {
  for (int i = 0; i < count; i++) {
    line(1, 'p', i);
    if (vfork() == 0) {
      line(2, 'v', i);
      _exit(0);
    }
    line(1, 'q', i);
  }
  while (wait(NULL) > 0) continue;
}

static int cloned(void *memory) {
  line(1, memory ? 'm' : 'c', 0);
  line(2, memory ? 'm' : 'c', 1);
  syscall(SYS_exit_group, 0);
  return 0;
}

/* Neither fork nor vfork: with memory of its own, and with the parent's. */
static void clones(void) {
  line(1, 'p', 0);
  if (clone(cloned, stack + sizeof stack, SIGCHLD, NULL) < 0) _exit(91);
  while (wait(NULL) > 0) continue;
  line(1, 'p', 1);
  if (clone(cloned, stack + sizeof stack, CLONE_VM | SIGCHLD, stack) < 0) _exit(91);
  while (wait(NULL) > 0) continue;
  line(1, 'p', 2);
}

static volatile sig_atomic_t ticks;
static void tick(int signal) {
  (void)signal;
  line(2, 's', ticks++);
}

/* A handler that writes, in the middle of whatever the shim was doing. */
static void signals(void) {
  struct itimerval every = {{0, 50}, {0, 50}};
  struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &every, NULL);
  for (int i = 0; i < count; i++) line(1, 'p', i);
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
}

static sigjmp_buf back;
static void jump(int signal) {
  (void)signal;
  siglongjmp(back, 1);
}

/* A handler that never returns: the batch may be left taken. Writes must go on. */
static void jumps(void) {
  struct itimerval soon = {{0, 0}, {0, 100}};
  struct sigaction action = {.sa_handler = jump, .sa_flags = SA_NODEFER};
  sigaction(SIGALRM, &action, NULL);
  for (volatile int i = 0; i < count; i++) {
    if (sigsetjmp(back, 1) == 0) {
      setitimer(ITIMER_REAL, &soon, NULL);
      for (;;) line(1, 'p', i);
    }
  }
  line(2, 'e', 0);
}

static void *blocked(void *file) {
  char much[4096];
  memset(much, 'x', sizeof much);
  for (;;) fwrite(much, 1, sizeof much, file);
  return NULL;
}

/* A thread that is cancelled inside write unwinds its stack through the hook. */
static void cancelled(int through_stdio) {
  int fds[2];
  pthread_t it;
  if (pipe(fds) != 0) _exit(92);
  FILE *file = fdopen(fds[1], "w");
  if (!through_stdio) setvbuf(file, NULL, _IONBF, 0);
  pthread_create(&it, NULL, blocked, file);
  int ready = 0;
  for (int size = 0; !ready; ready = size > 60000) { /* full: it waits now, or soon */
    sched_yield();
    if (syscall(SYS_ioctl, fds[0], 0x541b /* FIONREAD */, &size) != 0) _exit(93);
  }
  pthread_cancel(it);
  void *how;
  pthread_join(it, &how);
  if (how != PTHREAD_CANCELED) _exit(94);
  line(1, 'p', 0);
}

int main(int argc, char **argv) {
  const char *kind = argc > 2 ? argv[1] : "";
  count = argc > 2 ? atoi(argv[2]) : 0;
  if (!strcmp(kind, "threads")) threads();
  else if (!strcmp(kind, "forks")) forks();
  else if (!strcmp(kind, "vforks")) vforks();
  else if (!strcmp(kind, "clones")) clones();
  else if (!strcmp(kind, "signals")) signals();
  else if (!strcmp(kind, "jumps")) jumps();
  else if (!strcmp(kind, "cancelled")) cancelled(count);
  else return 2;
  return 0;
}
