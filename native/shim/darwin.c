/* What only macOS has: the names under which its own stdio writes, and errno. Compiled, not run. */
#ifdef __APPLE__

#include "streams.h"

/* Inside libSystem the calls go to names of their own, which are no cancellation points. */
#define NOCANCEL(name) __asm__("_" #name "$NOCANCEL")

extern ssize_type write_nocancel(int fd, const void *data, size_t n) NOCANCEL(write);
extern ssize_type writev_nocancel(int fd, const struct sys_vector *v, int n) NOCANCEL(writev);

HOOK(ssize_type, write_nocancel, (int fd, const void *data, size_t length)) {
  uint64_t at_ns = shim_watching() ? shim_clock_ns() : 0;
  ssize_type done = write_nocancel(fd, data, length);
  if (at_ns != 0 && done > 0) shim_tell(fd, at_ns, data, (size_t)done);
  return done;
}

HOOK(ssize_type, writev_nocancel, (int fd, const struct sys_vector *v, int count)) {
  uint64_t at_ns = shim_watching() ? shim_clock_ns() : 0;
  ssize_type done = writev_nocancel(fd, v, count);
  if (at_ns != 0 && done > 0) shim_tell_vector(fd, at_ns, v, (size_t)count, (size_t)done);
  return done;
}

int shim_errno(void) { return *__error(); }

void shim_set_errno(int error) { *__error() = error; }

long shim_answer(long result) {
  if (!sys_failed(result)) return result;
  shim_set_errno((int)-result);
  return -1;
}

#endif
