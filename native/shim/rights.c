/* A process that changes its root or its user may not be able to open trace.bin any more. chroot,
 * su and setpriv do so right before they exec, and that program would be missing in the trace. In
 * such a process, and only if the file can no longer be opened, one descriptor is kept until the
 * exec closes it, under a number that open does not give (the lowest free one, open(2)). Before
 * each use fstat tells whether it is still ours. With other threads none is kept and none is
 * closed, because one of them may use its number. */
#include "interpose.h"

#ifdef __linux__

extern int chroot(const char *path);
extern int setuid(uint32_t user);
extern int seteuid(uint32_t user);
extern int setreuid(uint32_t real, uint32_t effective);
extern int setresuid(uint32_t real, uint32_t effective, uint32_t saved);

/* The table of descriptors grows to hold the number: 8 KB are enough for this one. */
static int out_of_the_way(int fd) {
  enum { RLIMIT_NOFILE = 7, F_DUPFD_CLOEXEC = 1030, FIRST = 960, FEW = 256, LAST = 64 };
  uint64_t limit = sys_limit_of(RLIMIT_NOFILE);
  if (fd < 0 || limit <= FEW) return fd;
  long first = limit > FIRST + LAST ? FIRST : (long)limit - LAST;
  int high = (int)sys_fcntl(fd, F_DUPFD_CLOEXEC, first);
  if (high < 0) return fd; /* there is no other number */
  sys_close(fd);
  return high;
}

/* Gives a descriptor that behind() closes, or -1. */
static NOINLINE int before(void) {
  if (shim.kept_fd != 0 || !shim_may_speak() || !shim_own_process() || !shim_alone()) return -1;
  return out_of_the_way(frame_open());
}

/* Back where it was: the descriptor is not needed any more. */
static void let_go(void) {
  struct sys_stat st;
  int fd = shim.kept_fd, again = frame_open();
  if (again < 0) return;
  sys_close(again);
  shim.kept_fd = 0;
  if (sys_fstat(fd, &st) == 0 && st.device == shim.trace_device && st.inode == shim.trace_inode)
    sys_close(fd);
}

static NOINLINE int behind(int fd, int result) {
  if (fd < 0 && shim.kept_fd != 0 && result == 0 && shim_may_speak() && shim_alone()) let_go();
  if (fd < 0) return result;
  int again = result == 0 ? frame_open() : 0;
  if (again < 0) {
    shim.kept_fd = fd;
    return result;
  }
  if (again > 0) sys_close(again);
  sys_close(fd);
  return result;
}

#define CHANGED(name, ...)                                                                    \
  __typeof__(&name) original = ORIGINAL(name);                                                \
  if (original == NULL) return (int)shim_answer(-ENOSYS);                                     \
  int fd = before();                                                                          \
  return behind(fd, original(__VA_ARGS__))

HOOK(int, chroot, (const char *path)) { CHANGED(chroot, path); }

HOOK(int, setuid, (uint32_t user)) { CHANGED(setuid, user); }

HOOK(int, seteuid, (uint32_t user)) { CHANGED(seteuid, user); }

HOOK(int, setreuid, (uint32_t real, uint32_t effective)) { CHANGED(setreuid, real, effective); }

HOOK(int, setresuid, (uint32_t real, uint32_t effective, uint32_t saved)) {
  CHANGED(setresuid, real, effective, saved);
}

#endif
