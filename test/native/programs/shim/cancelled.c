/* A thread is cancelled inside system(); the environment is as it was, and the next one works. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

static void *wait_long(void *data) {
  system("echo begun; exec sleep 3");
  return data;
}

static void show(const char *when) {
  puts(when);
  for (char **at = environ; *at != NULL; at++) puts(*at);
  fflush(stdout);
}

int main(void) {
  pthread_t thread;
  void *result;
  int pipe_ends[2], before = dup(1);
  char byte;
  if (pipe(pipe_ends) != 0) return 2;
  dup2(pipe_ends[1], 1); /* that it has begun is awaited */
  pthread_create(&thread, NULL, wait_long, NULL);
  if (read(pipe_ends[0], &byte, 1) != 1) return 3;
  dup2(before, 1);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  show(result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
  fflush(stdout);
  system("exec /usr/bin/env");
  show("after");
  return 0;
}
