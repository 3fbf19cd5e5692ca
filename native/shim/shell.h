/* What spawn.c and shell.c share: system and popen. */
#ifndef CUFF_SHIM_SHELL_H
#define CUFF_SHIM_SHELL_H

#include "shim.h"

/* --- spawn.c */
/* A thread that is cancelled in system() does not return to the hook; the libc then calls `run`.
 * cleanup_push gives 0 where the libc has no such list. */
struct cleanup { /* struct _pthread_cleanup_buffer: four words in glibc, three in musl */
  void *words[8];
};
int cleanup_push(struct cleanup *cleanup, void (*run)(void *), void *data);
void cleanup_pop(struct cleanup *cleanup);

/* posix_spawn of /bin/sh with these words and the environment of the process; tells about it. */
int spawn_shell(char *const *words, const void *actions, const void *attributes, int *pid);
/* Streams of popen that are open, of any thread. */
enum { STREAMS_MAX = 128 };
void *shell_stream_at(int i);
void shell_stream_add(void *stream, uint64_t since_ns, int pid);

/* --- shell.c */
int shell_is_ours(void);
int shell_system(const char *command);
void *shell_popen(const char *command, const char *mode); /* NULL: the libc's own says why not */
int shell_pclose(void *stream, int pid);
void shell_forked(void); /* in the child of a fork, which has one thread */

#endif
