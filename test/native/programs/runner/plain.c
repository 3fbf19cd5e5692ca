/* A program to be linked statically: no shim can be in it.
 *   plain hello       prints its pid, exits with 4
 *   plain forks       forks, starts /bin/sh, starts itself, and loses a child to a signal
 *   plain threads     eight threads; four of them start /bin/echo
 *   plain exec        starts /bin/sh from a second thread
 *   plain bare WORD   becomes /bin/sh with that word and no environment
 *   plain ticks       prints a number every 10 ms, for ever
 *   plain wait        prints its pid and waits for a signal */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int ended(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

static int forks(void) {
  pid_t pid = fork();
  if (pid == 0) _exit(7);
  printf("forked %d %d\n", pid, ended(pid));
  fflush(stdout);
  pid = vfork();
  if (pid == 0) {
    execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
    _exit(1);
  }
  printf("dynamic %d %d\n", pid, ended(pid));
  fflush(stdout);
  pid = fork();
  if (pid == 0) {
    execl("/proc/self/exe", "again", "hello", (char *)NULL);
    _exit(1);
  }
  printf("static %d %d\n", pid, ended(pid));
  fflush(stdout);
  pid = fork();
  if (pid == 0) raise(SIGKILL);
  printf("killed %d %d\n", pid, ended(pid));
  return 0;
}

static void *start_echo(void *wanted) {
  pid_t pid = wanted == NULL ? 0 : fork();
  if (wanted != NULL && pid == 0) {
    execl("/bin/echo", "echo", "from a thread", (char *)NULL);
    _exit(1);
  }
  if (pid > 0) ended(pid);
  return NULL;
}

static void *start_shell(void *unused) {
  execl("/bin/sh", "sh", "-c", "echo shell $$; exit 6", (char *)NULL);
  return unused;
}

static int threads(int count, void *(*start)(void *)) {
  pthread_t list[8];
  static int wanted;
  for (int i = 0; i < count; i++)
    pthread_create(&list[i], NULL, start, i % 2 == 0 ? &wanted : NULL);
  for (int i = 0; i < count; i++) pthread_join(list[i], NULL);
  return 0;
}

static int bare(char *word) {
  char *words[] = {"sh", "-c", "exit 5", word, NULL}, *nothing[] = {NULL};
  return execve("/bin/sh", words, nothing);
}

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "hello";
  if (strcmp(what, "bare") == 0) return bare(words[2]);
  if (strcmp(what, "forks") == 0) return forks();
  if (strcmp(what, "threads") == 0) return threads(8, start_echo);
  if (strcmp(what, "exec") == 0) return threads(1, start_shell);
  if (strcmp(what, "ticks") == 0)
    for (int i = 0;; i++) {
      printf("tick %d\n", i);
      fflush(stdout);
      usleep(10000);
    }
  printf("plain %d\n", getpid());
  fflush(stdout);
  if (strcmp(what, "wait") == 0) pause();
  return 4;
}
