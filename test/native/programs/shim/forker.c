/* Forks by way of a function of the libc. The parent of daemon() is gone when it returns. */
#define _GNU_SOURCE
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int terminal;
  if (argc > 1 && strcmp(argv[1], "daemon") == 0) return daemon(1, 1);
  pid_t pid = forkpty(&terminal, NULL, NULL, NULL);
  if (pid == 0) _exit(0);
  return waitpid(pid, NULL, 0) == pid ? 0 : 1;
}
