/* `grabber FILE COUNT`: two threads put FILE under every number that a shim could use, write a line
 * there and take it away again, while another starts COUNT children in three ways and waits for
 * them. */
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

/* The lowest, which an open gives, and the highest below the usual limit. */
enum { FIRST = 3, LOW_END = 20, HIGH = 950, END = 1024, OWN = 200 };

extern char **environ;
static const char LINE[] = "a line of the program's own\n";
static int file, done, lost;

static void grab_one(int fd) {
  if (dup2(file, fd) != fd) return; /* EBUSY: it is being opened */
  int written = write(fd, LINE, sizeof LINE - 1) == sizeof LINE - 1;
  if (!written || close(fd) != 0) __atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
}

/* Each thread has numbers of its own: they do not take them from each other. */
static void *grab(void *which) {
  while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
    for (int fd = FIRST + (int)(long)which; fd < END; fd += 2) {
      if (fd < LOW_END || fd >= HIGH) grab_one(fd);
    }
  return NULL;
}

static int start(int way) {
  char *words[] = {"true", NULL};
  int pid;
#ifndef __GLIBC__
  way = way == 0 ? 1 : way; /* this posix_spawn has descriptors of its own, which would be taken */
#endif
  if (way == 0) return posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ) == 0 ? pid : -1;
  pid = fork();
  if (pid == 0 && way == 1) execv("/bin/true", words);
  if (pid == 0) _exit(0);
  return pid;
}

int main(int argc, char **argv) {
  pthread_t threads[2];
  int failed = 0;
  (void)argc;
  int low = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  file = fcntl(low, F_DUPFD_CLOEXEC, OWN);
  close(low);
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, grab, (void *)i);
  for (int i = 0; i < atoi(argv[2]); i++) {
    int pid = start(i % 3), status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) failed++;
  }
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%d failed, %d lost\n", failed, lost);
  return 0;
}
