/* `looker COUNT`: a program with two threads starts COUNT children, and behind each wait looks for
 * what is none of its own: threads, children of any kind, descriptors, signals. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBERS = 1024, OWN_THREADS = 2 };

static int held[2];

static void *hold(void *unused) {
  char byte;
  while (read(held[0], &byte, 1) < 0) continue;
  return unused;
}

/* Without a descriptor: the directory has two links and one for each thread. */
static int threads(void) {
  struct stat st;
  return stat("/proc/self/task", &st) == 0 ? (int)st.st_nlink - 2 : -1;
}

static int descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < NUMBERS; fd++) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

int main(int argc, char **argv) {
  pthread_t thread;
  sigset_t before, now;
  int more_threads = 0, children = 0, leaked = 0, masked = 0;
  (void)argc;
  if (pipe(held) != 0) return 1;
  pthread_create(&thread, NULL, hold, NULL);
  int own = descriptors();
  sigprocmask(SIG_BLOCK, NULL, &before);
  for (int i = 0; i < atoi(argv[1]); i++) {
    int pid = fork(), status;
    if (pid == 0) _exit(0);
    if (waitpid(pid, &status, 0) != pid) return 1;
    more_threads += threads() != OWN_THREADS;
    children += waitpid(-1, &status, __WALL | WNOHANG) != -1 || errno != ECHILD;
    leaked += descriptors() != own;
    sigprocmask(SIG_BLOCK, NULL, &now);
    masked += sigismember(&now, SIGUSR1) != sigismember(&before, SIGUSR1);
  }
  printf("%d threads, %d children, %d descriptors, %d signals\n", more_threads, children, leaked,
         masked);
  close(held[1]);
  pthread_join(thread, NULL);
  return 0;
}
