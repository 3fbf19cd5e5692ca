/* Sending without SIGPIPE, and without waiting on a file that others share. A sandbox may forbid
 * the system calls of sockets (seccomp answers EPERM to sendto, in some also to sendmsg). write(2)
 * cannot be forbidden, and every process that sends ignores SIGPIPE, so write takes over. */
#include "runner.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CAREFUL 512 /* what a blocking terminal takes at once after it said it has room */
#define PIECE 8192  /* what a socket takes: a quarter of its room at most is in use then */

/* Whether a sandbox, and not the state of the file, is why a system call failed. */
bool forbidden(int error) { return error == EPERM || error == EACCES || error == ENOSYS; }

/* write(2) does not wait if poll(2) has said that there is room, and if it is given little. */
static ssize_t write_ready(int fd, const void *data, size_t length, size_t most) {
  struct pollfd ready = {.fd = fd, .events = POLLOUT};
  if (poll(&ready, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return write(fd, data, length < most ? length : most);
}

ssize_t write_careful(int fd, const void *data, size_t length) {
  return write_ready(fd, data, length, CAREFUL);
}

/* `wait`: until all is sent. Otherwise -1 with EAGAIN if there is no room. */
ssize_t send_quietly(int fd, const void *data, size_t length, bool wait) {
  struct iovec piece = {.iov_base = (void *)data, .iov_len = length};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
  if (n >= 0 || (errno != ENOTSOCK && !forbidden(errno))) return n;
  return wait ? write(fd, data, length) : write_ready(fd, data, length, PIECE);
}
