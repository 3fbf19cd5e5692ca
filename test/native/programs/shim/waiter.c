/* Starts children that end with 3, by SIGTERM, and by SIGKILL after a stop, and waits for each in
 * the way that the first word names. Prints what it learned. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child(int kind) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid != 0) return pid;
  if (kind == 0) _exit(3);
  if (kind == 1) raise(SIGTERM);
  if (kind == 2) raise(SIGSTOP);
  for (;;) pause();
}

static void look(const char *way, pid_t pid, int options) {
  int status = -1;
  struct rusage usage;
  siginfo_t info;
  memset(&info, 0, sizeof info);
  if (strcmp(way, "wait") == 0) wait(&status);
  if (strcmp(way, "wait-null") == 0) wait(NULL);
  if (strcmp(way, "waitpid") == 0) waitpid(pid, &status, options);
  if (strcmp(way, "wait3") == 0) wait3(&status, options, &usage);
  if (strcmp(way, "wait4") == 0) wait4(pid, &status, options, &usage);
  if (strcmp(way, "waitid") == 0 || strcmp(way, "waitid-twice") == 0) {
    int twice = way[6] != 0;
    if (twice) waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    waitid(P_PID, (id_t)pid, &info, WEXITED | (options & WUNTRACED ? WSTOPPED : 0));
    printf("code %d status %d\n", info.si_code, info.si_status);
    return;
  }
  printf("status %d\n", status);
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "waitpid";
  look(way, child(0), 0);
  look(way, child(1), 0);
  if (strncmp(way, "wait-", 5) == 0 || strcmp(way, "wait") == 0) return 0;
  if (strcmp(way, "waitid-twice") == 0) return 0; /* would wait for the end of what only stopped */
  pid_t stopped = child(2);
  look(way, stopped, WUNTRACED);
  kill(stopped, SIGKILL);
  if (strcmp(way, "waitid") == 0) waitpid(stopped, NULL, 0);
  else look(way, stopped, 0);
  errno = 0;
  waitpid(-1, NULL, 0);
  printf("errno %d\n", errno);
  return 0;
}
