/* A process that waits for a child reports how it ended, by an exit or a signal. A child that only
 * stopped, or that can be waited for again (WNOWAIT), has not ended. */
#include "interpose.h"

enum { WNOWAIT = 0x01000000, CLD_EXITED = 1, CLD_KILLED = 2, CLD_DUMPED = 3 };

struct wait_story { /* siginfo_t, as far as waitid fills it */
  int signal, error, code, padding;
  int pid;
  uint32_t uid;
  int status;
  int rest[25];
};

extern int wait(int *status);
extern int waitpid(int pid, int *status, int options);
extern int wait3(int *status, int options, void *usage);
extern int wait4(int pid, int *status, int options, void *usage);
extern int waitid(int kind, uint32_t id, struct wait_story *story, int options);

static NOINLINE void say_reap(int child, int status) {
  enum { STOPPED = 0x7f };
  if ((status & 0x7f) == STOPPED) return;
  struct {
    struct trace_frame head;
    struct trace_reap reap;
    uint64_t room;
  } frame = {.reap = {(uint32_t)child, status}};
  frame_send_ready(&frame.head, sizeof frame.head + sizeof frame.reap, TRACE_REAP, FROM_SHIM);
}

void reap_say_since(uint64_t since_ns, int status) {
  struct {
    struct trace_frame head;
    struct trace_reap_since reap;
    uint64_t room;
  } frame = {.reap = {{0, status}, since_ns}};
  frame_send_ready(&frame.head, sizeof frame.head + sizeof frame.reap, TRACE_REAP, FROM_SHIM);
}

/* `status` was written by the call that gave `child`. */
static int reaped(int child, const int *status) {
  if (child > 0 && shim_may_speak()) say_reap(child, *status);
  return child;
}

static void before(void) {
  if (shim_on()) child_env_reclaim();
}

HOOK(int, wait, (int *status)) {
  int own;
  before();
  if (status == NULL) status = &own;
  __typeof__(&wait) original = ORIGINAL(wait);
  return reaped(CALL_ON(original, SYS4(SYS_wait4, -1, status, 0, 0), status), status);
}

HOOK(int, waitpid, (int pid, int *status, int options)) {
  int own;
  before();
  if (status == NULL) status = &own;
  __typeof__(&waitpid) original = ORIGINAL(waitpid);
  long child = CALL_ON(original, SYS4(SYS_wait4, pid, status, options, 0), pid, status, options);
  return reaped((int)child, status);
}

HOOK(int, wait3, (int *status, int options, void *usage)) {
  int own;
  before();
  if (status == NULL) status = &own;
  __typeof__(&wait3) original = ORIGINAL(wait3);
  long child =
      CALL_ON(original, SYS4(SYS_wait4, -1, status, options, usage), status, options, usage);
  return reaped((int)child, status);
}

HOOK(int, wait4, (int pid, int *status, int options, void *usage)) {
  int own;
  before();
  if (status == NULL) status = &own;
  __typeof__(&wait4) original = ORIGINAL(wait4);
  long child =
      CALL_ON(original, SYS4(SYS_wait4, pid, status, options, usage), pid, status, options, usage);
  return reaped((int)child, status);
}

static int status_of(const struct wait_story *story) {
  enum { DUMPED = 0x80, NOT_ENDED = 0x7f };
  switch (story->code) {
    case CLD_EXITED: return (story->status & 255) << 8;
    case CLD_KILLED: return story->status;
    case CLD_DUMPED: return story->status | DUMPED;
    default: return NOT_ENDED;
  }
}

HOOK(int, waitid, (int kind, uint32_t id, struct wait_story *story, int options)) {
  struct wait_story own;
  before();
  own.pid = 0;
  if (story == NULL) story = &own;
  __typeof__(&waitid) original = ORIGINAL(waitid);
  int result = (int)CALL_ON(original, SYS6(SYS_waitid, kind, id, story, options, 0, 0), kind, id,
                            story, options);
  if (result == 0 && story->pid > 0 && !(options & WNOWAIT) && shim_may_speak())
    say_reap(story->pid, status_of(story));
  return result;
}

ALIAS(int, __wait, wait, (int *status));
ALIAS(int, __waitpid, waitpid, (int pid, int *status, int options));
