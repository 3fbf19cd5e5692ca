/* Every way to write to a descriptor, one per run: `calls NAME`. What goes where is known to the
 * test by name. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char pattern[10 << 20];

static void check(int fine, const char *what) {
  if (fine) return;
  fprintf(stderr, "calls: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void all(int fd, const char *from, size_t n) {
  while (n > 0) {
    ssize_t done = write(fd, from, n);
    check(done > 0, "write");
    from += done, n -= (size_t)done;
  }
}

static int source_file(void) {
  char path[] = "/tmp/cuff-calls-XXXXXX";
  int fd = mkstemp(path);
  check(fd >= 0 && unlink(path) == 0, path);
  all(fd, pattern, 5000);
  lseek(fd, 0, SEEK_SET);
  return fd;
}

/* 0, 1, 127, 128, 129, 255, 256, 257 and 5000 bytes: around every edge of the hash. */
static void vectors(ssize_t (*call)(int, const struct iovec *, int)) {
  const size_t SIZES[] = {1, 127, 128, 129, 255, 256, 257, 5000};
  for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
    size_t n = SIZES[i], a = n / 3, b = n / 2 - a;
    struct iovec v[] = {{pattern, a}, {NULL, 0}, {pattern + a, b}, {pattern + a + b, n - a - b}};
    check(call(1, v, 4) == (ssize_t)n, "vector");
    check(call(2, v, 4) == (ssize_t)n, "vector");
  }
}

static ssize_t by_pwritev2(int fd, const struct iovec *v, int n) {
  return pwritev2(fd, v, n, -1, 0);
}

static ssize_t by_sendmsg(int fd, const struct iovec *v, int n) {
  struct msghdr m = {.msg_iov = (struct iovec *)v, .msg_iovlen = (size_t)n};
  return sendmsg(fd, &m, 0);
}

/* It takes room by the page, and less than all without a word: so the reader is waited for. */
static ssize_t by_vmsplice(int fd, const struct iovec *v, int n) {
  for (int waiting = 1; waiting > 0; sched_yield())
    check(ioctl(fd, FIONREAD, &waiting) == 0, "FIONREAD");
  return vmsplice(fd, v, (size_t)n, 0);
}

static ssize_t by_syscall(int fd, const struct iovec *v, int n) {
  return syscall(SYS_writev, fd, v, n);
}

/* More than fits, and whoever reads is not waited for: write takes what it can. */
static void partial(void) {
  size_t n = 3 << 20;
  struct pollfd wait = {1, POLLOUT, 0};
  const char *from = pattern;
  fcntl(1, F_SETFL, fcntl(1, F_GETFL) | O_NONBLOCK);
  while (n > 0) {
    ssize_t done = write(1, from, n);
    if (done < 0) check(errno == EAGAIN && poll(&wait, 1, -1) == 1, "partial");
    if (done > 0) from += done, n -= (size_t)done;
  }
}

/* The numbers change hands; every letter goes where its case says: o to stdout, e to stderr. */
static void dups(void) {
  int out = dup(1), err = fcntl(2, F_DUPFD_CLOEXEC, 50);
  check(out > 2 && err >= 50, "dup");
  write(out, "o-dup\n", 6);
  write(err, "e-fcntl\n", 8);
  check(dup2(err, 1) == 1 && dup3(out, 2, O_CLOEXEC) == 2, "swap");
  write(1, "e-swapped\n", 10);
  write(2, "o-swapped\n", 10);
  int file = source_file();
  check(dup2(file, 1) == 1, "file");
  write(1, "in a file\n", 10); /* nobody's stream */
  close(1);
  check(open("/dev/null", O_WRONLY) == 1, "null");
  write(1, "nowhere\n", 8);
  check(syscall(SYS_dup3, out, 1, 0) == 1, "raw dup3"); /* seen by no hook */
  write(1, "o-raw\n", 6);
  check(syscall(SYS_close, 2) == 0 && syscall(SYS_dup3, err, 2, 0) == 2, "raw close");
  write(2, "e-raw\n", 6);
}

/* As little as can lie between two writes. */
static long raw_dup3(long from, long to) {
#ifdef __x86_64__
  long result;
  register long flags __asm__("rdx") = 0;
  __asm__ volatile("syscall" : "=a"(result) : "0"(SYS_dup3), "D"(from), "S"(to), "r"(flags)
                   : "rcx", "r11", "memory");
  return result;
#else
  return syscall(SYS_dup3, from, to, 0);
#endif
}

/* In a row, without a pause; now and then the number is another's stream for one letter, and now
 * and then a child that shares our memory writes the letter: o by us, e to stderr, v by a child. */
static void in_a_row(void) {
  int out = dup(1), err = dup(2);
  for (int i = 0; i < 20000; i++) {
    write(1, "o", 1);
    if (i % 16 == 5) {
      check(raw_dup3(err, 1) == 1, "to stderr");
      write(1, "e", 1);
      check(raw_dup3(out, 1) == 1, "and back");
    }
    if (i % 500 == 7 && vfork() == 0) {
      write(1, "v", 1);
      _exit(0);
    }
  }
}

static void failing(void) {
  const char *volatile nowhere = NULL;
  int file = open("/dev/null", O_RDONLY);
  errno = 0;
  check(write(file, "x", 1) == -1 && errno == EBADF, "read-only");
  check(write(-1, "x", 1) == -1 && errno == EBADF, "no descriptor");
  check(write(1, nowhere, 5) == -1 && errno == EFAULT, "no memory");
  errno = 77;
  check(write(1, "errno\n", 6) == 6 && errno == 77, "errno kept");
  check(write(1, "", 0) == 0 && errno == 77, "nothing");
  check(syscall(SYS_write, -1, "x", 1) == -1 && errno == EBADF, "syscall");
  errno = 77;
  check(syscall(SYS_write, 2, "errno\n", 6) == 6 && errno == 77, "errno of syscall");
  long six = syscall(SYS_mmap, NULL, 8192, 3, 0x22, -1, 4096); /* all six arguments matter */
  check(six > 0 && syscall(SYS_munmap, six, 8192) == 0, "six arguments");
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  for (size_t i = 0; i < sizeof pattern; i++)
    pattern[i] = (char)('!' + (i * 2654435761u >> 24) % 90);
  if (!strcmp(name, "write")) {
    for (size_t n = 1; n < 600; n += 37) all(1, pattern, n), all(2, pattern + 1, n);
  } else if (!strcmp(name, "writev")) vectors(writev);
  else if (!strcmp(name, "pwritev2")) vectors(by_pwritev2);
  else if (!strcmp(name, "sendmsg")) vectors(by_sendmsg);
  else if (!strcmp(name, "vmsplice")) vectors(by_vmsplice);
  else if (!strcmp(name, "syscall")) vectors(by_syscall);
  else if (!strcmp(name, "send")) {
    check(send(1, pattern, 300, 0) == 300, "send");
    check(sendto(2, pattern, 200, 0, NULL, 0) == 200, "sendto");
  } else if (!strcmp(name, "sendfile")) {
    check(sendfile(1, source_file(), NULL, 5000) == 5000, "sendfile");
    check(sendfile64(2, source_file(), NULL, 4000) == 4000, "sendfile64");
  } else if (!strcmp(name, "splice")) {
    check(splice(source_file(), NULL, 1, NULL, 5000, 0) == 5000, "splice");
  } else if (!strcmp(name, "tee")) {
    int fds[2];
    check(pipe(fds) == 0 && write(fds[1], pattern, 1000) == 1000, "pipe");
    check(tee(fds[0], 2, 1000, 0) == 1000, "tee");
  } else if (!strcmp(name, "big")) {
    all(1, pattern, sizeof pattern);
    all(2, pattern, sizeof pattern);
  } else if (!strcmp(name, "exit_group")) {
    for (int i = 0; i < 100; i++) all(1, pattern + i, 50);
    syscall(SYS_exit_group, 6);
  } else if (!strcmp(name, "execve")) {
    char *words[] = {"/bin/echo", "end", NULL};
    for (int i = 0; i < 100; i++) all(1, pattern + i, 50);
    check(syscall(SYS_execve, "/nothing/here", words, environ) == -1 && errno == ENOENT, "exec");
    syscall(SYS_execve, words[0], words, environ);
  } else if (!strcmp(name, "partial")) partial();
  else if (!strcmp(name, "dups")) dups();
  else if (!strcmp(name, "in_a_row")) in_a_row();
  else if (!strcmp(name, "failing")) failing();
  else if (!strcmp(name, "killed")) {
    for (int i = 0; i < 1000; i++) all(1, pattern + i, 50);
    kill(getpid(), SIGKILL);
  } else return 2;
  return 0;
}
