/* stdio in all its buffering: `stdio none|line|full`. Also built against musl. */
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

static int to_descriptor(int fd, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vdprintf(fd, format, list);
  va_end(list);
  return n;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "none";
  static char big[1 << 20];
  memset(big, 'b', sizeof big);
  int mode = !strcmp(how, "none") ? _IONBF : !strcmp(how, "line") ? _IOLBF : _IOFBF;
  if (strcmp(how, "default")) setvbuf(stdout, NULL, mode, mode == _IONBF ? 0 : BUFSIZ);
  printf("printf %d\n", 42);
  puts("puts");
  for (const char *c = "putchar\n"; *c; c++) putchar(*c);
  fputs("fputs", stdout);
  fflush(stdout);
  putc('\n', stdout);
  fprintf(stderr, "stderr %s\n", how);
  errno = ENOENT;
  perror("perror");
  if (fwrite(big, 1, sizeof big, stdout) != sizeof big) return 1;
  fflush(stdout);
  if (dprintf(1, "dprintf %d\n", 7) != 10 || to_descriptor(2, "vdprintf\n") != 9) return 2;
  FILE *again = fdopen(dup(1), "w");
  fputs("fdopen\n", again);
  fclose(again);
  FILE *error = fdopen(dup(2), "w");
  setlocale(LC_ALL, "C.UTF-8");
  fputws(L"w\u00efde\n", error);
  fclose(error);
  if (freopen("/dev/null", "w", stderr) == NULL) return 3;
  fputs("not in a stream\n", stderr);
  printf("%s", "in the buffer at the end");
  return 5;
}
