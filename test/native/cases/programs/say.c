/* Says what it is told to, each word in another way of writing, and ends as it is told to. Prints
 * nothing that differs between two runs. Built for every libc and word size there is. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

extern char **environ;

static void vector(const char *text) {
  struct iovec parts[3] = {{(void *)text, strlen(text) / 2}, {NULL, 0}, {(void *)"\n", 1}};
  parts[1] = (struct iovec){(void *)(text + parts[0].iov_len), strlen(text) - parts[0].iov_len};
  if (writev(1, parts, 3) < 0) _exit(99);
}

static void plain(int fd, const char *text) {
  char line[4096];
  int length = snprintf(line, sizeof line, "%s\n", text);
  if (write(fd, line, (size_t)length) < 0) _exit(99);
}

/* Only a socket takes it. */
static void message(const char *text) {
  char line[4096];
  int length = snprintf(line, sizeof line, "%s\n", text);
  struct iovec part = {line, (size_t)length};
  struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
  if (sendmsg(1, &m, 0) != length) _exit(94);
}

static void copied(const char *file) {
  struct stat st;
  int from = open(file, O_RDONLY | O_CLOEXEC);
  if (from < 0 || fstat(from, &st) != 0) exit(98);
  off_t at = 0;
  while (at < st.st_size)
    if (sendfile(1, from, &at, (size_t)(st.st_size - at)) <= 0) exit(97);
  close(from);
}

/* Until its other side is closed. */
static void waited(const char *fifo) {
  char byte;
  int from = open(fifo, O_RDONLY | O_CLOEXEC);
  while (from >= 0 && read(from, &byte, 1) > 0) continue;
  close(from);
}

static void elsewhere(const char *text) {
  int fd = fcntl(1, F_DUPFD, 50);
  plain(fd, text);
  FILE *file = fdopen(fd, "w");
  fprintf(file, "%s again\n", text);
  fclose(file);
}

static void one_by_one(const char *text) {
  setvbuf(stdout, NULL, _IONBF, 0);
  for (; *text; text++) putchar(*text);
  putchar('\n');
}

static void do_word(char what, const char *text) {
  switch (what) {
    case 'o': printf("%s\n", text); break;
    case 'e': fprintf(stderr, "%s\n", text); break;
    case 'w': plain(1, text); break;
    case 'r': plain(2, text); break;
    case 'v': vector(text); break;
    case 'd': dprintf(1, "%s\n", text); break;
    case 'c': one_by_one(text); break;
    case 'u': fwrite(text, 1, strlen(text), stdout), putc('\n', stdout); break;
    case 'p': errno = ENOENT, perror(text); break;
    case 'm': message(text); break;
    case 's': copied(text); break;
    case 'R': waited(text); break;
    case 'D': elsewhere(text); break;
    case 'P': freopen(text, "w", stdout) ? (void)printf("reopened\n") : exit(96); break;
    case 'n': for (int i = 0, n = atoi(text); i < n; i++) printf("line %d of %d\n", i, n); break;
    case 'E': for (char **e = environ; *e; e++) puts(*e); break;
    case 'f': fflush(NULL); break;
    case 'x': exit(atoi(text));
    case '_': _exit(atoi(text));
    case 'k': fflush(NULL), raise(atoi(text)); break;
    case 'S': *(volatile int *)(long)atoi(text) = 1; break;
    case 'A': abort();
    default: exit(95);
  }
}

int main(int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) do_word(argv[i][0], argv[i + 1]);
  return 0;
}
