/* What writes.c offers to the other hooks that see output: stdio.c and seccomp.c. */
#ifndef CUFF_SHIM_STREAMS_H
#define CUFF_SHIM_STREAMS_H

#include "interpose.h"

#ifdef __x86_64__
enum { SYS_mprotect = 10, SYS_ioctl = 16, SYS_kill = 62 };
#else
enum { SYS_ioctl = 29, SYS_kill = 129, SYS_mprotect = 226 };
#endif
enum { SIGABRT = 6 };

/* 1 when writes are told (pipe and pty mode), set once by the constructor: on sockets the kernel
 * says who wrote, and a hook costs this one look. */
extern int shim_watched;

static inline int shim_watching(void) { return UNLIKELY(shim_watched) && shim_on(); }

/* CLOCK_MONOTONIC, without a system call where the libc can do that. */
uint64_t shim_clock_ns(void);

/* `length` bytes were written to `fd` by a call that began at `at_ns` and has just ended. Nothing
 * happens if `fd` is not a stream of the run. Keeps errno. */
void shim_tell(int fd, uint64_t at_ns, const void *data, size_t length);
/* The same for bytes that lie in several places; `length` is what was written of them. */
void shim_tell_vector(int fd, uint64_t at_ns, const struct sys_vector *v, size_t count,
                      size_t length);
/* The same for bytes that were never in our memory. */
void shim_tell_unseen(int fd, uint64_t at_ns, size_t length);

/* --- stdio.c */
void shim_stdio_init(void);
/* `file` was just opened by the libc. */
void shim_stdio_opened(void *file);

#endif
