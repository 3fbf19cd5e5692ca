/* Opening a stream of the run by name. A socket cannot be opened: `echo x > /dev/stdout`, which is
 * /proc/self/fd/1, fails with ENXIO on one. A pipe would have been opened, so a descriptor of the
 * same socket is given instead; a socket has but one description, so any of them is as good.
 * That the name is a stream's is asked of the kernel, which follows every way there is to write
 * it: /dev/stdout, /dev/fd/N, /proc/PID/fd/N, links, relative names. */
#include "streams.h"

#ifdef __linux__

enum { O_CREAT = 0100, F_DUPFD = 0, F_GETFD = 1, F_DUPFD_CLOEXEC = 1030, FD_CLOEXEC = 1 };
enum { FD_SEARCH = 1024 }; /* descriptors that are looked at */
enum { MODE_LETTERS = 32 };

typedef struct file_of_libc FILE;

WEAK extern int fileno(FILE *file);

/* What a function answers that this libc does not have. */
static void *no_function(void) {
  shim_answer(-ENOSYS);
  return NULL;
}

static int is_stream(const struct sys_stat *st) {
  return (st->device == shim.out_device && st->inode == shim.out_inode) ||
         (st->device == shim.err_device && st->inode == shim.err_inode);
}

/* 1 when `path` names one of the run's sockets; then `*st` has its identity. */
static int names_stream(int directory, const char *path, struct sys_stat *st) {
  return SYS4(SYS_newfstatat, directory, path, st, 0) == 0 && is_stream(st);
}

/* A new descriptor of what has this identity, or -errno. */
static int duplicate(const struct sys_stat *wanted, int close_on_exec) {
  struct sys_stat st;
  for (int i = 0; i < FD_SEARCH; i++) {
    int fd = i < 3 ? (i + 1) % 3 : i; /* 1, 2, 0: where it is nearly always */
    if (sys_fstat(fd, &st) < 0 || st.device != wanted->device || st.inode != wanted->inode)
      continue;
    return (int)sys_fcntl(fd, close_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  }
  return -ENXIO;
}

/* "NUMBER" and what comes behind it; NULL when there is no number. */
static const char *read_number(const char *text, int *number) {
  const char *at = text;
  for (*number = 0; *at >= '0' && *at <= '9' && *number < 1 << 26; at++)
    *number = *number * 10 + (*at - '0');
  return at == text ? NULL : at;
}

/* The stream is another process's alone, and named as such: taken from there, if we may. */
static int fetch(const char *path, int close_on_exec) {
  struct sys_stat st;
  int pid, number;
  if (!text_starts(path, "/proc/")) return -ENXIO;
  const char *at = read_number(path + sizeof "/proc", &pid);
  if (at == NULL || !text_starts(at, "/fd/")) return -ENXIO;
  at = read_number(at + sizeof "/fd", &number);
  if (at == NULL || *at != 0) return -ENXIO;
  int process = (int)SYS2(SYS_pidfd_open, pid, 0);
  if (process < 0) return -ENXIO;
  int fd = (int)SYS3(SYS_pidfd_getfd, process, number, 0);
  sys_close(process);
  if (fd < 0) return -ENXIO;
  int ours = sys_fstat(fd, &st) == 0 && is_stream(&st);
  /* The lowest free number, as an open gives it. */
  int low = ours ? (int)sys_fcntl(fd, close_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD, 0) : -ENXIO;
  sys_close(fd);
  return low;
}

/* What to answer instead of a failed open: a descriptor or -1, with errno as it has to be. */
static NOINLINE int answer(int directory, const char *path, int close_on_exec, int errno_before) {
  struct sys_stat st;
  if (!names_stream(directory, path, &st)) return -1;
  int fd = duplicate(&st, close_on_exec);
  if (fd == -ENXIO) fd = fetch(path, close_on_exec);
  if (fd < 0) return (int)shim_answer(fd);
  shim_set_errno(errno_before);
  return fd;
}

static inline int on_sockets(void) { return shim.mode == MODE_SOCKET && shim_on(); }

/* shutdown(2) ends a socket for all processes that have it, and Node calls it for its stdout. On a
 * pipe it fails with ENOTSOCK and ends nothing, so it does the same on a stream of the run. */
HOOK(int, shutdown, (int fd, int how)) {
  struct sys_stat st;
  __typeof__(&shutdown) original = ORIGINAL(shutdown);
  if (on_sockets() && shim_may_speak() && sys_fstat(fd, &st) == 0 && is_stream(&st))
    return (int)shim_answer(-ENOTSOCK);
  return CALL_ON(original, SYS2(SYS_shutdown, fd, how), fd, how);
}

/* Opens with what `name` would have been without us, and looks at what became of it. */
#define OPENED(name, directory, path, flags, raw, ...)                                        \
  do {                                                                                        \
    __typeof__(&name) original = ORIGINAL(name);                                              \
    int before = on_sockets() ? shim_errno() : 0;                                             \
    int fd = CALL_ON(original, raw, __VA_ARGS__);                                             \
    if (LIKELY(fd >= 0) || !on_sockets() || shim_errno() != ENXIO) return fd;                 \
    return answer(directory, path, flags & O_CLOEXEC, before);                                \
  } while (0)

/* The mode is always handed on: without O_CREAT and O_TMPFILE open(2) ignores it. */
#define MODE_ARGUMENT(last)                                                                   \
  __builtin_va_list list;                                                                     \
  __builtin_va_start(list, last);                                                             \
  unsigned mode = __builtin_va_arg(list, unsigned);                                           \
  __builtin_va_end(list)

HOOK(int, open, (const char *path, int flags, ...)) {
  MODE_ARGUMENT(flags);
  OPENED(open, AT_FDCWD, path, flags, sys_openat(AT_FDCWD, path, flags, mode), path, flags, mode);
}

HOOK(int, open64, (const char *path, int flags, ...)) {
  MODE_ARGUMENT(flags);
  OPENED(open64, AT_FDCWD, path, flags, sys_openat(AT_FDCWD, path, flags, mode), path, flags,
         mode);
}

HOOK(int, openat, (int directory, const char *path, int flags, ...)) {
  MODE_ARGUMENT(flags);
  OPENED(openat, directory, path, flags, sys_openat(directory, path, flags, mode), directory,
         path, flags, mode);
}

HOOK(int, openat64, (int directory, const char *path, int flags, ...)) {
  MODE_ARGUMENT(flags);
  OPENED(openat64, directory, path, flags, sys_openat(directory, path, flags, mode), directory,
         path, flags, mode);
}

/* What _FORTIFY_SOURCE makes of a call without a mode. */
HOOK(int, __open_2, (const char *path, int flags)) {
  OPENED(__open_2, AT_FDCWD, path, flags, sys_open(path, flags), path, flags);
}

HOOK(int, __open64_2, (const char *path, int flags)) {
  OPENED(__open64_2, AT_FDCWD, path, flags, sys_open(path, flags), path, flags);
}

HOOK(int, __openat_2, (int directory, const char *path, int flags)) {
  OPENED(__openat_2, directory, path, flags, sys_openat(directory, path, flags, 0), directory,
         path, flags);
}

HOOK(int, __openat64_2, (int directory, const char *path, int flags)) {
  OPENED(__openat64_2, directory, path, flags, sys_openat(directory, path, flags, 0), directory,
         path, flags);
}

enum { O_CREATED = O_CREAT | O_WRONLY | 01000 /* O_TRUNC */ };

HOOK(int, creat, (const char *path, unsigned mode)) {
  OPENED(creat, AT_FDCWD, path, 0, sys_openat(AT_FDCWD, path, O_CREATED, mode), path, mode);
}

HOOK(int, creat64, (const char *path, unsigned mode)) {
  OPENED(creat64, AT_FDCWD, path, 0, sys_openat(AT_FDCWD, path, O_CREATED, mode), path, mode);
}

/* --- FILEs */

HOOK(FILE *, fdopen, (int fd, const char *mode)) {
  __typeof__(&fdopen) original = ORIGINAL(fdopen);
  FILE *file = original == NULL ? no_function() : original(fd, mode);
  shim_stdio_opened(file);
  return file;
}

static int closes_on_exec(const char *mode) {
  for (; *mode != 0 && *mode != ','; mode++)
    if (*mode == 'e') return 1;
  return 0;
}

/* To append is to set O_APPEND, which all descriptors of the socket would share. Writing to a
 * socket is at its end anyway. */
static FILE *file_of(int fd, const char *mode) {
  char letters[MODE_LETTERS] = {0};
  for (int i = 0; i < MODE_LETTERS - 1 && mode[i] != 0; i++) letters[i] = mode[i];
  if (letters[0] == 'a') letters[0] = 'w';
  FILE *file = fdopen(fd, letters);
  if (file == NULL) sys_close(fd);
  return file;
}

static NOINLINE FILE *answer_file(const char *path, const char *mode, int errno_before) {
  int fd = answer(AT_FDCWD, path, closes_on_exec(mode), errno_before);
  return fd < 0 ? NULL : file_of(fd, mode);
}

#define FILE_OPENED(name)                                                                     \
  do {                                                                                        \
    __typeof__(&name) original = ORIGINAL(name);                                              \
    int before = on_sockets() ? shim_errno() : 0;                                             \
    if (original == NULL) return no_function();                                    \
    FILE *file = original(path, mode);                                                        \
    if (file == NULL && on_sockets() && shim_errno() == ENXIO)                                \
      file = answer_file(path, mode, before);                                                 \
    shim_stdio_opened(file);                                                                  \
    return file;                                                                              \
  } while (0)

HOOK(FILE *, fopen, (const char *path, const char *mode)) { FILE_OPENED(fopen); }
HOOK(FILE *, fopen64, (const char *path, const char *mode)) { FILE_OPENED(fopen64); }

/* It closes the file before it knows that it cannot open the other, so it is asked before: a file
 * that can be opened takes the stream's place in it for the moment. */
typedef FILE *reopener(const char *path, const char *mode, FILE *file);

static FILE *reopen(reopener *original, const char *path, const char *mode, FILE *file) {
  struct sys_stat st;
  int before = shim_errno();
  int stream = path != NULL && on_sockets() && names_stream(AT_FDCWD, path, &st)
                   ? duplicate(&st, 1)
                   : -1;
  FILE *result = original(stream < 0 ? path : "/dev/null", mode, file);
  if (stream < 0) return result;
  if (result != NULL && fileno) {
    int fd = fileno(result);
    int flags = sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC ? O_CLOEXEC : 0;
    SYS3(SYS_dup3, stream, fd, flags);
    shim_set_errno(before);
  }
  sys_close(stream);
  return result;
}

#define REOPENED(name)                                                                        \
  do {                                                                                        \
    __typeof__(&name) original = ORIGINAL(name);                                              \
    if (original == NULL) return no_function();                                    \
    FILE *result = reopen(original, path, mode, file);                                        \
    shim_stdio_opened(result);                                                                \
    return result;                                                                            \
  } while (0)

HOOK(FILE *, freopen, (const char *path, const char *mode, FILE *file)) { REOPENED(freopen); }
HOOK(FILE *, freopen64, (const char *path, const char *mode, FILE *file)) { REOPENED(freopen64); }

#endif
