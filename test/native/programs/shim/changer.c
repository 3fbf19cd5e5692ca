/* Changes its environment in another thread while system() runs, and prints it afterwards. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

static int begun[2], changed[2];

static void *change(void *data) {
  char byte;
  if (read(begun[0], &byte, 1) != 1) exit(9); /* the shell of system() has begun */
  unsetenv("API_KEY");
  setenv("LC_ALL", "POSIX", 1);
  setenv("NEW", "1", 1);
  if (write(changed[1], "\n", 1) != 1) exit(9); /* it may end */
  return data;
}

static void show(void) {
  for (char **entry = environ; *entry != NULL; entry++) puts(*entry);
  puts("--");
}

int main(void) {
  char command[64];
  pthread_t thread;
  for (int i = 0; i < 2; i++) {
    system("true");
    pclose(popen("true", "r"));
    show();
    if (pipe(begun) != 0 || pipe(changed) != 0) return 8;
    pthread_create(&thread, NULL, change, NULL);
    snprintf(command, sizeof command, "echo >&%d; read x <&%d", begun[1], changed[0]);
    fflush(stdout);
    system(command);
    pthread_join(thread, NULL);
    show();
    if (i == 0) setenv("API_KEY", "again-012345", 1);
  }
  return 0;
}
