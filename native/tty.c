/* The outer terminal: raw while the command has it, exactly as it was before at every way out. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct termios saved;
static int outer = -1;
static volatile sig_atomic_t is_raw;

/* The terminal itself, not a stream: stdin may be a file while stdout is the terminal. */
int tty_open_outer(void) {
  int fd = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  for (int i = 0; i < 3 && fd < 0; i++)
    if (isatty(i)) fd = fcntl(i, F_DUPFD_CLOEXEC, 3);
  return fd;
}

void tty_restore(void) {
  if (!is_raw) return;
  /* TCSADRAIN would wait for a stopped terminal (Ctrl-S) for ever. SIGTTOU is ignored. */
  tcsetattr(outer, TCSANOW, &saved);
  is_raw = 0;
}

/* Closes the terminal: a program that waits for its last user must not wait for us. */
void tty_leave(struct run *r) {
  tty_restore();
  r->keyboard = -1;
  if (outer >= 0) close(outer);
  outer = -1;
}

static void fatal(int signal) {
  tty_restore();
  kill(getpid(), signal); /* SA_RESETHAND: the default action now */
}

void tty_save(int fd) {
  outer = fd;
  if (tcgetattr(fd, &saved) != 0) outer = -1;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = fatal;
  action.sa_flags = (int)SA_RESETHAND | SA_NODEFER;
  const int FATAL[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
  for (size_t i = 0; i < sizeof FATAL / sizeof *FATAL; i++) sigaction(FATAL[i], &action, NULL);
}

/* Whether the starter's process group owns the terminal: a background job must not touch it. */
static bool in_foreground(pid_t starter) {
  char path[64], data[512];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)starter);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, data, sizeof data - 1);
  if (fd >= 0) close(fd);
  if (n <= 0) return false;
  data[n] = 0;
  char *p = strrchr(data, ')');
  int group = 0, front = 0;
  return p != NULL && sscanf(p + 2, "%*c %*d %d %*d %*d %d", &group, &front) == 2 &&
         group == front;
}

/* NULL for a background job: the settings it sees are those of its shell's line editor. */
const struct termios *tty_saved(void) {
  return outer >= 0 && in_foreground(getppid()) ? &saved : NULL;
}

/* Tells the starter how the terminal was before, so that it can restore it should we be killed. */
static void tell_starter(struct run *r) {
  char hex[2 * sizeof saved + 1];
  const unsigned char *bytes = (const unsigned char *)&saved;
  for (size_t i = 0; i < sizeof saved; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
  say(r, "tty %s", hex);
}

void tty_raw(struct run *r) {
  if (r->o->transport != T_PTY || is_raw || outer < 0 || r->answered || !in_foreground(getppid()))
    return;
  /* As it is now: it may have been changed while the command was stopped. */
  if (tcgetattr(outer, &saved) != 0) return;
  tell_starter(r);
  struct termios raw = saved;
  cfmakeraw(&raw);
  if (tcsetattr(outer, TCSANOW, &raw) != 0) return;
  is_raw = 1;
  r->keyboard = outer;
}

/* A shell that took the terminal from a stopped starter has set it up for itself: its keys are not
 * ours to read, nor are its settings to change. */
bool tty_ours(struct run *r) {
  if (in_foreground(getppid())) return true;
  is_raw = 0;
  r->keyboard = -1;
  return false;
}

/* In the background: a shell does not tell a running job that it was brought to the front. */
bool tty_waits(const struct run *r) {
  return r->o->transport == T_PTY && outer >= 0 && !is_raw && !r->stopped && !r->exited;
}

bool tty_gone(void) {
  struct pollfd p = {.fd = outer};
  return outer >= 0 && poll(&p, 1, 0) == 1 && (p.revents & POLLHUP);
}

bool tty_size(int fd, int *cols, int *rows) {
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return false;
  *cols = size.ws_col;
  *rows = size.ws_row;
  return true;
}

/* The size that the command's terminal begins with: a player of the run needs it. */
void tty_recorded(struct run *r) {
  const struct options *o = r->o;
  if (o->transport != T_PTY) return;
  record_event(r, "resize", "\"cols\":%d,\"rows\":%d", o->cols, o->rows);
}

/* Cols 0: the size the outer terminal has now. */
void tty_resize(struct run *r, int cols, int rows) {
  if (cols == 0 && (outer < 0 || !tty_size(outer, &cols, &rows))) return;
  if (cols < 0 || cols > 65535 || rows < 0 || rows > 65535) return;
  struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
  if (r->master < 0 || ioctl(r->master, TIOCSWINSZ, &size) != 0) return;
  record_event(r, "resize", "\"cols\":%d,\"rows\":%d", cols, rows);
}

/* Undoes what a full-screen program may have left: another screen, no cursor, mouse and focus
 * reports, bracketed paste, colours, keypad keys. 1047 and not 1049, which would also move the
 * cursor of a terminal that never left its own screen. */
#define PLAIN_SCREEN                                                                          \
  "\033[?1047l\033[?25h\033[?9l\033[?1000l\033[?1002l\033[?1003l\033[?1004l\033[?1005l"     \
  "\033[?1006l\033[?1015l\033[?2004l\033[?1l\033>\033[0m"

/* `runner tty-restore HEX`: what the starter calls when the runner was killed. */
int tty_restore_main(const char *hex) {
  struct termios old;
  unsigned char *bytes = (unsigned char *)&old;
  if (strlen(hex) != 2 * sizeof old) return 2;
  for (size_t i = 0; i < sizeof old; i++) {
    unsigned value;
    if (sscanf(hex + 2 * i, "%2x", &value) != 1) return 2;
    bytes[i] = (unsigned char)value;
  }
  int fd = tty_open_outer();
  signal(SIGTTOU, SIG_IGN);
  if (fd < 0 || tcsetattr(fd, TCSANOW, &old) != 0) return 1;
  return write_all(fd, PLAIN_SCREEN, sizeof PLAIN_SCREEN - 1) ? 0 : 1;
}
