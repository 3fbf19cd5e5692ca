/* Hands pointers to exec that lead nowhere, and says what comes back. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static char *hole; /* a page that cannot be read; the one in front of it can */

static char *open_ended(void) { /* a word without an end, up to the hole */
  memset(hole - 64, 'x', 64);
  return hole - 64;
}

struct words {
  const char *name, *file;
  char **argv, **env;
};

static void say(const char *call, const char *name, long result) {
  printf("%s %s: %ld %d\n", call, name, result, errno);
  fflush(stdout);
  errno = 0;
}

#define TRY(call, ...) say(#call, w->name, call(__VA_ARGS__))

static void try_all(const struct words *w, int file_is_good, int list_is_good) {
  int pid = 0, fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
  TRY(execve, w->file, w->argv, w->env);
  TRY(syscall, SYS_execveat, AT_FDCWD, w->file, w->argv, w->env, 0);
  /* glibc counts the words itself, and dies where it finds none. */
  if (list_is_good) TRY(posix_spawn, &pid, w->file, NULL, NULL, w->argv, w->env);
  TRY(fexecve, file_is_good ? fd : -1, w->argv, w->env);
  if (file_is_good) TRY(execvpe, w->file, w->argv, w->env);
  close(fd);
  if (!file_is_good || w->env != environ) return;
  TRY(execv, w->file, w->argv);
  TRY(execvp, w->file, w->argv);
}

int main(void) {
  char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(pages + 4096, 4096, PROT_NONE); /* and stays free: nothing else comes to lie there */
  hole = pages + 4096;
  char *good[] = {"true", NULL}, *bad[] = {"true", hole, NULL};
  char *open_word[] = {"true", open_ended(), NULL}, *bad_env[] = {"A=b", hole + 8, NULL};
  char **list = (char **)(pages + 4096 - sizeof *list);
  const char *file = "/bin/true";
  const struct words table[] = {
      {"file", hole, good, environ},          {"argv", file, (char **)hole, environ},
      {"word", file, bad, environ},           {"word without an end", file, open_word, environ},
      {"environment", file, good, (char **)hole}, {"variable", file, good, bad_env},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    try_all(&table[i], table[i].file == file, table[i].argv != (char **)hole);
  list[0] = "true"; /* and what follows is not there */
  try_all(&(struct words){"argv without an end", file, list, environ}, 1, 0);
  say("system", "command", system(hole));
  say("popen", "command", popen(hole, "r") == NULL);
  return 0;
}
