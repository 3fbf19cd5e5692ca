/* Writes its title over its words and its environment, as servers do, and then starts a program. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
  char *end = argv[argc - 1] + strlen(argv[argc - 1]);
  for (char **entry = environ; *entry != NULL; entry++)
    if (*entry > end) end = *entry + strlen(*entry);
  memset(argv[0], 'T', (size_t)(end - argv[0]));
  char *words[] = {"/bin/echo", "titled", NULL}, *none[] = {NULL};
  environ = none;
  return execv(words[0], words);
}
