/* Processes that have ended, stopped or gone on. We are the subreaper (prctl(2)), so orphans of the
 * run are our children, too. */
#include "runner.h"
#include "trace.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PTY_HELD 16384 /* more than a pty keeps for its reader */

/* All that was written until now is read before we report the end, however slow the disk or the
 * reader. Later bytes come from survivors, perhaps without end. */
void mark_due(struct run *r) {
  for (int i = 0; i < r->stream_count; i++) {
    struct stream *s = &r->streams[i];
    int waiting = 0;
    if (s->fd < 0) continue;
    if (s->fd == r->master) waiting = PTY_HELD; /* a pty does not know how much is on its way */
    else if (ioctl(s->fd, FIONREAD, &waiting) != 0) waiting = 0;
    s->due = (size_t)waiting;
  }
}

/* A starter that stands where the command would stand stops and goes on with it, so that its own
 * starter sees job control. It is we who signal: stopped, it could not hear that the command went
 * on, and a stop of its own could come behind that. */
static void starter_too(const struct run *r, int signal) {
  pid_t starter = getppid();
  struct pollfd control = {.fd = r->control};
  if (r->o->session == S_OWN || r->control < 0) return;
  /* Our parent is another process when it has died; then its end is closed. */
  if (poll(&control, 1, 0) == 0) kill(starter, signal);
}

static void went_on(struct run *r) {
  if (r->stopped) starter_too(r, SIGCONT);
  r->stopped = false;
}

void command_ended(struct run *r, int status) {
  went_on(r);
  r->status = status;
  r->exited = true;
  int64_t now = now_ms();
  r->exit_at = wall_ms();
  r->took = now - r->began;
  r->drain_until = now + DRAIN_MS;
  if (WIFSIGNALED(status)) r->hurry = true;
  mark_due(r);
  if (WIFEXITED(status))
    record_event(r, "shell_exited", "\"exit_code\":%d", WEXITSTATUS(status));
  else
    record_event(r, "shell_exited", "\"signal\":\"%s\"", signal_name(WTERMSIG(status)));
}

static void command_stopped(struct run *r) {
  r->stopped = true;
  tty_restore();
  r->keyboard = -1;
  say(r, "stopped");
  starter_too(r, SIGSTOP);
}

struct used { /* by a process that has ended */
  bool known;
  struct rusage by;
};

/* The next process whose state has changed. A tracer is also told about the processes that it
 * follows, but it must not take their WCONTINUED: the kernel reports that once, and it is for their
 * own parents. */
static pid_t next_change(int *status, struct used *used) {
  const int all = WNOHANG | WUNTRACED | WCONTINUED;
  used->known = false;
  if (!trace_on()) return waitpid(-1, status, all);
  siginfo_t info = {.si_pid = 0};
  bool follows = follow_any();
  int changes = WEXITED | WNOHANG | WNOWAIT | (follows ? WSTOPPED | __WALL : 0);
  if (waitid(P_ALL, 0, &info, changes) != 0) return -1;
  if (info.si_pid == 0) return follows ? 0 : waitpid(-1, status, all);
  bool ended = info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
               info.si_code == CLD_DUMPED;
  if (ended) follow_ending(info.si_pid);
  /* The kernel adds what the children used that it waited for. */
  used->known = ended && waited_for_none(info.si_pid);
  return wait4(info.si_pid, status, WNOHANG | WUNTRACED | (follows ? __WALL : 0), &used->by);
}

static bool command_went_on(const struct run *r) {
  siginfo_t info = {.si_pid = 0};
  return waitid(P_PID, (id_t)r->pid, &info, WCONTINUED | WNOHANG) == 0 && info.si_pid == r->pid;
}

void reap(struct run *r) {
  int status;
  pid_t pid;
  struct used used;
  while ((pid = next_change(&status, &used)) > 0) {
    bool command = pid == r->pid;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      int from = follow_ended(pid);
      const struct rusage *by = used.known ? &used.by : NULL;
      if (from >= 0) trace_reap(pid, status, command ? FROM_RUNNER : from, by);
      if (r->starting && launch_ended(pid, status)) continue;
      if (command && !r->exited) command_ended(r, status);
    } else if (WIFSTOPPED(status) && follow_stopped(pid, status)) {
      if (command) went_on(r);
    } else if (command && WIFSTOPPED(status)) {
      command_stopped(r);
    } else if (command && WIFCONTINUED(status)) {
      went_on(r);
    }
  }
  if (pid < 0 && errno == ECHILD) r->children = false;
  if (r->stopped && follow_any() && command_went_on(r)) went_on(r);
}
