/* sys.h for macOS: the same functions, by way of libSystem, because Apple does not promise the
 * numbers of system calls. Calls from inside an interposing library are not redirected, so none of
 * them comes back to a hook. Taken instead of sys.h by `-include`; declares what it needs, since
 * it is compiled without the system's headers where there are none. Compiled, not run. */
#ifndef CUFF_SHIM_SYS_H
#define CUFF_SHIM_SYS_H

#include <stddef.h>
#include <stdint.h>

typedef long ssize_type;

enum {
  O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_NONBLOCK = 4, O_APPEND = 8, O_NOFOLLOW = 0x100,
  O_NOCTTY = 0x20000, O_DIRECTORY = 0x100000, O_CLOEXEC = 0x1000000, AT_FDCWD = -2
};
enum { PROT_READ = 1, PROT_WRITE = 2, MAP_PRIVATE = 2, MAP_ANONYMOUS = 0x1000 };
enum { CLOCK_MONOTONIC = 6, RLIMIT_FSIZE = 1, RLIMIT_AS = 5, PATH_MAX = 1024 };
enum {
  ENOENT = 2, EINTR = 4, EIO = 5, ENXIO = 6, E2BIG = 7, ENOEXEC = 8, EBADF = 9, ENOMEM = 12,
  EACCES = 13, EFAULT = 14, ENOTDIR = 20, EINVAL = 22, EFBIG = 27, ENOSPC = 28, ESPIPE = 29,
  EROFS = 30, EPIPE = 32, ERANGE = 34, EAGAIN = 35, ENAMETOOLONG = 63, ENOSYS = 78
};

struct sys_time { int64_t seconds, nanoseconds; };
struct sys_limit { uint64_t now, most; };
struct sys_vector { const void *base; size_t length; };
struct sys_stat {
  uint64_t device, inode;
  uint32_t mode, uid, gid;
  uint64_t rdevice;
  int64_t size;
};

struct darwin_stat { /* struct stat, with inodes of 64 bits */
  int32_t device;
  uint16_t mode, links;
  uint64_t inode;
  uint32_t uid, gid;
  int32_t rdevice;
  struct sys_time times[4];
  int64_t size, blocks;
  int32_t block_size;
  uint32_t flags, generation;
  int32_t spare;
  int64_t spares[2];
};

#ifdef __x86_64__
#define INODE64 "$INODE64"
#else
#define INODE64 ""
#endif

extern int *__error(void);
extern int open(const char *path, int flags, ...);
extern int openat(int directory, const char *path, int flags, ...);
extern int close(int fd);
extern int dup(int fd);
extern int fcntl(int fd, int order, ...);
extern ssize_type read(int fd, void *to, size_t n);
extern ssize_type pread(int fd, void *to, size_t n, int64_t at);
extern ssize_type write(int fd, const void *from, size_t n);
extern ssize_type writev(int fd, const struct sys_vector *v, int count);
extern int fstat(int fd, struct darwin_stat *to) __asm__("_fstat" INODE64);
extern int stat(const char *path, struct darwin_stat *to) __asm__("_stat" INODE64);
extern int fstatat(int directory, const char *path, struct darwin_stat *to, int flags)
    __asm__("_fstatat" INODE64);
extern int access(const char *path, int mode);
extern ssize_type readlink(const char *path, char *to, size_t room);
extern char *getcwd(char *to, size_t room);
extern int getpid(void), getppid(void);
extern unsigned getuid(void), getgid(void);
extern void *mmap(void *at, size_t n, int protection, int flags, int fd, int64_t offset);
extern int munmap(void *at, size_t n);
extern int clock_gettime(int clock, struct sys_time *to);
extern int getrlimit(int what, struct sys_limit *to);
struct sys_usage;
extern int getrusage(int who, struct sys_usage *to);
extern int pthread_threadid_np(void *thread, uint64_t *to);
extern int pthread_sigmask(int how, const uint32_t *set, uint32_t *before);
extern void _exit(int code) __attribute__((noreturn));

static inline int sys_failed(long result) { return result < 0 && result >= -4095; }

/* `errno` is what it was before: the callers promise that. */
static inline long sys_settle(long result, int before) {
  int error = *__error();
  *__error() = before;
  return result == -1 ? -error : result;
}
#define SETTLED(call) (__extension__({ int was_ = *__error(); sys_settle((long)(call), was_); }))

static inline int sys_open(const char *path, int flags) { return (int)SETTLED(open(path, flags)); }
static inline int sys_openat(int directory, const char *path, int flags, unsigned mode) {
  return (int)SETTLED(openat(directory, path, flags, mode));
}
static inline int sys_close(int fd) { return (int)SETTLED(close(fd)); }
static inline int sys_dup(int fd) { return (int)SETTLED(dup(fd)); }
static inline long sys_fcntl(int fd, int order, long value) {
  return SETTLED(fcntl(fd, order, value));
}
static inline ssize_type sys_read(int fd, void *to, size_t n) { return SETTLED(read(fd, to, n)); }
static inline ssize_type sys_pread(int fd, void *to, size_t n, int64_t at) {
  return SETTLED(pread(fd, to, n, at));
}
static inline ssize_type sys_write(int fd, const void *from, size_t n) {
  return SETTLED(write(fd, from, n));
}
static inline ssize_type sys_writev(int fd, const struct sys_vector *v, int count) {
  return SETTLED(writev(fd, v, count));
}
static inline int sys_stat_of(long result, const struct darwin_stat *from, struct sys_stat *to) {
  *to = (struct sys_stat){(uint32_t)from->device, from->inode,   from->mode, from->uid, from->gid,
                          (uint32_t)from->rdevice, from->size};
  return (int)result;
}
static inline int sys_fstat(int fd, struct sys_stat *to) {
  struct darwin_stat st = {0};
  return sys_stat_of(SETTLED(fstat(fd, &st)), &st, to);
}
static inline int sys_stat_path(const char *path, struct sys_stat *to) {
  struct darwin_stat st = {0};
  return sys_stat_of(SETTLED(stat(path, &st)), &st, to);
}
static inline int sys_stat_at(int directory, const char *name, struct sys_stat *to) {
  struct darwin_stat st = {0};
  if (*name == 0) return sys_fstat(directory, to);
  return sys_stat_of(SETTLED(fstatat(directory, name, &st, 0)), &st, to);
}
enum { X_OK = 1, R_OK = 4 };
static inline int sys_may(const char *path, int what) {
  return SETTLED(access(path, what)) == 0;
}
static inline ssize_type sys_readlink(const char *path, char *to, size_t room) {
  return SETTLED(readlink(path, to, room));
}
/* With the NUL, as the kernel of Linux counts. */
static inline long sys_getcwd(char *to, size_t room) {
  long found = SETTLED(getcwd(to, room) == NULL ? -1 : 0), n = 0;
  while (found == 0 && to[n++] != 0) continue;
  return found < 0 ? found : n;
}
static inline int sys_getpid(void) { return getpid(); }
static inline int sys_getppid(void) { return getppid(); }
static inline int sys_gettid(void) {
  uint64_t id = 0;
  pthread_threadid_np(NULL, &id);
  return (int)id;
}
static inline int sys_has_capabilities(int fd) {
  (void)fd;
  return 0;
}
static inline unsigned sys_getuid(void) { return getuid(); }
static inline unsigned sys_getgid(void) { return getgid(); }

static inline void *sys_map(size_t bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  long at = SETTLED(mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0));
  return sys_failed(at) ? NULL : (void *)at;
}
static inline void sys_unmap(void *at, size_t bytes) { (void)SETTLED(munmap(at, bytes)); }

static inline uint64_t sys_now_ns(void) {
  struct sys_time now = {0, 0};
  (void)SETTLED(clock_gettime(CLOCK_MONOTONIC, &now));
  return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.nanoseconds;
}
static inline int sys_file_size_limited(void) {
  struct sys_limit limit = {0, 0};
  return SETTLED(getrlimit(RLIMIT_FSIZE, &limit)) < 0 || limit.now != INT64_MAX;
}
struct sys_usage { /* struct rusage; its microseconds have 32 bits and padding behind them */
  struct { int64_t seconds, micros; } user, system;
  int64_t peak; /* KiB, after sys_usage */
  int64_t rest[13];
};
static inline int sys_usage(struct sys_usage *to) {
  enum { RUSAGE_SELF = 0 };
  if (SETTLED(getrusage(RUSAGE_SELF, to)) < 0) return 0;
  to->user.micros = (int32_t)to->user.micros, to->system.micros = (int32_t)to->system.micros;
  to->peak /= 1024; /* the system counts bytes */
  return 1;
}
static inline int sys_filter_mode(void) { return 0; } /* there is no seccomp */
static inline uint64_t sys_limit_of(int kind) {
  struct sys_limit limit = {0, 0};
  if (SETTLED(getrlimit(kind, &limit)) < 0 || limit.now == INT64_MAX) return ~0ull;
  return limit.now;
}
static inline void sys_block_signals(uint64_t *before) {
  uint32_t all = ~0u, was = 0;
  pthread_sigmask(1, &all, &was);
  *before = was;
}
static inline void sys_restore_signals(const uint64_t *before) {
  uint32_t was = (uint32_t)*before;
  pthread_sigmask(3, &was, NULL);
}
static inline void sys_take_sigpipe(void) {} /* no pipe is written to */
static inline int sys_impossible(const void *at) {
  return (uintptr_t)at < 4096 || (intptr_t)at < 0;
}
static inline void sys_exit_group(int code) { _exit(code); }

#endif
