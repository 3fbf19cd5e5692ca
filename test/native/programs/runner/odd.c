/* Programs to be linked statically whose ways are their own.
 *   odd debugger               traces a child of its own, as a debugger does
 *   odd env                    prints its environment
 *   odd start PROGRAM ...      becomes another program, with the same environment
 *   odd many N PROGRAM ...     becomes another program, with N variables and no others */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#ifdef DEBUGGER
static int debug(void) {
  int status = 0;
  pid_t pid = fork();
  if (pid == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(20);
    raise(SIGSTOP);
    _exit(9);
  }
  waitpid(pid, &status, 0);
  printf("stopped %d\n", WIFSTOPPED(status));
  if (WIFSTOPPED(status)) ptrace(PTRACE_CONT, pid, NULL, NULL), waitpid(pid, &status, 0);
  printf("exit %d\n", WEXITSTATUS(status));
  return 0;
}
#else
static int debug(void) { return 2; }
#endif

static char **variables(int count) {
  char **list = calloc((size_t)count + 1, sizeof *list);
  for (int i = 0; list != NULL && i < count; i++)
    if (asprintf(&list[i], "VARIABLE_%d=%d", i, i) < 0) return NULL;
  return list;
}

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "";
  if (strcmp(what, "debugger") == 0) return debug();
  if (strcmp(what, "env") == 0) {
    for (char **at = environ; *at != NULL; at++) puts(*at);
    return 0;
  }
  if (strcmp(what, "start") == 0 && count > 2) return execvp(words[2], words + 2);
  if (strcmp(what, "many") == 0 && count > 3)
    return execve(words[3], words + 3, variables(atoi(words[2])));
  return 2;
}
