/* `grabber FILE COUNT`: two threads put FILE under every low number, write a line there and take it
 * away again, while another starts COUNT children and waits for them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST = 3, NUMBERS = 8 };

extern char **environ;
static const char LINE[] = "a line of the program's own\n";
static int file, done;

/* Each thread has numbers of its own: they do not take them from each other. */
static void *grab(void *which) {
  while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
    for (int fd = FIRST + (int)(long)which; fd < FIRST + NUMBERS; fd += 2) {
      if (dup2(file, fd) != fd) continue; /* EBUSY: it is being opened */
      if (write(fd, LINE, sizeof LINE - 1) < 0) continue; /* it was closed by who had it before */
      close(fd);
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[2];
  char *words[] = {"true", NULL};
  int failed = 0;
  (void)argc;
  int low = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  file = fcntl(low, F_DUPFD_CLOEXEC, 200);
  close(low);
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, grab, (void *)i);
  for (int i = 0; i < atoi(argv[2]); i++) {
    int pid, status;
    if (posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ) != 0) failed++;
    else if (waitpid(pid, &status, 0) != pid || status != 0) failed++;
  }
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%d failed\n", failed);
  return 0;
}
