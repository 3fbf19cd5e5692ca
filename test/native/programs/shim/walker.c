/* Threads that look through the environment all the time, while others do what the first word says:
 * `system` and `popen` start shells, `execvp` and `execv` fail to become what is not there. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int done;
static const char *way;

static void *walk(void *data) {
  while (!done)
    if (getenv("NOT_THERE_AT_ALL") != NULL) return data;
  return NULL;
}

static void *act(void *data) {
  char *words[] = {"no-such-program", NULL};
  for (int i = 0; i < 40; i++) {
    if (strcmp(way, "system") == 0 && system(":") != 0) return data;
    if (strcmp(way, "popen") == 0) pclose(popen(":", "w"));
  }
  for (int i = 0; i < 1500; i++) {
    if (strcmp(way, "execvp") == 0) execvp(words[0], words);
    if (strcmp(way, "execv") == 0) execv("/no/such/program", words);
  }
  return data;
}

int main(int argc, char **argv) {
  pthread_t walkers[2], actors[3];
  if (argc < 2) return 2;
  way = argv[1];
  for (int i = 0; i < 2; i++) pthread_create(&walkers[i], NULL, walk, NULL);
  for (int i = 0; i < 3; i++) pthread_create(&actors[i], NULL, act, NULL);
  for (int i = 0; i < 3; i++) pthread_join(actors[i], NULL);
  done = 1;
  for (int i = 0; i < 2; i++) pthread_join(walkers[i], NULL);
  fflush(stdout);
  execlp("env", "env", NULL);
  return 3;
}
