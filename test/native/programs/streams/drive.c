/* Stands in for the runner in tests of the shim: makes the transport, writes the header of
 * trace.bin, starts a command on it and keeps what it wrote.
 *
 *   drive MODE TRACE OUT ERR SHIM COMMAND...
 *
 * MODE: pipe, merged, pty, ptyerr (stderr is a pipe beside the terminal), socket, mergedsocket,
 * pipesocket (sockets, but told by the shim as on a system whose kernel does not say who wrote).
 * SHIM: what to preload, or `-`. Ends as the command did. */
#define _GNU_SOURCE
#include "../../../../native/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static char data[1 << 20];

struct stream {
  int ours, theirs, file;
};

static void fail(const char *what) {
  fprintf(stderr, "drive: %s: %s\n", what, strerror(errno));
  exit(99);
}

static void make_pipe(struct stream *s) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) fail("pipe");
  s->ours = fds[0], s->theirs = fds[1];
}

static void make_socket(struct stream *s) {
  int fds[2], on = 1;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) fail("socketpair");
  setsockopt(fds[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  s->ours = fds[0], s->theirs = fds[1];
}

/* Changes no byte, so that what is read can be compared with what was written. */
static void make_pty(struct stream *s) {
  struct termios raw;
  char path[64];
  int number, unlock = 0;
  s->ours = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (s->ours < 0 || ioctl(s->ours, TIOCSPTLCK, &unlock) || ioctl(s->ours, TIOCGPTN, &number))
    fail("ptmx");
  snprintf(path, sizeof path, "/dev/pts/%d", number);
  s->theirs = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (s->theirs < 0 || tcgetattr(s->theirs, &raw) != 0) fail(path);
  cfmakeraw(&raw);
  tcsetattr(s->theirs, TCSANOW, &raw);
}

static void make_transport(const char *mode, struct stream *out, struct stream *err) {
  int socket = strstr(mode, "socket") != NULL;
  if (strncmp(mode, "pty", 3) == 0) make_pty(out);
  else if (socket) make_socket(out);
  else make_pipe(out);
  if (strcmp(mode, "pty") == 0 || strncmp(mode, "merged", 6) == 0) *err = *out;
  else if (socket) make_socket(err);
  else make_pipe(err);
}

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void write_header(const char *path, const char *mode, int out, int err) {
  static struct trace_header h;
  struct stat st;
  memcpy(h.magic, TRACE_MAGIC, sizeof h.magic);
  h.version = TRACE_VERSION, h.header_bytes = TRACE_HEADER_BYTES;
  h.wall_ns = clock_ns(CLOCK_REALTIME), h.mono_ns = clock_ns(CLOCK_MONOTONIC);
  h.mode = strncmp(mode, "pty", 3) == 0    ? MODE_PTY
           : strncmp(mode, "pipe", 4) == 0 ? MODE_PIPE
           : strstr(mode, "socket")        ? MODE_SOCKET
                                           : MODE_PIPE;
  h.runner_pid = (uint32_t)getpid();
  h.file_max = TRACE_FILE_MAX, h.argv_max = TRACE_ARGV_MAX, h.args_max = TRACE_ARGS_MAX;
  fstat(out, &st), h.out_device = st.st_dev, h.out_inode = st.st_ino;
  fstat(err, &st), h.err_device = st.st_dev, h.err_inode = st.st_ino;
  if (stat("/proc/self/ns/pid", &st) == 0) h.pid_namespace = (uint32_t)st.st_ino;
  strcpy(h.id, "drive");
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, &h, sizeof h) != sizeof h) fail(path);
  close(fd);
}

static void become(char **argv, const char *mode, struct stream *out, struct stream *err) {
  setsid();
  if (strncmp(mode, "pty", 3) == 0) ioctl(out->theirs, TIOCSCTTY, 0);
  if (dup2(out->theirs, 1) != 1 || dup2(err->theirs, 2) != 2) _exit(98);
  if (strcmp(argv[5], "-") != 0) {
    setenv("LD_PRELOAD", argv[5], 1);
    setenv("CUFF_TRACE", argv[2], 1);
  }
  execvp(argv[6], argv + 6);
  fprintf(stderr, "drive: %s: %s\n", argv[6], strerror(errno));
  _exit(127);
}

/* Gives 0 at the end of the stream; the end of a terminal is EIO. */
static int drain(struct stream *s) {
  ssize_t n = read(s->ours, data, sizeof data);
  if (n < 0 && errno == EINTR) return 1;
  if (n <= 0) return 0;
  if (write(s->file, data, (size_t)n) != n) fail("output");
  return 1;
}

int main(int argc, char **argv) {
  struct stream out, err;
  if (argc < 7) return 99;
  make_transport(argv[1], &out, &err);
  int shared = out.ours == err.ours;
  write_header(argv[2], argv[1], out.theirs, err.theirs);
  pid_t pid = fork();
  if (pid == 0) become(argv, argv[1], &out, &err);
  close(out.theirs);
  if (!shared) close(err.theirs);
  out.file = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  err.file = shared ? -1 : open(argv[4], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  struct pollfd wait[2] = {{out.ours, POLLIN, 0}, {shared ? -1 : err.ours, POLLIN, 0}};
  while (wait[0].fd >= 0 || wait[1].fd >= 0) {
    if (poll(wait, 2, -1) < 0) continue;
    if (wait[0].revents && !drain(&out)) wait[0].fd = -1;
    if (wait[1].revents && !drain(&err)) wait[1].fd = -1;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
