/* Opens the standard streams by name in every way the libc has: `names DIRECTORY`. Each way writes
 * a line to where it should go. A way that fails says so with its errno, on stdout. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);

static void used(const char *way, int fd, int close_on_exec) {
  char text[128];
  int n = fd < 0 ? snprintf(text, sizeof text, "%s failed: %s\n", way, strerror(errno))
                 : snprintf(text, sizeof text, "%s%s\n", way, errno == 88 ? "" : " changed errno");
  int flags = fd < 0 ? 0 : fcntl(fd, F_GETFD);
  if (write(fd < 0 ? 1 : fd, text, (size_t)n) != n) exit(90);
  if (fd >= 0 && (flags & FD_CLOEXEC) != close_on_exec) exit(91);
  if (fd >= 0) close(fd);
  errno = 88;
}

static void used_file(const char *way, FILE *file) {
  char text[128];
  int n = file ? fprintf(file, "%s\n", way) : -1;
  if (file && n > 0 && fclose(file) == 0) return;
  n = snprintf(text, sizeof text, "%s failed: %s\n", way, strerror(errno));
  if (write(1, text, (size_t)n) != n) exit(90);
}

static void with_links(const char *directory) {
  char first[512], second[512], own[64];
  snprintf(first, sizeof first, "%s/first", directory);
  snprintf(second, sizeof second, "%s/second", directory);
  snprintf(own, sizeof own, "/proc/%d/fd/2", (int)getpid());
  if (symlink("/dev/stderr", first) != 0 || symlink("first", second) != 0) exit(92);
  errno = 88;
  used("a link to a link", open(second, O_WRONLY), 0);
  used("own pid", open(own, O_WRONLY | O_APPEND), 0);
  int proc = open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
  errno = 88;
  used("relative", openat(proc, "2", O_WRONLY), 0);
  close(proc);
}

static void refused(const char *directory) {
  char fifo[512];
  snprintf(fifo, sizeof fifo, "%s/fifo", directory);
  if (mkfifo(fifo, 0600) != 0) exit(93);
  /* ENXIO of another kind stays what it is. */
  if (open(fifo, O_WRONLY | O_NONBLOCK) != -1 || errno != ENXIO) exit(94);
  if (open("/dev/stdout", O_WRONLY | O_CREAT | O_EXCL, 0600) != -1 || errno != EEXIST) exit(95);
  if (open("/dev/stdout", O_WRONLY | O_NOFOLLOW) != -1 || errno != ELOOP) exit(96);
  if (open("/dev/fd/77", O_WRONLY) != -1 || errno != ENOENT) exit(97);
  errno = 88;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int elsewhere = fcntl(1, F_DUPFD, 60);
  errno = 88;
  used("open", open("/dev/stdout", O_WRONLY), 0);
  used("open O_CREAT", open("/dev/stdout", O_WRONLY | O_CREAT | O_TRUNC, 0666), 0);
  used("open O_CLOEXEC", open("/dev/stderr", O_WRONLY | O_CLOEXEC), FD_CLOEXEC);
  used("open64", open64("/dev/fd/1", O_RDWR), 0);
  used("openat", openat(AT_FDCWD, "/proc/self/fd/2", O_WRONLY), 0);
  used("openat64", openat64(-1, "/proc/thread-self/fd/1", O_WRONLY), 0);
  used("__open_2", __open_2("/dev/stdout", O_WRONLY), 0);
  used("__open64_2", __open64_2("/dev/stderr", O_WRONLY), 0);
  used("__openat_2", __openat_2(AT_FDCWD, "/dev/stdout", O_WRONLY), 0);
  used("__openat64_2", __openat64_2(AT_FDCWD, "/dev/stderr", O_WRONLY), 0);
  used("creat", creat("/dev/stdout", 0600), 0);
  used("creat64", creat64("/dev/stderr", 0600), 0);
  used("another number", open("/dev/fd/60", O_WRONLY), 0);
  close(elsewhere);
  used_file("fopen w", fopen("/dev/stdout", "w"));
  used_file("fopen a", fopen("/dev/stderr", "a"));
  used_file("fopen r+e", fopen("/dev/stdout", "r+e"));
  used_file("fopen64", fopen64("/dev/fd/2", "w"));
  if (fcntl(2, F_GETFL) & O_APPEND) return 98;
  with_links(argv[1]);
  refused(argv[1]);
  if (freopen("/dev/stderr", "w", stdout) == NULL) return 99;
  puts("freopen");
  fflush(stdout);
  used_file("freopen64", freopen64("/dev/stderr", "a", stdout));
  return 0;
}
