/* Ends in the way that the first word names, with the code of the second. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int code;

static void *leave(void *data) {
  (void)data;
  exit(code);
}

static void *wait_for_main(void *data) {
  pthread_join(*(pthread_t *)data, NULL);
  return NULL;
}

static void last_words(void) { fputs("handler\n", stdout); }

static void by_thread(void *(*start)(void *)) {
  static pthread_t self;
  pthread_t thread;
  self = pthread_self();
  pthread_create(&thread, NULL, start, &self);
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "return";
  code = argc > 2 ? atoi(argv[2]) : 0;
  atexit(last_words);
  printf("buffered\n");
  if (strcmp(way, "exit") == 0) exit(code);
  if (strcmp(way, "_exit") == 0) _exit(code);
  if (strcmp(way, "_Exit") == 0) _Exit(code);
  if (strcmp(way, "quick_exit") == 0) quick_exit(code);
  if (strcmp(way, "pthread_exit") == 0) by_thread(wait_for_main), pthread_exit(NULL);
  if (strcmp(way, "thread") == 0) by_thread(leave), pause();
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(way, "raw") == 0) syscall(SYS_exit_group, code);
  if (strcmp(way, "fork") == 0) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) exit(code);
    waitpid(pid, NULL, 0);
    return 0;
  }
  return code;
}
