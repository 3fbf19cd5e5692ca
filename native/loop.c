/* The life of one run, from start to the last byte of its last survivor. One thread, one poll. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_TICK_MS 10
#define FRONT_MS 250   /* how soon a background job notices that it was brought to the front */
#define CRUMBS_MANY 16
#define PARTING_MAX (1u << 20)

enum { P_SIGNALS, P_ORDERS, P_CONTROL, P_KEYBOARD, P_INPUT, P_START, P_STREAM, P_FORWARD = 8,
       P_COUNT = 10 };

/* Blocks all signals and reads them from a signalfd, before another process can know our pid or
 * the command's. The exceptions report faults of our own code. */
static bool take_signals(struct run *r) {
  sigset_t mask;
  sigfillset(&mask);
  /* Writes report EPIPE and EFBIG as errno; TTIN and TTOU would stop us in a background group. */
  const int IGNORED[] = {SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU};
  for (size_t i = 0; i < sizeof IGNORED / sizeof *IGNORED; i++) {
    sigdelset(&mask, IGNORED[i]);
    set_signal(IGNORED[i], SIG_IGN);
  }
  const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
  for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) sigdelset(&mask, FAULTS[i]);
  sigprocmask(SIG_BLOCK, &mask, &r->old_mask);
  set_signal(SIGCHLD, SIG_DFL); /* if it is ignored, wait(2) loses how the command ended */
  r->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  return r->signals >= 0;
}

/* Whether the command has got this signal as well: from the terminal, or as a member of the group
 * that it shares with us and the starter (`kill %1`). Passed on it would arrive twice, and many
 * programs skip their cleaning up at a second one. */
static bool shared(const struct run *r, const struct signalfd_siginfo *info) {
  if (info->ssi_code == SI_KERNEL) return r->own_group || !r->exited;
  return !r->own_group && !r->exited && r->control >= 0;
}

static void read_signals(struct run *r) {
  struct signalfd_siginfo info;
  while (read(r->signals, &info, sizeof info) == (ssize_t)sizeof info) {
    int signal = (int)info.ssi_signo;
    if (signal == SIGCHLD) reap(r);
    else if (signal == SIGWINCH || signal == SIGCONT) continue; /* the starter tells us */
    else if (shared(r, &info)) r->group_signal_at[signal] = now_ms();
    else deliver(r, signal, "self");
  }
}

/* The starter has died or hung up. The run goes on, without the starter's terminal. */
static void starter_gone(struct run *r) {
  /* A client in the place of the shell was killed, which the shell itself would not survive. */
  if (r->o->session == S_GROUP && !r->exited && !r->starting && r->pid > 0) kill(r->pid, SIGKILL);
  r->control = -1;
  r->pending_length = 0;
  tty_leave(r);
  setsid(); /* fails harmlessly when we lead a session already */
}

static void end_stream(struct run *r, struct stream *s) {
  if (s->fd >= 0 && s->fd == r->master) {
    if (r->input == r->master) r->input = -1;
    r->master = -1;
  }
  stream_close(s);
}

/* False when nothing could be read. */
static bool take(struct run *r, struct stream *s) {
  ssize_t n = stream_read(s, s->fd == r->master);
  if (n > 0) {
    writers_note(s); /* first, while they are still there */
    capture_append(&r->capture, s);
    return true;
  }
  /* EIO is how Linux says "the last writer closed the pty". It is the end, not a fault. */
  if (n == 0 || (errno != EAGAIN && errno != EINTR)) end_stream(r, s);
  return false;
}

/* The reader has left, so we close the stream as well. What the command wrote before it could
 * notice is kept. */
static void part(struct run *r, struct stream *s) {
  if (s->stamped) refuse_writers(s);
  for (size_t kept = 0; kept < PARTING_MAX && s->fd >= 0 && take(r, s); kept += s->filled)
    forward_some(s);
  stream_empty(s);
  end_stream(r, s);
}

static void pass_on(struct run *r, struct stream *s) {
  if (!forward_some(s)) part(r, s);
}

static void read_stream(struct run *r, struct stream *s) {
  uint64_t lost = r->capture.lost_total;
  if (!take(r, s)) return;
  pass_on(r, s);
  if (r->o->strict && r->capture.lost_total > lost && r->kill_step == 0)
    kill_begin(r, SIGTERM, r->o->grace_ms, BY_CAPTURE);
}

static void read_keyboard(struct run *r) {
  unsigned char keys[4096];
  if (!tty_ours(r)) return;
  ssize_t n = read(r->keyboard, keys, sizeof keys);
  if (n > 0) typed_add(r, keys, (size_t)n);
  else if (n == 0 || (errno != EAGAIN && errno != EINTR)) r->keyboard = -1;
}

static void write_input(struct run *r) {
  while (r->input >= 0 && r->typed_sent < r->typed_filled) {
    ssize_t n = write(r->input, r->typed + r->typed_sent, r->typed_filled - r->typed_sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) r->typed_sent = r->typed_filled; /* the command closed its stdin */
    else r->typed_sent += (size_t)n;
  }
  if (r->typed_end && r->input >= 0 && r->input != r->master) {
    close(r->input);
    r->input = -1;
  }
}

static bool streams_open(const struct run *r) {
  for (int i = 0; i < r->stream_count; i++)
    if (r->streams[i].fd >= 0 || r->streams[i].sent < r->streams[i].filled) return true;
  return false;
}

static bool unread(const struct stream *s) {
  return s->fd >= 0 && s->due > 0 && s->sent == s->filled;
}

/* Whether all that the shell wrote is on disk and passed on. We wait for a slow reader, as the
 * command itself would have: what the caller prints after us must not overtake it. */
static bool settled(const struct run *r) {
  for (int i = 0; i < r->stream_count; i++) {
    const struct stream *s = &r->streams[i];
    if (unread(s) || (s->sent < s->filled && !r->hurry)) return false;
  }
  return true;
}

/* The run lasts: now other processes can see its pids and give it orders. */
static void appear(struct run *r) {
  if (r->visible) return;
  r->visible = true;
  orders_open(r);
  record_started(r);
}

/* The shell is done and its output is on disk: reports that, and the survivors. */
static void answer(struct run *r) {
  static struct process left[PROCESSES_MAX];
  struct capture *c = &r->capture;
  bool open = streams_open(r) || r->children;
  int count = r->children ? survivors(r, left, PROCESSES_MAX) : 0;
  capture_flush_index(c);
  capture_retry_gap(c);
  if (count > 0) record_survivors(r, left, count);
  r->sync = r->sync || (r->o->sync && c->offset >= r->o->sync_from);
  if (r->sync) capture_sync(c);
  record_final(r, left, count, !open, 0, NULL);
  tty_leave(r);
  r->answered = true;
  r->hold_until = 0;
  r->late = !r->sync && !open;
  r->hold = !open; /* "ended" follows at once: one message */
  if (open) appear(r); /* before the message: the starter may send an order at once */
  if (WIFSIGNALED(r->status))
    say(r, "signaled %s %llu %d %s %llu %lld", signal_name(WTERMSIG(r->status)),
        (unsigned long long)c->offset, count, cause_name(r->cause),
        (unsigned long long)c->lost_total, (long long)r->took);
  else
    say(r, "exited %d %llu %d %s %llu %lld", WEXITSTATUS(r->status),
        (unsigned long long)c->offset, count, cause_name(r->cause),
        (unsigned long long)c->lost_total, (long long)r->took);
  if (!r->sync && open) capture_sync_late(c);
}

static void finish(struct run *r, bool rewrite) {
  capture_flush_index(&r->capture);
  capture_retry_gap(&r->capture);
  if (rewrite) {
    if (r->sync) capture_sync(&r->capture);
    record_final(r, NULL, 0, true, 0, NULL);
  }
  trace_end();
  if (r->orders >= 0) unlinkat(r->capture.dir, "control", 0);
  r->hold = false;
  say(r, "ended");
  r->ended = true;
}

static int wait_ms(struct run *r, int64_t now) {
  int64_t until = INT64_MAX;
  /* See whether more is waiting, else write the index; or let the pty end. */
  if (r->capture.length > 0 || (r->exited && r->slave >= 0)) return 0;
  for (int i = 0; i < r->stream_count; i++)
    if (unread(&r->streams[i])) return 0;
  /* After that time only a slow reader holds up the answer, and poll reports it. */
  bool draining = r->exited && !r->answered && r->kill_step == 0;
  if (draining && now < r->drain_until) until = r->drain_until;
  if (r->kill_at > 0 && !r->answered && r->kill_at < until) until = r->kill_at;
  if (r->kill_step > 0) {
    int64_t next = r->kill_step == 2 ? now + KILL_TICK_MS : r->kill_until;
    if (next < until) until = next;
  }
  if (r->capture.on && r->capture.unsynced > 0) {
    int64_t due = r->capture.unsynced_since + SYNC_MS;
    if (due <= now) due = now + 100; /* a sync is under way */
    if (due < until) until = due;
  }
  if (tty_waits(r) && r->front_at < until) until = r->front_at;
  if (r->hold_until > 0 && r->hold_until < until) until = r->hold_until;
  if (until == INT64_MAX) return -1;
  if (until <= now) return 0;
  return until - now > INT_MAX ? INT_MAX : (int)(until - now);
}

static void fill_poll(struct run *r, struct pollfd *p) {
  for (int i = 0; i < P_COUNT; i++) p[i] = (struct pollfd){.fd = -1};
  p[P_SIGNALS] = (struct pollfd){.fd = r->signals, .events = POLLIN};
  p[P_ORDERS] = (struct pollfd){.fd = r->orders, .events = POLLIN};
  p[P_CONTROL] = (struct pollfd){.fd = r->control, .events = r->listens ? POLLIN : 0};
  if (r->pending_length > 0 && !r->hold) p[P_CONTROL].events |= POLLOUT;
  if (r->starting && r->kill_step == 0)
    p[P_START] = (struct pollfd){.fd = launch_fd(), .events = POLLIN};
  if (r->typed_sent == r->typed_filled)
    p[P_KEYBOARD] = (struct pollfd){.fd = r->keyboard, .events = POLLIN};
  else
    p[P_INPUT] = (struct pollfd){.fd = r->input, .events = POLLOUT};
  for (int i = 0; i < r->stream_count; i++) {
    struct stream *s = &r->streams[i];
    if (s->sent < s->filled)
      p[P_FORWARD + i] = (struct pollfd){.fd = s->forward, .events = POLLOUT};
    else
      p[P_STREAM + i] = (struct pollfd){.fd = s->fd, .events = POLLIN};
  }
}

static void handle(struct run *r, struct pollfd *p) {
  /* Our own signals first: the starter may report the same ones (order_signal). */
  if (p[P_SIGNALS].revents || p[P_CONTROL].revents) read_signals(r);
  if (p[P_ORDERS].revents) orders_read(r, r->orders, r->order, &r->order_length);
  if (p[P_CONTROL].revents & POLLIN)
    orders_read(r, r->control, r->control_order, &r->control_order_length);
  if (p[P_CONTROL].revents & POLLOUT) say_pending(r);
  if (p[P_CONTROL].fd >= 0 && (r->control < 0 || (p[P_CONTROL].revents & (POLLHUP | POLLERR))))
    starter_gone(r);
  if (p[P_START].revents && r->kill_step == 0) start_over(r, 0);
  if (p[P_KEYBOARD].revents && r->keyboard >= 0) read_keyboard(r);
  write_input(r);
  for (int i = 0; i < r->stream_count; i++) {
    struct stream *s = &r->streams[i];
    if (p[P_FORWARD + i].revents) pass_on(r, s);
    if (p[P_STREAM + i].revents && s->fd >= 0) read_stream(r, s);
  }
}

static void deadline(struct run *r, int64_t now) {
  if (r->kill_at == 0 || now < r->kill_at || r->answered) return;
  r->kill_at = 0;
  r->hurry = true;
  if (!r->exited) kill_begin(r, SIGTERM, r->o->grace_ms, BY_TIMEOUT);
}

/* All processes of the run were killed, so a stream that is still open is held by another program,
 * for which we do not wait. */
static void drop_streams(struct run *r) {
  for (int i = 0; i < r->stream_count; i++) {
    struct stream *s = &r->streams[i];
    if (s->fd < 0 || s->due > 0 || s->sent < s->filled) continue;
    stream_empty(s);
    end_stream(r, s);
  }
}

/* A command that prints byte by byte wakes us for each byte, which costs both. If its streams are
 * left alone for a moment, bytes gather there; all other events still end the wait. */
static void let_gather(struct run *r, struct pollfd *p) {
  bool crumbs = false;
  for (int i = 0; i < r->stream_count; i++) {
    const struct stream *s = &r->streams[i];
    if (s->fd >= 0 && s->fd != r->master && s->crumbs >= CRUMBS_MANY) crumbs = true;
  }
  const struct timespec nap = {.tv_nsec = NAP_US * 1000};
  if (crumbs && !r->exited) ppoll(p, P_STREAM, &nap, NULL);
}

static void step(struct run *r) {
  struct pollfd p[P_COUNT];
  fill_poll(r, p);
  let_gather(r, p);
  int64_t now = now_ms();
  int ready = poll(p, P_COUNT, wait_ms(r, now));
  for (int i = 0; ready >= 0 && i < r->stream_count; i++)
    if (p[P_STREAM + i].fd >= 0 && p[P_STREAM + i].revents == 0) r->streams[i].due = 0;
  if (ready > 0) handle(r, p);
  now = now_ms();
  if (ready <= 0 || capture_index_wait(&r->capture, now) == 0) capture_flush_index(&r->capture);
  capture_sync_tick(&r->capture, now);
  if (r->hold_until > 0 && now >= r->hold_until) {
    appear(r);
    say_held(r);
  }
  if (tty_waits(r) && now >= r->front_at) {
    tty_raw(r);
    r->front_at = now + FRONT_MS;
  }
  deadline(r, now);
  if (kill_tick(r, now)) mark_due(r);
  if (r->starting && r->kill_step == 0 && r->cause != BY_ITSELF) start_over(r, ETIMEDOUT);
  if (!r->exited) return;
  /* All that was written before the end has been read: now the pty may end. */
  if (r->slave >= 0 && ready == 0) {
    close(r->slave);
    r->slave = -1;
  }
  if (r->killed_all) drop_streams(r);
  bool open = streams_open(r);
  bool was_answered = r->answered;
  if (!r->answered && r->kill_step == 0 && (!open || (now >= r->drain_until && settled(r))))
    answer(r);
  if (r->answered && !open && !r->children && r->kill_step == 0) finish(r, was_answered);
}

int run_main(struct options *o) {
  static struct run run;
  struct run *r = &run;
  const char *stage = "capture";
  r->o = o;
  r->sync = o->sync && o->sync_from == 0;
  r->signals = r->orders = r->keyboard = r->master = r->slave = r->input = -1;
  r->control = fcntl(3, F_SETFD, FD_CLOEXEC) == 0 ? 3 : -1;
  r->listens = !o->serve && (fcntl(3, F_GETFL) & O_ACCMODE) != O_WRONLY;
  if (!o->serve) r->inherited = inherited_files(r->inherit, INHERIT_MAX);
  /* Without a signalfd we would not notice the end of the command. */
  if (!take_signals(r)) return start_failed(r, errno, "signals");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  r->old_umask = umask(0077);
  int unrecorded = o->strict ? capture_open(&r->capture, o) : 0;
  if (unrecorded) return start_failed(r, unrecorded, stage);
  int error = spawn(r, &stage);
  /* The command is on its way meanwhile; what it prints waits in the pipe. */
  if (!o->strict) unrecorded = capture_open(&r->capture, o);
  trace_recorded(r);
  if (!error) tty_recorded(r);
  if (error) return start_failed(r, error, stage);
  if (unrecorded) say(r, "uncaptured %s", errno_name(unrecorded));
  r->children = true;
  if (o->kill_after_ms > 0) r->kill_at = now_ms() + o->kill_after_ms;
  /* A served run holds its messages for a moment, so that a short one wakes the server once. Its
   * pids and its FIFO are not needed so soon, unless it must be on disk before the answer. */
  if (o->serve) r->hold_until = now_ms() + HOLD_MS;
  r->hold = o->serve;
  if (!o->serve || r->sync || r->starting) appear(r);
  if (r->starting) say(r, "starting"); /* orders are taken from here on */
  else say_started(r);
  if (r->sync) capture_sync_begin(&r->capture);
  tty_raw(r); /* before a byte goes out: the terminal's answer to it must not be echoed */
  while (!r->ended) step(r);
  say_last(r);
  if (r->failed) return r->failed;
  if (!r->visible) record_started(r); /* too late for orders, not for the record */
  if (r->late && o->serve && r->capture.on && getppid() == o->server) return EXIT_UNSYNCED;
  if (r->late) capture_sync_late(&r->capture);
  return o->serve ? 0 : end_like(r->status);
}
