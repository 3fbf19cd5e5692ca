/* The bytes of one stream: read from the command, and passed on to the starter's own stdout or
 * stderr, without ever blocking the loop and without setting O_NONBLOCK on a file description that
 * others share. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CRUMB_MAX 16384

/* One recvmsg, so that the bytes are those of one writer. */
static ssize_t read_socket(int fd, unsigned char *to, size_t room, pid_t *writer) {
  union {
    char data[CMSG_SPACE(sizeof(struct ucred))];
    struct cmsghdr align;
  } control;
  struct iovec piece = {.iov_base = to, .iov_len = room};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.data,
                           .msg_controllen = sizeof control.data};
  ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0 && forbidden(errno)) return read(fd, to, room);
  if (n <= 0) return n;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c != NULL; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS) continue;
    struct ucred credentials;
    memcpy(&credentials, CMSG_DATA(c), sizeof credentials);
    *writer = credentials.pid;
  }
  return n;
}

/* Several writers may take turns, a few bytes each. Their turns are read together, so that they
 * are one write to the disk. */
static ssize_t read_stamped(struct stream *s) {
  pid_t last = s->share_count > 0 ? s->shares[s->share_count - 1].writer : 0;
  size_t length = 0;
  int count = 0;
  bool alone = false;
  while (!alone && count < SHARES_MAX && length < READ_MAX) {
    pid_t writer = 0;
    ssize_t n = read_socket(s->fd, s->buffer + length, READ_MAX - length, &writer);
    if (n <= 0 && count == 0) return n;
    if (n <= 0) break; /* an end or an error shows itself again at the next read */
    s->shares[count++] = (struct share){writer, (size_t)n};
    length += (size_t)n;
    alone = writer == last;
    last = writer;
  }
  s->share_count = count;
  return (ssize_t)length;
}

/* A terminal gives at most 4 KiB at a time: take what there is before writing it out. */
static ssize_t read_plain(struct stream *s, bool terminal) {
  ssize_t n = read(s->fd, s->buffer, READ_MAX);
  while (terminal && n > 0 && n < READ_MAX) {
    ssize_t more = read(s->fd, s->buffer + n, (size_t)(READ_MAX - n));
    if (more <= 0) break; /* an end or an error shows itself again at the next read */
    n += more;
  }
  s->shares[0] = (struct share){0, n > 0 ? (size_t)n : 0};
  s->share_count = 1;
  return n;
}

/* Reads what there is, and its writers if the stream is stamped. 0 at the end, -1 with errno. */
ssize_t stream_read(struct stream *s, bool terminal) {
  ssize_t n = s->stamped ? read_stamped(s) : read_plain(s, terminal);
  if (n <= 0) return n;
  int64_t now = now_ms();
  s->crumbs = n < CRUMB_MAX && now - s->read_at <= 1 ? s->crumbs + 1 : 0;
  s->read_at = now;
  s->due -= s->due < (size_t)n ? s->due : (size_t)n;
  s->sent = 0;
  s->filled = (size_t)n;
  return n;
}

void forward_open(struct stream *s, int fd) {
  struct stat st;
  s->forward = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  s->forward_kind = F_SHARED;
  if (s->forward < 0 || fstat(fd, &st) != 0) return;
  if (S_ISSOCK(st.st_mode)) s->forward_kind = F_SOCKET;
  if (S_ISREG(st.st_mode)) s->forward_kind = F_FILE; /* its description carries the offset */
  if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode)) return;
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (own < 0) return; /* another user's terminal, as after `su`: share, carefully */
  close(s->forward);
  s->forward = own;
  s->forward_kind = F_OWN;
}

static ssize_t put(struct stream *s) {
  const unsigned char *from = s->buffer + s->sent;
  size_t length = s->filled - s->sent;
  if (s->forward_kind == F_SOCKET) return send_quietly(s->forward, from, length, false);
  if (s->forward_kind == F_SHARED) return write_careful(s->forward, from, length);
  return write(s->forward, from, length);
}

/* Called before a socket is closed early: if there were bytes in it, the next write of the command
 * would fail with ECONNRESET and raise no SIGPIPE. */
void stream_empty(struct stream *s) {
  char waste[4096];
  if (s->fd < 0 || !s->stamped) return;
  shutdown(s->fd, SHUT_RD);
  while (read(s->fd, waste, sizeof waste) > 0) continue; /* it does not block (add_stream) */
}

void stream_close(struct stream *s) {
  if (s->fd >= 0) close(s->fd);
  s->fd = -1;
  if (s->sent == s->filled && s->forward >= 0) {
    close(s->forward);
    s->forward = -1;
  }
}

/* Sends what it can; false if the reader is gone. Then our side of the command's stream must be
 * closed as well, so that the command's next write fails as it would have without us. A terminal
 * that hangs up does not end the pty: the command gets SIGHUP, which it may ignore. */
bool forward_some(struct stream *s) {
  while (s->forward >= 0 && s->sent < s->filled) {
    ssize_t n = put(s);
    if (n > 0) {
      s->sent += (size_t)n;
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && errno == EAGAIN) {
      return true;
    } else {
      bool hung_up = s->channel == C_PTY && errno != EPIPE;
      s->sent = s->filled;
      close(s->forward);
      s->forward = -1;
      return hung_up;
    }
  }
  if (s->forward < 0) s->sent = s->filled;
  if (s->fd < 0 && s->forward >= 0) stream_close(s);
  return true;
}
