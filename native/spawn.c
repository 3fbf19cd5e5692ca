/* Making the transport and starting the command on it. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCKET_ROOM (1 << 20)

extern char **environ;

static int add_stream(struct run *r, int fd, int theirs, enum channel channel, int forward_to) {
  struct stream *s = &r->streams[r->stream_count++];
  char number[16];
  memset(s, 0, sizeof *s);
  s->fd = fd;
  s->channel = channel;
  s->forward = -1;
  s->buffer = malloc(READ_MAX);
  if (s->buffer == NULL) return ENOMEM;
  snprintf(number, sizeof number, "%d", theirs);
  file_name(getpid(), number, s->name, sizeof s->name);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  if (r->o->forward) forward_open(s, forward_to);
  return 0;
}

static int make_pipe(struct run *r, int *theirs, enum channel channel, int forward_to) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return errno;
  *theirs = fds[1];
  return add_stream(r, fds[0], fds[1], channel, forward_to);
}

/* A stream socket on which the kernel names the writer of what we read (SO_PASSCRED). It stays open
 * both ways: if our side were shut for writing, a program that polls its stdout to see whether its
 * reader is gone, as with a pipe, would believe so. In a sandbox that forbids socket options the
 * stream is a pipe, and the shim reports the writes. */
static int make_socket(struct run *r, int *theirs, enum channel channel, int forward_to) {
  int fds[2], on = 1, room = SOCKET_ROOM;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return forbidden(errno) ? make_pipe(r, theirs, channel, forward_to) : errno;
  if (setsockopt(fds[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    int error = errno;
    close(fds[0]);
    close(fds[1]);
    return forbidden(error) ? make_pipe(r, theirs, channel, forward_to) : error;
  }
  /* A socket counts some 800 bytes for every small write: by default 270 of them fill it. */
  if (setsockopt(fds[1], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room) != 0)
    setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room); /* up to wmem_max */
  *theirs = fds[1];
  int error = add_stream(r, fds[0], fds[1], channel, forward_to);
  r->streams[r->stream_count - 1].stamped = true;
  return error;
}

/* Opens r->master and r->slave. */
static int open_pty(struct run *r) {
  int number, unlock = 0;
  char path[32];
  r->master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (r->master < 0) return errno;
  if (ioctl(r->master, TIOCSPTLCK, &unlock) != 0 || ioctl(r->master, TIOCGPTN, &number) != 0)
    return errno;
  snprintf(path, sizeof path, "/dev/pts/%d", number);
  /* Held by us until everything is read: the last close of the slave ends the master's stream. */
  r->slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  return r->slave < 0 ? errno : 0;
}

static void set_size(struct run *r) {
  struct winsize size = {.ws_row = (unsigned short)r->o->rows,
                         .ws_col = (unsigned short)r->o->cols};
  ioctl(r->master, TIOCSWINSZ, &size);
}

/* If stdout is not a terminal and stderr is (`| less`), programs draw their progress on stderr. So
 * they get a pty there. It is in raw mode and changes no byte: the outer terminal does that. */
static int make_terminal_stderr(struct run *r, struct ends *e) {
  int error = open_pty(r);
  if (error) return error;
  struct termios plain;
  int outer = tty_open_outer();
  if (outer >= 0) tty_save(outer);
  if (outer >= 0) tty_size(outer, &r->o->cols, &r->o->rows);
  if (tcgetattr(r->slave, &plain) == 0) {
    cfmakeraw(&plain);
    tcsetattr(r->slave, TCSANOW, &plain);
  }
  set_size(r);
  e->err = r->slave;
  return add_stream(r, r->master, r->slave, C_ERR, 2);
}

static int make_pty(struct run *r, struct ends *e) {
  struct options *o = r->o;
  int error = open_pty(r);
  if (error) return error;
  bool terminal = o->forward;
  int outer = terminal ? tty_open_outer() : -1;
  if (outer >= 0) {
    tty_save(outer);
    tty_size(outer, &o->cols, &o->rows);
    const struct termios *plain = tty_saved();
    if (plain) tcsetattr(r->slave, TCSANOW, plain);
  }
  set_size(r);
  /* We lead the session and the command a group in it, so that its job control (Ctrl-Z) works:
   * stop signals are ignored in a group whose parent is in another session. */
  if (setsid() < 0 && getsid(0) != getpid()) return errno;
  if (ioctl(r->slave, TIOCSCTTY, 0) != 0) return errno;
  r->input = r->master;
  e->out = r->slave;
  e->in = !terminal || isatty(0) ? r->slave : 0;
  e->err = r->slave;
  error = add_stream(r, r->master, r->slave, C_PTY, 1);
  if (error == 0 && terminal && !isatty(2)) error = make_pipe(r, &e->err, C_ERR, 2);
  return error;
}

static int make_input(struct run *r, struct ends *e) {
  if (r->o->in == IN_INHERIT) {
    e->in = 0;
    return 0;
  }
  if (r->o->in == IN_NULL) {
    e->in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return e->in < 0 ? errno : 0;
  }
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return errno;
  e->in = fds[0];
  r->input = fds[1];
  fcntl(r->input, F_SETFL, O_NONBLOCK);
  return 0;
}

/* If stdout and stderr are one file, as in `2>&1 | less`, only one pipe keeps their order. */
static bool same_target(void) {
  struct stat out, err;
  return fstat(1, &out) == 0 && fstat(2, &err) == 0 && out.st_dev == err.st_dev &&
         out.st_ino == err.st_ino;
}

static int make_transport(struct run *r, struct ends *e) {
  struct options *o = r->o;
  if (o->transport == T_PTY) return make_pty(r, e);
  int error = make_input(r, e);
  if (error) return error;
  bool named = o->transport == T_SOCKET || (o->transport == T_MERGED && trace_on() && o->stamps);
  int (*make)(struct run *, int *, enum channel, int) = named ? make_socket : make_pipe;
  error = make(r, &e->out, C_OUT, 1);
  if (error) return error;
  if (o->transport == T_MERGED || (o->forward && same_target())) {
    e->err = e->out;
    return 0;
  }
  if (o->forward && isatty(2)) return make_terminal_stderr(r, e);
  return make(r, &e->err, C_ERR, 2);
}

static bool own_session(const struct run *r) {
  if (r->o->transport == T_PTY || r->o->session == S_OWN) return true;
  if (r->o->session == S_GROUP) return false;
  /* Ctrl-C, Ctrl-Z and /dev/tty work only in the session of the terminal and in the starter's
   * group, so the command stays there, if there is a terminal. */
  int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal >= 0) close(terminal);
  return terminal < 0;
}

/* The server could not write meta.json, or has ended: no command starts without it. The directory
 * stays if it has a meta.json after all. */
static void withdraw(struct run *r) {
  int dir = open(r->o->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (trace_on()) unlinkat(dir, "trace.bin", 0);
  if (r->orders >= 0) unlinkat(dir, "control", 0);
  rmdir(r->o->dir);
  _exit(0);
}

/* 0, or an errno with the stage that failed: "transport", "cwd" or "exec". With r->starting set it
 * is not known yet. */
int spawn(struct run *r, const char **stage) {
  struct ends e = {-1, -1, -1};
  *stage = "transport";
  trace_begin(r);
  int made = make_transport(r, &e);
  if (made == 0) trace_ready(r, &e);
  if (r->o->held && !serve_permits()) withdraw(r);
  if (made) return made;
  char **variables = trace_on() ? traced_environment() : NULL;
  *stage = "gate"; /* without these variables no program would ask it */
  if (r->o->gate_strict && variables == NULL) return EACCES;
  r->own_group = own_session(r);
  bool led = r->o->transport == T_PTY || r->o->serve; /* the pty or the server has done so */
  if (r->own_group && !led) setsid();
  r->began = r->capture.zero_ms = now_ms();
  return launch(r, &e, variables == NULL ? environ : variables, stage);
}
