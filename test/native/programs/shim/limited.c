/* A program with two threads that may have no more of them (RLIMIT_NPROC) while it waits for its
 * first child, and may again when it waits for the second. Begins as root, which has no limit. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int held[2];

static void *hold(void *unused) {
  char byte;
  while (read(held[0], &byte, 1) < 0) continue;
  return unused;
}

static int start(void) {
  int pid = fork();
  if (pid == 0) _exit(0);
  return pid;
}

int main(void) {
  pthread_t thread;
  struct rlimit limit;
  int status;
  if (pipe(held) != 0) return 1;
  pthread_create(&thread, NULL, hold, NULL);
  getrlimit(RLIMIT_NPROC, &limit);
  struct rlimit none = {1, limit.rlim_max};
  int first = start(), second = start();
  if (setresuid(65534, 65534, 65534) != 0) return 1;
  setrlimit(RLIMIT_NPROC, &none);
  waitpid(first, &status, 0);
  printf("%d", status);
  setrlimit(RLIMIT_NPROC, &limit);
  waitpid(second, &status, 0);
  printf(" %d\n", status);
  close(held[1]);
  pthread_join(thread, NULL);
  return 0;
}
