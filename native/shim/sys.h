/* System calls without a libc, for x86-64 and arm64. All of them give -errno for an error and none
 * touches errno. Nothing here needs a header of the system: the numbers are the kernel's promise,
 * and a machine that builds the shim on demand may not have its headers. */
#ifndef CUFF_SHIM_SYS_H
#define CUFF_SHIM_SYS_H

#include <stddef.h>
#include <stdint.h>

typedef long ssize_type;

#ifdef __x86_64__
enum {
  SYS_read = 0, SYS_write = 1, SYS_close = 3, SYS_fstat = 5, SYS_mmap = 9,
  SYS_munmap = 11, SYS_rt_sigprocmask = 14, SYS_pread64 = 17, SYS_pwrite64 = 18, SYS_writev = 20,
  SYS_sched_yield = 24, SYS_dup = 32, SYS_socket = 41, SYS_connect = 42, SYS_ppoll = 271,
  SYS_getpid = 39, SYS_sendfile = 40, SYS_sendto = 44, SYS_sendmsg = 46, SYS_clone = 56,
  SYS_execve = 59, SYS_exit = 60, SYS_wait4 = 61, SYS_fcntl = 72, SYS_getcwd = 79, SYS_getuid = 102,
  SYS_getgid = 104, SYS_getppid = 110, SYS_rt_sigtimedwait = 128, SYS_prctl = 157,
  SYS_gettid = 186, SYS_futex = 202, SYS_clock_gettime = 228, SYS_exit_group = 231,
  SYS_getrusage = 98, SYS_tgkill = 234, SYS_shutdown = 48, SYS_fgetxattr = 193,
  SYS_waitid = 247, SYS_openat = 257, SYS_newfstatat = 262, SYS_symlinkat = 266,
  SYS_readlinkat = 267, SYS_faccessat = 269, SYS_splice = 275, SYS_tee = 276,
  SYS_vmsplice = 278, SYS_dup3 = 292, SYS_prlimit64 = 302, SYS_seccomp = 317,
  SYS_execveat = 322, SYS_pwritev2 = 328
};
#define O_DIRECTORY_BITS 0200000
#define O_NOFOLLOW_BITS 0400000
#elif defined(__aarch64__)
enum {
  SYS_fgetxattr = 10, SYS_exit = 93, SYS_sched_yield = 124, SYS_tgkill = 131,
  SYS_shutdown = 210,
  SYS_getcwd = 17, SYS_dup = 23, SYS_dup3 = 24, SYS_fcntl = 25, SYS_symlinkat = 36,
  SYS_faccessat = 48,
  SYS_openat = 56, SYS_close = 57, SYS_read = 63, SYS_write = 64,
  SYS_writev = 66, SYS_pread64 = 67, SYS_pwrite64 = 68, SYS_sendfile = 71, SYS_ppoll = 73,
  SYS_vmsplice = 75, SYS_splice = 76,
  SYS_tee = 77, SYS_readlinkat = 78, SYS_newfstatat = 79, SYS_fstat = 80, SYS_exit_group = 94,
  SYS_waitid = 95, SYS_futex = 98, SYS_clock_gettime = 113, SYS_rt_sigprocmask = 135,
  SYS_rt_sigtimedwait = 137, SYS_prctl = 167, SYS_getpid = 172, SYS_getppid = 173,
  SYS_getuid = 174, SYS_getgid = 176, SYS_gettid = 178, SYS_socket = 198, SYS_connect = 203,
  SYS_sendto = 206, SYS_sendmsg = 211,
  SYS_munmap = 215, SYS_clone = 220, SYS_execve = 221, SYS_mmap = 222, SYS_wait4 = 260,
  SYS_getrusage = 165, SYS_prlimit64 = 261, SYS_seccomp = 277,
  SYS_execveat = 281, SYS_pwritev2 = 287
};
#define O_DIRECTORY_BITS 040000
#define O_NOFOLLOW_BITS 0100000
#else
#error "the shim knows x86-64 and arm64"
#endif

/* on all machines */
enum { SYS_pidfd_open = 434, SYS_close_range = 436, SYS_pidfd_getfd = 438 };
enum {
  O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_NOCTTY = 0400, O_APPEND = 02000, O_NONBLOCK = 04000,
  O_CLOEXEC = 02000000, O_DIRECTORY = O_DIRECTORY_BITS, O_NOFOLLOW = O_NOFOLLOW_BITS,
  AT_FDCWD = -100, AT_EMPTY_PATH = 0x1000
};
enum { PROT_READ = 1, PROT_WRITE = 2, MAP_PRIVATE = 2, MAP_ANONYMOUS = 0x20 };
enum { CLOCK_MONOTONIC = 1, RLIMIT_FSIZE = 1, RLIMIT_AS = 9, PATH_MAX = 4096 };
enum {
  ENOENT = 2, ESRCH = 3, EINTR = 4, EIO = 5, ENXIO = 6, E2BIG = 7, ENOEXEC = 8, EBADF = 9,
  EAGAIN = 11, ENOMEM = 12, EACCES = 13, EFAULT = 14, ENOTDIR = 20, EINVAL = 22,
  EFBIG = 27, ENOSPC = 28,
  ESPIPE = 29, EROFS = 30, EPIPE = 32, ERANGE = 34, ENAMETOOLONG = 36, ENOSYS = 38,
  ENOTSOCK = 88, EMSGSIZE = 90
};

struct sys_time { int64_t seconds, nanoseconds; };
struct sys_limit { uint64_t now, most; };
struct sys_usage { /* struct rusage */
  struct { int64_t seconds, micros; } user, system;
  int64_t peak; /* KiB */
  int64_t rest[13];
};
struct sys_vector { const void *base; size_t length; }; /* struct iovec */

/* What the kernel writes for fstat: only the first two numbers are the same on both. */
struct sys_stat {
  uint64_t device, inode;
#ifdef __x86_64__
  uint64_t links;
  uint32_t mode, uid, gid, pad;
#else
  uint32_t mode, links, uid, gid;
#endif
  uint64_t rdevice;
#ifdef __x86_64__
  int64_t size;
#else
  uint64_t pad;
  int64_t size;
#endif
  uint64_t rest[12];
};

static inline long sys_call(long n, long a, long b, long c, long d, long e, long f) {
#ifdef __x86_64__
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#else
  register long x8 __asm__("x8") = n;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
#endif
}

#define SYS6(n, a, b, c, d, e, f)                                                             \
  sys_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define SYS4(n, a, b, c, d) SYS6(n, a, b, c, d, 0, 0)
#define SYS3(n, a, b, c) SYS6(n, a, b, c, 0, 0, 0)
#define SYS2(n, a, b) SYS6(n, a, b, 0, 0, 0, 0)
#define SYS1(n, a) SYS6(n, a, 0, 0, 0, 0, 0)
#define SYS0(n) SYS6(n, 0, 0, 0, 0, 0, 0)

static inline int sys_failed(long result) { return result < 0 && result >= -4095; }

static inline int sys_open(const char *path, int flags) {
  return (int)SYS4(SYS_openat, AT_FDCWD, path, flags, 0);
}
static inline int sys_openat(int directory, const char *path, int flags, unsigned mode) {
  return (int)SYS4(SYS_openat, directory, path, flags, mode);
}
static inline int sys_close(int fd) { return (int)SYS1(SYS_close, fd); }
static inline int sys_dup(int fd) { return (int)SYS1(SYS_dup, fd); }
static inline long sys_fcntl(int fd, int order, long value) {
  return SYS3(SYS_fcntl, fd, order, value);
}
static inline ssize_type sys_read(int fd, void *to, size_t n) { return SYS3(SYS_read, fd, to, n); }
static inline ssize_type sys_pread(int fd, void *to, size_t n, int64_t at) {
  return SYS4(SYS_pread64, fd, to, n, at);
}
static inline ssize_type sys_write(int fd, const void *from, size_t n) {
  return SYS3(SYS_write, fd, from, n);
}
static inline ssize_type sys_writev(int fd, const struct sys_vector *v, int count) {
  return SYS3(SYS_writev, fd, v, count);
}
static inline int sys_fstat(int fd, struct sys_stat *to) { return (int)SYS2(SYS_fstat, fd, to); }
static inline int sys_stat_path(const char *path, struct sys_stat *to) {
  return (int)SYS4(SYS_newfstatat, AT_FDCWD, path, to, 0);
}
/* An empty name is the file `directory` itself. */
static inline int sys_stat_at(int directory, const char *name, struct sys_stat *to) {
  return (int)SYS4(SYS_newfstatat, directory, name, to, *name == 0 ? AT_EMPTY_PATH : 0);
}
/* A file that gives rights without being of another user. */
static inline int sys_has_capabilities(int fd) {
  return SYS4(SYS_fgetxattr, fd, "security.capability", 0, 0) > 0;
}
enum { X_OK = 1, R_OK = 4 };
static inline int sys_may(const char *path, int what) {
  return SYS3(SYS_faccessat, AT_FDCWD, path, what) == 0;
}
static inline ssize_type sys_readlink(const char *path, char *to, size_t room) {
  return SYS4(SYS_readlinkat, AT_FDCWD, path, to, room);
}
static inline long sys_getcwd(char *to, size_t room) { return SYS2(SYS_getcwd, to, room); }
static inline int sys_getpid(void) { return (int)SYS0(SYS_getpid); }
static inline int sys_getppid(void) { return (int)SYS0(SYS_getppid); }
static inline int sys_gettid(void) { return (int)SYS0(SYS_gettid); }
static inline unsigned sys_getuid(void) { return (unsigned)SYS0(SYS_getuid); }
static inline unsigned sys_getgid(void) { return (unsigned)SYS0(SYS_getgid); }

/* Gives 0 when there is no memory. */
static inline void *sys_map(size_t bytes) {
  long at = SYS6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return sys_failed(at) ? NULL : (void *)at;
}
static inline void sys_unmap(void *at, size_t bytes) { SYS2(SYS_munmap, at, bytes); }

static inline uint64_t sys_now_ns(void) {
  struct sys_time now = {0, 0};
  SYS2(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.nanoseconds;
}
/* Whether files may only grow so far: then every write of ours could raise SIGXFSZ. */
static inline int sys_file_size_limited(void) {
  struct sys_limit limit = {~0ull, ~0ull};
  return SYS4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit) < 0 || limit.now != ~0ull;
}
/* 0 without a seccomp filter, and where the kernel cannot say. */
static inline int sys_filter_mode(void) {
  enum { PR_GET_SECCOMP = 21 };
  long mode = SYS6(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0);
  return mode > 0 ? (int)mode : 0;
}
/* Of the process with its threads; 0 where the kernel cannot say. */
static inline int sys_usage(struct sys_usage *to) {
  enum { RUSAGE_SELF = 0 };
  return SYS2(SYS_getrusage, RUSAGE_SELF, to) == 0;
}
/* A soft limit of the process; without one it is the largest number. */
static inline uint64_t sys_limit_of(int kind) {
  struct sys_limit limit = {~0ull, ~0ull};
  return SYS4(SYS_prlimit64, 0, kind, 0, &limit) < 0 ? ~0ull : limit.now;
}
static inline void sys_block_signals(uint64_t *before) {
  uint64_t all = ~0ull;
  *before = 0;
  SYS4(SYS_rt_sigprocmask, 0, &all, before, 8);
}
static inline void sys_restore_signals(const uint64_t *before) {
  SYS4(SYS_rt_sigprocmask, 2, before, 0, 8);
}
/* Takes a SIGPIPE that waits because signals are blocked. */
static inline void sys_take_sigpipe(void) {
  enum { SIGPIPE = 13 };
  uint64_t set = 1ull << (SIGPIPE - 1);
  struct sys_time none = {0, 0};
  SYS4(SYS_rt_sigtimedwait, &set, 0, &none, 8);
}
/* What no pointer of a process can be: exec answers EFAULT to it, and so must we let it. */
static inline int sys_impossible(const void *at) {
  return (uintptr_t)at < 4096 || (intptr_t)at < 0;
}
static inline void sys_exit_group(int code) {
  for (;;) SYS1(SYS_exit_group, code);
}

#endif
