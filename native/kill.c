/* Ending a run: a first signal to the group and to every descendant, a grace, then KILL again and
 * again until no process is left. events.jsonl lists those that died and those that did not. */
#include "runner.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Through a pidfd, if the start time is still the same: between reading /proc and kill() the pid
 * may have gone to another process. */
void signal_process(const struct process *p, int signal) {
  int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
  if (fd < 0 && errno == ESRCH) return;
  if (process_start(p->pid) == p->start) {
    if (fd < 0) kill(p->pid, signal);
    else syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
  }
  if (fd >= 0) close(fd);
}

static void remember(struct run *r, pid_t pid) {
  for (int i = 0; i < r->killed_count; i++)
    if (r->killed[i] == pid) return;
  if (r->killed_count < PROCESSES_MAX) r->killed[r->killed_count++] = pid;
}

static void signal_all(struct run *r, int signal) {
  static struct process list[PROCESSES_MAX];
  int count = descendants(getpid(), list, PROCESSES_MAX);
  /* One kill for the whole group also reaches a child that is forked at this moment. No process
   * gets the signal twice: many programs skip their cleaning up at a second TERM or INT. */
  bool group = r->own_group && !r->exited && r->pid > 0 && kill(-r->pid, signal) == 0;
  for (int i = 0; i < count; i++) {
    remember(r, list[i].pid);
    if (!group || signal == SIGKILL || getpgid(list[i].pid) != r->pid)
      signal_process(&list[i], signal);
    if (signal != SIGKILL) signal_process(&list[i], SIGCONT); /* else a stopped one cannot act */
  }
}

void kill_begin(struct run *r, int signal, long grace_ms, enum cause cause) {
  if (r->kill_step == 2) return;
  if (r->starting) signal = SIGKILL; /* until its exec all others are blocked */
  if (r->kill_step == 0) {
    r->kill_cause = cause;
    r->kill_signal = signal;
    if (!r->exited) r->cause = cause;
  }
  bool again = r->kill_step == 1 && signal != SIGKILL;
  r->kill_step = signal == SIGKILL ? 2 : 1;
  int64_t until = now_ms() + (r->kill_step == 2 ? KILL_GIVE_UP_MS : grace_ms);
  /* Asking again may shorten the grace and never makes it longer. */
  if (!again || until < r->kill_until) r->kill_until = until;
  r->hurry = true;
  signal_all(r, signal);
}

static void add_killed(struct text *t, const struct run *r, const struct process *left, int count,
                       bool alive) {
  const char *comma = "";
  for (int i = 0; i < r->killed_count; i++) {
    bool there = false;
    for (int k = 0; k < count; k++) there = there || left[k].pid == r->killed[i];
    if (there != alive) continue;
    text_add(t, "%s%d", comma, (int)r->killed[i]);
    comma = ",";
  }
}

static void kill_finish(struct run *r) {
  static struct process left[PROCESSES_MAX];
  int count = r->children ? descendants(getpid(), left, PROCESSES_MAX) : 0;
  const char *by = r->kill_cause == BY_TIMEOUT   ? "timeout"
                   : r->kill_cause == BY_CAPTURE ? "capture"
                                                 : "order";
  size_t size = 256 + (size_t)r->killed_count * 12;
  char *data = malloc(size);
  if (data != NULL) {
    struct text t;
    text_init(&t, data, size);
    event_begin(&t, "kill", r->capture.offset);
    text_add(&t, ",\"signal\":\"%s\",\"by\":\"%s\",\"died\":[", signal_name(r->kill_signal), by);
    add_killed(&t, r, left, count, false);
    text_add(&t, "],\"alive\":[");
    add_killed(&t, r, left, count, true);
    text_add(&t, "]}\n");
    capture_event(&r->capture, &t);
    free(data);
  }
  /* A process in uninterruptible sleep, for instance on a mount that no longer answers, dies of
   * KILL when it wakes. The answer does not wait for that: it is one of the survivors. */
  if (!r->exited && !r->starting && r->children) command_ended(r, SIGKILL);
  r->kill_step = 0;
  r->killed_count = 0;
  r->killed_all = !r->children;
}

/* The next step of a kill; true when this step found that no process of the run is left. */
bool kill_tick(struct run *r, int64_t now) {
  if (r->kill_step == 0) return false;
  bool over = !r->children;
  if (r->kill_step == 1 && !over && now >= r->kill_until) {
    r->kill_step = 2;
    r->kill_until = now + KILL_GIVE_UP_MS;
    signal_all(r, SIGKILL);
  } else if (r->kill_step == 2 && !over) {
    over = now >= r->kill_until;
    if (!over) signal_all(r, SIGKILL); /* also those that were forked since */
  }
  if (over) kill_finish(r);
  return over && r->killed_all;
}
