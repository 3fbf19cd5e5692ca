/* A debugger that comes later: where the runner follows a program without a loader, it stands in
 * the way, because a process has one tracer at most. It is asked to let go, and the call made
 * again. */
#include "interpose.h"

#ifdef __linux__

enum { PTRACE_ATTACH = 16, PTRACE_SEIZE = 0x4206, EPERM = 1 };
enum { FUTEX_WAIT_PRIVATE = 128, SLICE_NS = 2000000, SLICES = 25 };

extern long ptrace(int request, ...);

/* Whether it is the runner that traces `pid`: then, and only then, is waiting worth it. */
static int is_followed(void *about) {
  static const char key[] = "TracerPid:\t";
  int pid = *(const int *)about;
  char path[40] = "/proc/", text[512];
  size_t length = sizeof "/proc";
  length += text_number(path + length, (uint64_t)(uint32_t)pid);
  memcpy(path + length, "/status", sizeof "/status");
  int fd = sys_open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_type bytes = sys_read(fd, text, sizeof text - 1);
  sys_close(fd);
  text[bytes > 0 ? bytes : 0] = 0;
  for (const char *at = text; *at != 0; at++) {
    if (!text_starts(at, key)) continue;
    uint32_t tracer = 0;
    for (at += sizeof key - 1; *at >= '0' && *at <= '9'; at++)
      tracer = tracer * 10 + (uint32_t)(*at - '0');
    return tracer == shim.runner_pid;
  }
  return 0;
}

static void wait_a_slice(void) {
  uint32_t word = 0;
  struct sys_time slice = {0, SLICE_NS};
  SYS4(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &slice);
}

static NOINLINE int ask_to_let_go(int pid) {
  if (!(shim.flags & TRACE_FOLLOWS) || !shim_may_speak()) return 0;
  if (shim_apart(is_followed, &pid, -1) <= 0) return 0;
  return order_release((uint32_t)pid);
}

HOOK(long, ptrace, (int request, ...)) {
  __builtin_va_list list;
  __builtin_va_start(list, request);
  int pid = __builtin_va_arg(list, int);
  void *address = __builtin_va_arg(list, void *), *data = __builtin_va_arg(list, void *);
  __builtin_va_end(list);
  __typeof__(&ptrace) original = ORIGINAL(ptrace);
  if (original == NULL) return shim_answer(-ENOSYS);
  long result = original(request, pid, address, data);
  if (LIKELY(request != PTRACE_ATTACH && request != PTRACE_SEIZE)) return result;
  if (result != -1 || shim_errno() != EPERM || !ask_to_let_go(pid)) return result;
  for (int i = 0; i < SLICES && result == -1 && shim_errno() == EPERM; i++) {
    wait_a_slice();
    result = original(request, pid, address, data);
  }
  return result;
}

#endif
