/* Many threads and small stacks: `threads WAY`. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define LINES 100

static const char *program; /* for those who start one */

static void line(const char *format, int a, int b) {
  char text[64];
  int length = snprintf(text, sizeof text, format, a, b);
  if (write(1, text, (size_t)length) != length) _exit(99);
}

static void *writes(void *number) {
  for (int i = 0; i < LINES; i++) line("thread %d line %d\n", (int)(long)number, i);
  return NULL;
}

static void *prints(void *number) {
  for (int i = 0; i < LINES; i++) printf("thread %d prints %d\n", (int)(long)number, i);
  return NULL;
}

/* On 16 KB, all that can be done: write, fork, exec, wait. */
static void *starts(void *number) {
  int status = 0;
  line("small %d %d\n", (int)(long)number, 0);
  pid_t pid = fork();
  if (pid == 0) {
    execl(program, program, "w", "from a small stack", "x", "4", (char *)NULL);
    _exit(127);
  }
  waitpid(pid, &status, 0);
  line("small %d status %d\n", (int)(long)number, WEXITSTATUS(status));
  return NULL;
}

static int all(void *(*work)(void *), int count, size_t stack) {
  pthread_t threads[THREADS];
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  if (stack && pthread_attr_setstacksize(&attr, stack) != 0) return 3;
  for (long i = 0; i < count; i++)
    if (pthread_create(&threads[i], &attr, work, (void *)i) != 0) return 4;
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  return 0;
}

static int by_forks(void) {
  int bad = 0;
  for (int i = 0; i < 4; i++) bad |= all(starts, 4, 0);
  return bad;
}

static volatile sig_atomic_t ticks;

static void tick(int signal) {
  (void)signal;
  int kept = errno;
  if (ticks < 200) {
    ticks++;
    if (write(1, "tick\n", 5) != 5) _exit(98);
  }
  errno = kept;
}

/* Signals in the middle of everything, with a handler that writes. */
static int by_signals(void) {
  struct itimerval often = {{0, 300}, {0, 300}};
  struct sigaction act = {.sa_handler = tick, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &act, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < 200; i++) line("work %d %d\n", i, 0);
  while (ticks < 200) pause();
  memset(&often, 0, sizeof often);
  setitimer(ITIMER_REAL, &often, NULL);
  return 0;
}

static sigjmp_buf back;

static void jump(int signal) {
  (void)signal;
  siglongjmp(back, 1);
}

/* Out of a write that blocks, by a jump: whatever was held in there is held for ever. */
static int by_jumps(void) {
  static char much[1 << 16];
  int ends[2];
  struct sigaction act = {.sa_handler = jump};
  sigaction(SIGALRM, &act, NULL);
  if (pipe(ends) != 0) return 1;
  for (volatile int i = 0; i < 3; i++) {
    if (sigsetjmp(back, 1) == 0) {
      ualarm(20000, 0);
      for (;;)
        if (write(ends[1], much, sizeof much) < 0) return 2;
    }
    line("jumped %d %d\n", i, 0);
  }
  return 5;
}

static void *blocks(void *fd) {
  static char much[1 << 16];
  for (;;)
    if (write(*(int *)fd, much, sizeof much) < 0) return NULL;
}

static int by_cancelling(void) {
  int ends[2];
  pthread_t thread;
  void *how = NULL;
  if (pipe(ends) != 0) return 1;
  pthread_create(&thread, NULL, blocks, &ends[1]);
  usleep(50000); /* until it blocks; earlier it is cancelled at the same place */
  pthread_cancel(thread);
  pthread_join(thread, &how);
  line("cancelled %d %d\n", how == PTHREAD_CANCELED, 0);
  return 0;
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  program = argc > 2 ? argv[2] : "";
  if (strcmp(way, "write") == 0) return all(writes, THREADS, 0);
  if (strcmp(way, "print") == 0) return all(prints, THREADS, 0);
  if (strcmp(way, "small") == 0) return all(starts, 4, 16384);
  if (strcmp(way, "forks") == 0) return by_forks();
  if (strcmp(way, "signals") == 0) return by_signals();
  if (strcmp(way, "jumps") == 0) return by_jumps();
  if (strcmp(way, "cancelling") == 0) return by_cancelling();
  return 2;
}
