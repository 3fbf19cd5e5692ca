/* Ending a run: a first signal to the group and to every descendant, a grace, then KILL again and
 * again until nobody is left. Who died and who did not is told in events.jsonl. */
#include "runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Through a pidfd whose start time still fits: between reading /proc and kill() a pid may have
 * become somebody else. */
static void signal_process(const struct process *p, int signal) {
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
  /* One kill for the whole group reaches what is being forked this very moment. */
  if (r->own_group && !r->exited) kill(-r->pid, signal);
  for (int i = 0; i < count; i++) {
    remember(r, list[i].pid);
    signal_process(&list[i], signal);
    if (signal != SIGKILL) signal_process(&list[i], SIGCONT); /* stopped ones must see it, too */
  }
}

void kill_begin(struct run *r, int signal, long grace_ms, enum cause cause) {
  if (r->kill_step == 2) return;
  if (r->kill_step == 0) {
    r->kill_cause = cause;
    r->kill_signal = signal;
    if (!r->exited) r->cause = cause;
  }
  r->kill_step = signal == SIGKILL ? 2 : 1;
  r->kill_until = now_ms() + (r->kill_step == 2 ? KILL_GIVE_UP_MS : grace_ms);
  signal_all(r, signal);
}

void kill_tick(struct run *r, int64_t now) {
  if (r->kill_step == 0) return;
  if (!r->children) {
    kill_finish(r);
  } else if (r->kill_step == 1 && now >= r->kill_until) {
    r->kill_step = 2;
    r->kill_until = now + KILL_GIVE_UP_MS;
    signal_all(r, SIGKILL);
  } else if (r->kill_step == 2) {
    if (now >= r->kill_until) kill_finish(r);
    else signal_all(r, SIGKILL); /* whoever was forked since */
  }
}

void kill_finish(struct run *r) {
  char died[640], alive[640];
  struct text d, a;
  text_init(&d, died, sizeof died);
  text_init(&a, alive, sizeof alive);
  static struct process left[PROCESSES_MAX];
  int count = r->children ? descendants(getpid(), left, PROCESSES_MAX) : 0;
  for (int i = 0; i < r->killed_count; i++) {
    bool there = false;
    for (int k = 0; k < count; k++) there = there || left[k].pid == r->killed[i];
    struct text *t = there ? &a : &d;
    text_add(t, "%s%d", t->length ? "," : "", (int)r->killed[i]);
  }
  const char *by = r->kill_cause == BY_TIMEOUT   ? "timeout"
                   : r->kill_cause == BY_CAPTURE ? "capture"
                                                 : "order";
  record_event(r, "kill", "\"signal\":\"%s\",\"by\":\"%s\",\"died\":[%s],\"alive\":[%s]",
               signal_name(r->kill_signal), by, died, alive);
  r->kill_step = 0;
  r->killed_count = 0;
}
