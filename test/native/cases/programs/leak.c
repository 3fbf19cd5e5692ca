/* For sanitizers: `leak` loses memory, `leak over` writes behind its end, `leak no` is clean,
 * `leak start PROGRAM ...` starts a program and is clean. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile held;

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  puts("leak: runs");
  held = malloc(10);
  memset(held, 0, 10);
  if (strcmp(way, "over") == 0) ((volatile char *)held)[10] = 1;
  if (strcmp(way, "start") == 0) {
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) execv(argv[2], argv + 2), _exit(127);
    waitpid(pid, &status, 0);
    printf("leak: child %d\n", WEXITSTATUS(status));
  }
  if (strcmp(way, "") != 0) free(held);
  held = NULL;
  return 0;
}
