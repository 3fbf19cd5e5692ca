/* The child reports a fork: it knows both pids. vfork is not hooked: its child runs on the stack of
 * its parent, and a hook that returns in the child would destroy the frame that it returns to in
 * the parent (vfork(2)). */
#include "interpose.h"
#include "shell.h"

extern int fork(void);
#ifdef __linux__
extern int _Fork(void);
#endif
extern int forkpty(int *terminal, char *name, const void *settings, const void *size);
extern int daemon(int keep_directory, int keep_streams);

/* In the child. */
static NOINLINE void forked(void) {
  struct {
    struct trace_frame head;
    struct trace_fork fork;
    uint64_t room;
  } frame;
  struct proc_facts facts;
  uint32_t parent = shim.pid;
  identity_learn_forked(&facts);
  shim.dropped = 0;
  exit_forked();
  shell_forked();
  environ_mend();
  shim_reset_batch();
  frame.head = (struct trace_frame){.pid = shim.pid, .space = shim.space};
  frame.fork = (struct trace_fork){.start_ticks = facts.start_ticks,
                                   .parent = facts.pid != 0 ? facts.parent : parent,
                                   .inner_pid = shim.inner_pid,
                                   .inner_space = shim.inner_space};
  frame_send_ready(&frame.head, sizeof frame.head + sizeof frame.fork, TRACE_FORK, FROM_SHIM);
  order_meet();
}

static int answered(int result) {
  if (result == 0 && shim_may_speak()) forked();
  return result;
}

static void before(void) {
  if (!shim_on()) return;
  child_env_reclaim();
  exec_prepare();
  shim_flush();
}

/* The raw call is enough where no libc is behind us: there are no locks or atfork handlers. */
#ifdef __linux__
static long raw_fork(void) {
  enum { SIGCHLD = 17 };
  return SYS6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
}
#define CALL_FORK(original) ((original) ? (original)() : (int)shim_answer(raw_fork()))
#else
#define CALL_FORK(original) (original)()
#endif

HOOK(int, fork, (void)) {
  before();
  __typeof__(&fork) original = ORIGINAL(fork);
  return answered(CALL_FORK(original));
}

#ifdef __linux__
HOOK(int, _Fork, (void)) {
  before();
  __typeof__(&_Fork) original = ORIGINAL(_Fork);
  return answered(CALL_FORK(original));
}
#endif

/* These two fork inside the libc. */
HOOK(int, forkpty, (int *terminal, char *name, const void *settings, const void *size)) {
  before();
  __typeof__(&forkpty) original = ORIGINAL(forkpty);
  if (original == NULL) return (int)shim_answer(-ENOSYS);
  return answered(original(terminal, name, settings, size));
}

HOOK(int, daemon, (int keep_directory, int keep_streams)) {
  before();
  __typeof__(&daemon) original = ORIGINAL(daemon);
  if (original == NULL) return (int)shim_answer(-ENOSYS);
  int result = original(keep_directory, keep_streams);
  if (shim_on() && !shim_own_process()) forked();
  return result;
}
