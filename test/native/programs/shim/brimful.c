/* Starts `true` with words and variables that just fit into what the kernel takes: the way is the
 * first word. Every size from 200 bytes too many down to one that fits is tried. */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENTRY = 100000, LIMIT = 1 << 20 };

static int try(const char *way, char **env) {
  char *words[] = {"true", NULL};
  pid_t pid = 0;
  int status = 0;
  if (strcmp(way, "spawn") == 0) {
    int error = posix_spawn(&pid, "/bin/true", NULL, NULL, words, env);
    if (error != 0) return error;
  } else {
    pid = fork();
    if (pid == 0) {
      environ = env;
      if (strcmp(way, "execve") == 0) execve("/bin/true", words, env);
      if (strcmp(way, "execv") == 0) execv("/bin/true", words);
      _exit(errno);
    }
  }
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

int main(int argc, char **argv) {
  struct rlimit limit = {LIMIT, RLIM_INFINITY}; /* a quarter of it is for words and variables */
  char *env[4] = {malloc(ENTRY + 1), malloc(ENTRY + 1), malloc(LIMIT), NULL};
  if (argc < 2 || setrlimit(RLIMIT_STACK, &limit) != 0) return 2;
  for (int i = 0; i < 2; i++) memset(env[i], 'A' + i, ENTRY), env[i][1] = '=', env[i][ENTRY] = 0;
  memset(env[2], 'C', LIMIT), env[2][1] = '=';
  /* The largest that fits, by halves. */
  int fits = 10, not = 120000;
  while (not - fits > 1) {
    int middle = (fits + not) / 2;
    char *end = env[2] + middle, was = *end;
    *end = 0;
    int error = try(argv[1], env);
    *end = was;
    if (error == 0) fits = middle;
    else if (error == E2BIG) not = middle;
    else return printf("error %d\n", error), 3;
  }
  printf("%d bytes fit\n", fits);
  return 0;
}
