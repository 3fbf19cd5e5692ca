/* Strings without allocation, time, JSON escaping, names of signals and errors. */
#include "runner.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_ms(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t now_ms(void) { return clock_ms(CLOCK_MONOTONIC); }

int64_t wall_ms(void) { return clock_ms(CLOCK_REALTIME); }

void text_init(struct text *t, char *data, size_t size) {
  t->data = data;
  t->size = size;
  t->length = 0;
  t->cut = false;
  data[0] = 0;
}

void text_add(struct text *t, const char *format, ...) {
  va_list list;
  va_start(list, format);
  size_t room = t->size - t->length;
  int wanted = vsnprintf(t->data + t->length, room, format, list);
  va_end(list);
  if (wanted < 0 || (size_t)wanted >= room) {
    t->data[t->length] = 0;
    t->cut = true;
    return;
  }
  t->length += (size_t)wanted;
}

/* How many bytes the UTF-8 character at p takes, 0 when the bytes are not UTF-8. */
static size_t utf8_length(const unsigned char *p, size_t left) {
  size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
             : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
  if (n == 0 || n > left) return 0;
  for (size_t i = 1; i < n; i++)
    if ((p[i] & 0xc0) != 0x80) return 0;
  if (n == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))) return 0;
  if (n == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))) return 0;
  return n;
}

/* Adds a quoted JSON string. A byte that is not UTF-8 becomes U+FFFD, so that one odd argument
 * cannot make a whole file unreadable. */
void text_json(struct text *t, const char *bytes, size_t length) {
  const unsigned char *p = (const unsigned char *)bytes;
  text_add(t, "\"");
  for (size_t i = 0; i < length && !t->cut;) {
    size_t n = utf8_length(p + i, length - i);
    if (n == 0) {
      text_add(t, "\\ufffd");
      i++;
    } else {
      if (n > 1) text_add(t, "%.*s", (int)n, bytes + i);
      else if (p[i] == '"' || p[i] == '\\') text_add(t, "\\%c", p[i]);
      else if (p[i] < 0x20 || p[i] == 0x7f) text_add(t, "\\u%04x", p[i]);
      else text_add(t, "%c", p[i]);
      i += n;
    }
  }
  text_add(t, "\"");
}

void text_time(struct text *t, int64_t ms) {
  /* Thousands of index records share a second: keep its text. */
  static int64_t kept_second = -1;
  static char kept[32];
  int64_t second = ms / 1000;
  if (second != kept_second) {
    time_t at = (time_t)second;
    struct tm parts;
    gmtime_r(&at, &parts);
    strftime(kept, sizeof kept, "%Y-%m-%dT%H:%M:%S", &parts);
    kept_second = second;
  }
  text_add(t, "\"%s.%03dZ\"", kept, (int)(ms % 1000));
}

static const struct { int number; const char *name; } SIGNALS[] = {
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},   {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},     {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"},   {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},   {SIGCHLD, "SIGCHLD"},
    {SIGCONT, "SIGCONT"}, {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"},   {SIGTTIN, "SIGTTIN"},
    {SIGTTOU, "SIGTTOU"}, {SIGURG, "SIGURG"},   {SIGXCPU, "SIGXCPU"},   {SIGXFSZ, "SIGXFSZ"},
    {SIGPROF, "SIGPROF"}, {SIGIO, "SIGIO"},     {SIGVTALRM, "SIGVTALRM"},
    {SIGWINCH, "SIGWINCH"}, {SIGSYS, "SIGSYS"}, {SIGABRT, "SIGIOT"},  {SIGIO, "SIGPOLL"},
#ifdef SIGSTKFLT
    {SIGSTKFLT, "SIGSTKFLT"},
#endif
#ifdef SIGPWR
    {SIGPWR, "SIGPWR"},
#endif
};

const char *signal_name(int signal) {
  static char other[16];
  for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
    if (SIGNALS[i].number == signal) return SIGNALS[i].name;
#ifdef SIGRTMIN
  if (signal >= SIGRTMIN && signal <= SIGRTMAX)
    snprintf(other, sizeof other, "SIGRTMIN+%d", signal - SIGRTMIN);
  else
#endif
    snprintf(other, sizeof other, "SIG%d", signal);
  return other;
}

int signal_number(const char *name) {
  long long number;
  if (parse_number(name, 1, 64, &number)) return (int)number;
  if (strncmp(name, "SIG", 3) == 0) name += 3;
  for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
    if (strcmp(SIGNALS[i].name + 3, name) == 0) return SIGNALS[i].number;
  return 0;
}

const char *errno_name(int error) {
  static const struct { int number; const char *name; } NAMES[] = {
      {EPERM, "EPERM"},     {ENOENT, "ENOENT"},   {EIO, "EIO"},         {E2BIG, "E2BIG"},
      {ENOEXEC, "ENOEXEC"}, {EAGAIN, "EAGAIN"},   {ENOMEM, "ENOMEM"},   {EACCES, "EACCES"},
      {EBUSY, "EBUSY"},     {EEXIST, "EEXIST"},   {ENOTDIR, "ENOTDIR"}, {EISDIR, "EISDIR"},
      {EINVAL, "EINVAL"},   {ENFILE, "ENFILE"},   {EMFILE, "EMFILE"},   {ETXTBSY, "ETXTBSY"},
      {EFBIG, "EFBIG"},     {ENOSPC, "ENOSPC"},   {EROFS, "EROFS"},     {EPIPE, "EPIPE"},
      {ELOOP, "ELOOP"},     {ENAMETOOLONG, "ENAMETOOLONG"}, {EDQUOT, "EDQUOT"},
      {ENOTTY, "ENOTTY"},   {EBADF, "EBADF"},     {ESTALE, "ESTALE"},   {ENXIO, "ENXIO"},
      {ETIMEDOUT, "ETIMEDOUT"},
  };
  static char other[16];
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (NAMES[i].number == error) return NAMES[i].name;
  snprintf(other, sizeof other, "E%d", error);
  return other;
}

/* A name with a newline in it must not look like a message of its own. */
void one_line(char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] < 0x20) text[i] = '?';
}

bool write_all(int fd, const void *data, size_t length) {
  const char *p = data;
  while (length > 0) {
    ssize_t n = write(fd, p, length);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    length -= (size_t)n;
  }
  return true;
}

bool parse_number(const char *text, long long low, long long high, long long *out) {
  char *end;
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno != 0 || *end != 0 || value < low || value > high) return false;
  *out = value;
  return true;
}
