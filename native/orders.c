/* Words between the runner and others. Orders come as lines, from the FIFO in the capture (anyone
 * of the same user) and from fd 3 (the starter):
 *   kill [SIGNAL [GRACE_MS [CAUSE]]]   end the run: SIGNAL (TERM), grace, KILL, every descendant
 *   signal SIGNAL                      pass one signal on to the command, as if sent to it
 *   signal-all SIGNAL                  to every process of the run
 *   resize [COLS ROWS]                 stdin HEX   stdin-end   cont   detach
 *   seize PID ADDRESS COOKIE           meet PID ADDRESS COOKIE   release PID
 *                                      follow.c; from processes of the run
 *   frame HEX                          trace.c; from those that cannot write to trace.bin
 * Messages go to fd 3, one line each, the run's id first:
 *   starting | started PID START | uncaptured ERRNO | tty HEX | stopped
 *   failed STAGE ERRNO TEXT
 *   exited CODE BYTES SURVIVORS CAUSE LOST MS | ended
 *   signaled SIGNAL BYTES SURVIVORS CAUSE LOST MS */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The FIFO `control`; -1 without one. `fresh`: it must not exist yet. */
static int make_fifo(int dir, const char *path, bool fresh) {
  if (mkfifoat(dir, path, 0600) != 0 && (fresh || errno != EEXIST)) return -1;
  struct stat st;
  /* Read and write, so that it never ends; when we are gone, opening it for writing fails. */
  int fd = openat(dir, path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode))) {
    close(fd);
    fd = -1;
  }
  return fd;
}

void orders_open(struct run *r) {
  if (r->capture.on && r->orders < 0) r->orders = make_fifo(r->capture.dir, "control", false);
}

/* The processes of a traced run may send orders as soon as it starts, so its FIFO is made before.
 * A thread makes it while the main thread makes trace.bin: on a slow disk every call takes long,
 * and the command waits for the longer of the two series instead of both. */
static pthread_t beside;
static bool is_beside;

static void *make_beside(void *argument) {
  struct run *r = argument;
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/control", r->o->dir);
  if (length < (int)sizeof path) r->orders = make_fifo(AT_FDCWD, path, true);
  return NULL;
}

void orders_begin(struct run *r) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  is_beside = pthread_create(&beside, &attributes, make_beside, r) == 0;
  pthread_attr_destroy(&attributes);
  if (!is_beside) make_beside(r);
}

/* Whether the FIFO that orders_begin began to make is there. */
bool orders_begun(struct run *r) {
  if (is_beside) pthread_join(beside, NULL);
  is_beside = false;
  return r->orders >= 0;
}

void say_pending(struct run *r) {
  while (r->control >= 0 && r->pending_length > 0) {
    ssize_t n = send_quietly(r->control, r->pending, r->pending_length, false);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) { /* the starter is gone: the run goes on */
      r->pending_length = 0;
      return;
    }
    memmove(r->pending, r->pending + n, r->pending_length - (size_t)n);
    r->pending_length -= (size_t)n;
  }
}

void say_held(struct run *r) {
  r->hold_until = 0;
  r->hold = false;
  say_pending(r);
}

/* The starter waits for the last message. If its socket is full because it is busy, we wait until
 * it takes the message or is gone. */
void say_last(struct run *r) {
  while (r->control >= 0 && r->pending_length > 0) {
    struct pollfd p = {.fd = r->control, .events = POLLOUT};
    if (poll(&p, 1, -1) > 0 && !(p.revents & POLLOUT)) return;
    say_pending(r);
  }
}

#define ENDING_ROOM 4096 /* for the two lines about the end of a run */

static bool ends_it(const char *format) {
  static const char *const ENDS[] = {"exited ", "signaled ", "failed ", "ended"};
  for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++)
    if (strncmp(format, ENDS[i], strlen(ENDS[i])) == 0) return true;
  return false;
}

/* Lines stay whole although many runners share one socket: each is sent in one piece. */
void say(struct run *r, const char *format, ...) {
  if (r->control < 0) return;
  char line[2048];
  int head = snprintf(line, sizeof line, "%s ", r->o->id);
  va_list list;
  va_start(list, format);
  int rest = vsnprintf(line + head, sizeof line - (size_t)head - 1, format, list);
  va_end(list);
  if (head < 0 || rest < 0) return;
  size_t length = (size_t)head + (size_t)rest;
  if (length > sizeof line - 2) length = sizeof line - 2;
  one_line(line, length);
  line[length++] = '\n';
  /* The end of the run is always reported: all other messages leave room for it. */
  size_t room = ends_it(format) ? sizeof r->pending : sizeof r->pending - ENDING_ROOM;
  if (r->pending_length + length > room) return;
  memcpy(r->pending + r->pending_length, line, length);
  r->pending_length += length;
  if (!r->hold) say_pending(r);
}

/* Passes a signal on to the command alone, as if it had been sent to the bare command. When a
 * terminal hangs up, the kernel signals its foreground group. The command's group is in another
 * session, so here it gets the signal as a group, too. */
void deliver(struct run *r, int signal, const char *from) {
  if (r->exited) r->hurry = true; /* the command is over: the sender wants the run to end */
  bool ends = signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
  if (r->starting && ends) kill_begin(r, SIGKILL, 0, BY_KILL);
  if (r->pid <= 0 || r->exited) return;
  bool all = signal == SIGHUP && r->o->transport == T_PTY && tty_gone();
  kill(all ? -r->pid : r->pid, signal);
  record_event(r, "signal", "\"signal\":\"%s\",\"from\":\"%s\"", signal_name(signal), from);
}

static void order_kill(struct run *r, char *rest) {
  char name[32] = "TERM", grace[32] = "", cause[32] = "";
  sscanf(rest, "%31s %31s %31s", name, grace, cause);
  long long ms = r->o->grace_ms;
  int signal = signal_number(name);
  if (*grace) parse_number(grace, 0, 3600000, &ms);
  enum cause why = strcmp(cause, "timeout") == 0     ? BY_TIMEOUT
                   : strcmp(cause, "shutdown") == 0  ? BY_SHUTDOWN
                   : strcmp(cause, "cancelled") == 0 ? BY_CANCELLED
                                                     : BY_KILL;
  kill_begin(r, signal > 0 ? signal : SIGTERM, (long)ms, why);
}

static void order_signal(struct run *r, const char *name, bool starter) {
  int signal = signal_number(name);
  if (signal <= 0 || signal > 64) return;
  /* A Ctrl-C reached the command straight from the terminal; the starter saw the same one. */
  int64_t at = r->group_signal_at[signal]; /* 0: never, also in the first second of a machine */
  if (starter && at > 0 && now_ms() - at < 1000) return;
  deliver(r, signal, starter ? "starter" : "order");
}

static bool is_among(const struct process *p, const struct process *list, int count) {
  for (int i = 0; i < count; i++)
    if (list[i].pid == p->pid && list[i].start == p->start) return true;
  return false;
}

/* Once to each process. KILL and STOP cannot be caught, so they also go to processes that were
 * forked meanwhile, until there is no new one. Processes that a handler starts are spared. */
static void order_signal_all(struct run *r, const char *name) {
  static struct process list[PROCESSES_MAX], told[PROCESSES_MAX];
  int signal = signal_number(name), told_count = 0;
  if (signal <= 0 || signal > 64) return;
  bool final = signal == SIGKILL || signal == SIGSTOP;
  for (bool more = true; more && told_count < PROCESSES_MAX;) {
    int count = descendants(getpid(), list, PROCESSES_MAX);
    more = false;
    for (int i = 0; i < count && told_count < PROCESSES_MAX; i++) {
      if (is_among(&list[i], told, told_count)) continue;
      signal_process(&list[i], signal);
      told[told_count++] = list[i];
      more = final;
    }
  }
  record_event(r, "signal", "\"signal\":\"%s\",\"from\":\"order\"", signal_name(signal));
}

/* Keeps input until the command reads it; false if there is too much. */
bool typed_add(struct run *r, const unsigned char *data, size_t length) {
  if (r->typed_sent == r->typed_filled) r->typed_sent = r->typed_filled = 0;
  /* Makes room from the part that the command has read: it may never read all of it. */
  bool behind = r->typed_sent > 0 && r->typed_sent >= r->typed_filled / 2;
  if (behind && r->typed_filled + length > r->typed_size) {
    r->typed_filled -= r->typed_sent;
    memmove(r->typed, r->typed + r->typed_sent, r->typed_filled);
    r->typed_sent = 0;
  }
  size_t needed = r->typed_filled + length;
  if (needed > r->typed_size) {
    bool full = needed - r->typed_sent > TYPED_MAX;
    unsigned char *larger = full ? NULL : realloc(r->typed, needed * 2);
    if (larger == NULL) return false;
    r->typed = larger;
    r->typed_size = needed * 2;
  }
  memcpy(r->typed + r->typed_filled, data, length);
  r->typed_filled += length;
  return true;
}

static void order_stdin(struct run *r, const char *hex) {
  unsigned char data[4096];
  size_t length = 0;
  unsigned value;
  for (; length < sizeof data && hex[0] && hex[1] && sscanf(hex, "%2x", &value) == 1; hex += 2)
    data[length++] = (unsigned char)value;
  if (!typed_add(r, data, length))
    record_event(r, "gap", "\"lost_bytes\":%zu,\"reason\":\"stdin\"", length);
}

/* A terminal has no end; the key for it (Ctrl-D) ends what reads lines from it. */
static void order_stdin_end(struct run *r) {
  const unsigned char end = 4;
  r->typed_end = true;
  if (r->o->transport == T_PTY) typed_add(r, &end, 1);
}

static void order_detach(struct run *r) {
  tty_restore();
  r->keyboard = -1;
  for (int i = 0; i < r->stream_count; i++) {
    struct stream *s = &r->streams[i];
    if (s->forward >= 0) close(s->forward);
    s->forward = -1;
    s->sent = s->filled;
  }
}

static void order(struct run *r, char *line, bool starter) {
  int cols, rows;
  char *rest = strchr(line, ' ');
  rest = rest ? rest + 1 : line + strlen(line);
  if (strncmp(line, "kill", 4) == 0 && (line[4] == 0 || line[4] == ' ')) order_kill(r, rest);
  else if (strncmp(line, "signal ", 7) == 0) order_signal(r, rest, starter);
  else if (strncmp(line, "signal-all ", 11) == 0) order_signal_all(r, rest);
  else if (sscanf(line, "resize %d %d", &cols, &rows) == 2) tty_resize(r, cols, rows);
  else if (strcmp(line, "resize") == 0) tty_resize(r, 0, 0);
  else if (strncmp(line, "stdin ", 6) == 0) order_stdin(r, rest);
  else if (strcmp(line, "stdin-end") == 0) order_stdin_end(r);
  else if (strcmp(line, "detach") == 0) order_detach(r);
  else if (strncmp(line, "seize ", 6) == 0) follow_order(rest);
  else if (strncmp(line, "release ", 8) == 0) follow_release(rest);
  else if (strncmp(line, "meet ", 5) == 0) follow_meet(rest);
  else if (strncmp(line, "frame ", 6) == 0) trace_relay(rest);
  else if (strcmp(line, "cont") == 0 && r->pid > 0) {
    tty_raw(r);
    if (r->stopped) kill(r->own_group ? -r->pid : r->pid, SIGCONT);
    r->stopped = false;
  }
}

/* Reads what is there and carries out every complete line. At end of file the starter is gone. */
void orders_read(struct run *r, int fd, char *buffer, size_t *length) {
  ssize_t n = read(fd, buffer + *length, 8191 - *length);
  if (n == 0 && fd == r->control) r->control = -1;
  if (n <= 0) return;
  *length += (size_t)n;
  char *start = buffer, *end;
  while ((end = memchr(start, '\n', *length - (size_t)(start - buffer))) != NULL) {
    *end = 0;
    order(r, start, fd == r->control);
    start = end + 1;
  }
  *length -= (size_t)(start - buffer);
  memmove(buffer, start, *length);
  if (*length >= 8191) *length = 0; /* no order is that long */
}
