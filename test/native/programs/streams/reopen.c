/* Streams by name in plain C, for a libc that has no names of its own for it. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  int fd = open("/dev/stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  FILE *file = fopen("/dev/fd/1", "a");
  if (fd < 0 || file == NULL || write(fd, "open\n", 5) != 5) return 1;
  if (fputs("fopen\n", file) < 0 || fclose(file) != 0) return 2;
  if (freopen("/dev/stderr", "w", stdout) == NULL) return 3;
  puts("freopen");
  return 0;
}
