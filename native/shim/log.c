/* Messages for debugging the shim, only where CUFF_TRACE_LOG or AH_CMDTRACE_LOG asks for them: on
 * stderr (`1` or `stderr`), or appended to a file. */
#include "shim.h"

enum { O_CREAT = 0100, OWNER_ONLY = 0600, STDERR = 2, LINE_BYTES = 640 };

struct line {
  char text[LINE_BYTES];
  size_t length;
};

static void add(struct line *line, const char *text) {
  while (*text != 0 && line->length < sizeof line->text - 1) line->text[line->length++] = *text++;
}

static void add_number(struct line *line, long number) {
  char digits[21];
  text_number(digits, (uint64_t)number);
  add(line, digits);
}

static int append_line(void *about) {
  const struct line *line = about;
  int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int fd = sys_openat(AT_FDCWD, shim.log_path, flags, OWNER_ONLY);
  if (fd < 0) return fd;
  sys_write(fd, line->text, line->length);
  return sys_close(fd);
}

static NOINLINE void write_line(const char *what, const char *about, long number) {
  struct line line;
  line.length = 0;
  add(&line, "cuff-shim[");
  add_number(&line, sys_getpid());
  add(&line, "] ");
  add(&line, what);
  if (about != NULL) add(&line, " "), add(&line, about);
  if (number != 0) add(&line, " "), add_number(&line, number);
  line.text[line.length++] = '\n';
  if (shim.log_path[0] == 0) sys_write(STDERR, line.text, line.length);
  else shim_apart(append_line, &line, -1);
}

void shim_log(const char *what, const char *about, long number) {
  if (shim.log_path == NULL || sys_file_size_limited()) return;
  write_line(what, about, number);
}
