/* Static programs load no shim, so the runner follows them itself, by ptrace and only for their
 * beginnings and ends: it is asked to (`seize`) just before such a program starts, stays with it
 * and with what it forks, and lets go of each at the first program that has a loader. Nothing here
 * waits: every stop is answered when the loop hears of it. Signals are passed on, stops of job
 * control last as long as without us, and whoever kills the runner lets everybody go on.
 *
 * A process that asks waits at ADDRESS, an aligned 64-bit word of which the lower half is 0 and the
 * upper half the COOKIE it told. The answer goes into the lower half: 1 followed, 2 refused. Who
 * waited too long has begun another program, and what lies there now is not to be touched. */
#include "runner.h"
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS \
  (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)
#define FOLLOWED 1u
#define REFUSED 2u

static struct pid_map followed;

static long ask(int request, pid_t pid, long data) {
  return ptrace(request, pid, (void *)0, (void *)data);
}

/* CAP_SYS_PTRACE; the header for it is not everywhere. */
static bool may_trace_anybody(void) {
  struct {
    uint32_t version;
    int pid;
  } head = {.version = 0x20080522, .pid = 0};
  struct {
    uint32_t effective, permitted, inheritable;
  } sets[2] = {{0}};
  return syscall(SYS_capget, &head, sets) == 0 && (sets[0].effective & (1u << 19)) != 0;
}

/* A setuid program that somebody follows starts without its privileges, unless the follower may
 * trace anybody, or there are no privileges to be had in the first place. */
bool follow_possible(void) {
  char scope[8] = "";
  bool anybody = may_trace_anybody();
  if (!anybody && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return false;
  /* 3 forbids it for good, 2 without the capability. */
  read_file("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope);
  if (*scope == '3' || (*scope == '2' && !anybody)) return false;
  /* Nobody has this pid. A filter of system calls would say something else about it. */
  return ask(PTRACE_SEIZE, INT_MAX, 0) != 0 && errno == ESRCH;
}

bool follow_any(void) { return followed.count > 0; }

/* From now on it and what it forks stop where we want to know of it. */
bool follow_seize(pid_t pid) {
  if (ask(PTRACE_SEIZE, pid, EVENTS) != 0) return false;
  if (pids_add(&followed, pid) != NULL) return true;
  ask(PTRACE_INTERRUPT, pid, 0); /* no memory: its first stop is that of a stranger, and the last */
  return false;
}

/* --- orders */

static bool waits_at(pid_t pid, uint64_t address, uint32_t cookie) {
  char path[64];
  uint64_t word = 0;
  snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool waits = pread(fd, &word, sizeof word, (off_t)address) == (ssize_t)sizeof word &&
               word == (uint64_t)cookie << 32;
  close(fd);
  return waits;
}

/* False when it does not wait there any more. */
static bool reply(pid_t pid, uint64_t address, uint32_t cookie, uint32_t answer) {
  char path[64];
  if (!waits_at(pid, address, cookie)) return false;
  snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : pwrite(fd, &answer, sizeof answer, (off_t)address);
  if (fd >= 0) close(fd);
  return n == (ssize_t)sizeof answer;
}

/* In a pid namespace of its own it knows itself by another pid than we do. */
static pid_t find_asker(pid_t said, uint64_t address, uint32_t cookie) {
  static struct process list[PROCESSES_MAX];
  if (is_descendant(said) && waits_at(said, address, cookie)) return said;
  int count = descendants(getpid(), list, PROCESSES_MAX);
  for (int i = 0; i < count; i++)
    if (inner_pid(list[i].pid) == said && waits_at(list[i].pid, address, cookie))
      return list[i].pid;
  return is_descendant(said) ? said : 0;
}

void follow_order(const char *rest) {
  int said;
  unsigned long long address;
  unsigned cookie;
  if (sscanf(rest, "%d %llu %u", &said, &address, &cookie) != 3 || cookie == 0) return;
  if (said < 1 || address % 8 != 0 || !trace_follows()) return;
  pid_t pid = find_asker(said, address, cookie);
  if (pid == 0) return;
  if (pids_find(&followed, pid) != NULL || !follow_seize(pid)) {
    reply(pid, address, cookie, REFUSED); /* somebody else traces it */
    return;
  }
  struct words env; /* it may hand on a value without its variable */
  environment_of(pid, &env);
  secrets_learn(&env);
  pids_find(&followed, pid)->late = !reply(pid, address, cookie, FOLLOWED);
  ask(PTRACE_INTERRUPT, pid, 0); /* nobody can wake it from outside, but a stop does */
}

/* START of a process in a namespace of its own, once; 0 or who started it. */
static pid_t tell_inner(pid_t pid) {
  static struct pid_map told;
  char state;
  pid_t parent;
  unsigned long long start;
  uint64_t ticks;
  if (!process_stat(pid, &state, &parent, &start)) return 0;
  struct known *k = pids_add(&told, pid);
  if (k == NULL || k->start != start) facts_start(pid, FROM_PROC, &ticks);
  if (k != NULL) k->start = start;
  return parent;
}

/* Where it counts pids for itself, nobody knows its bytes by the pid that it reports, unless we say
 * which one it has here. It waits for that, because it may be gone a moment later. The first of a
 * namespace may have been cloned past its libc (bwrap), and does not ask. */
void follow_meet(const char *rest) {
  int said;
  unsigned long long address;
  unsigned cookie;
  if (sscanf(rest, "%d %llu %u", &said, &address, &cookie) != 3 || said < 1 || cookie == 0) return;
  pid_t pid = find_asker(said, address, cookie);
  if (pid == 0 || !waits_at(pid, address, cookie)) return;
  pid_t parent = tell_inner(pid);
  if (parent > 0 && inner_pid(parent) == 1 && is_descendant(parent)) tell_inner(parent);
  reply(pid, address, cookie, FOLLOWED);
}

/* Its program could not be started after all, so it is what it was. */
void follow_release(const char *rest) {
  int pid = 0;
  struct known *k = sscanf(rest, "%d", &pid) == 1 ? pids_find(&followed, pid) : NULL;
  if (k == NULL) return;
  k->leaving = true;
  ask(PTRACE_INTERRUPT, pid, 0);
}

/* --- stops */

static void let_go(pid_t pid, int signal) {
  pids_remove(&followed, pid);
  ask(PTRACE_DETACH, pid, signal);
}

/* Names of those that want to trace what they start, and could not if we did, in ways that do not
 * show in their code; and of loaders, which have no loader and load the shim all the same. */
static bool better_alone(const char *exe) {
  static const char *const NAMES[] = {"dlv", "rr", "runsc", "gdbserver", "strace", "gdb"};
  const char *name = strrchr(exe, '/');
  name = name == NULL ? exe : name + 1;
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (strcmp(name, NAMES[i]) == 0) return true;
  return false;
}

static bool is_loader(const char *exe) {
  static const char *const STARTS[] = {"ld-", "ld.so", "ld64.so", "libc.so"};
  const char *name = strrchr(exe, '/');
  name = name == NULL ? exe : name + 1;
  for (size_t i = 0; i < sizeof STARTS / sizeof *STARTS; i++)
    if (strncmp(name, STARTS[i], strlen(STARTS[i])) == 0) return true;
  return false;
}

/* What the process is now: a program where no shim can be, and whether to stay with it. */
struct kind {
  bool is_static, stay, asan;
};

static struct kind kind_of(pid_t pid) {
  char path[64], exe[PATH_MAX];
  struct kind kind = {false, false, false};
  snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
  ssize_t n = readlink(path, exe, sizeof exe - 1);
  exe[n > 0 ? n : 0] = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return kind;
  kind.is_static = static_program(fd) && !is_loader(exe);
  kind.stay = kind.is_static && !better_alone(exe) && !traces_others(fd);
  kind.asan = !kind.is_static && linked_with_asan(fd);
  close(fd);
  return kind;
}

/* Whether we stay with the program that it is now. At its first step those that we leave get the
 * shim; who cannot have it is told about, at least that it began. */
static bool begin_program(pid_t pid, bool first_step) {
  uint64_t ticks;
  struct kind kind = kind_of(pid);
  struct gate_line why;
  bool reports = first_step && !kind.stay && !kind.asan && inject(pid);
  bool refused = first_step && !reports && gate_refuses(pid, &why);
  if (kind.is_static) facts_start(pid, FROM_PTRACE | TRACE_STATIC, &ticks);
  else if (first_step && !reports) facts_start(pid, FROM_PTRACE, &ticks);
  if (refused) gate_end(pid, &why);
  return kind.stay && !refused;
}

/* Somebody was forked. What is no program to stay with, because its parent could not start one,
 * goes at its first stop. */
static bool meet(pid_t pid) {
  struct known *k = pids_add(&followed, pid);
  if (k == NULL) return false;
  k->thread = !facts_fork(pid);
  k->leaving = !k->thread && !kind_of(pid).stay;
  return true;
}

static bool is_stop_signal(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Of several threads the one that did it goes on, under the name of the first. */
static bool at_exec(pid_t pid) {
  unsigned long former = 0;
  ptrace(PTRACE_GETEVENTMSG, pid, (void *)0, &former);
  if ((pid_t)former != pid) pids_remove(&followed, (pid_t)former);
  struct known *k = pids_add(&followed, pid);
  if (k == NULL) return false;
  *k = (struct known){.pid = pid};
  return begin_program(pid, true);
}

static void at_event(pid_t pid, int event, int signal) {
  if (event == PTRACE_EVENT_EXEC && !at_exec(pid)) {
    let_go(pid, 0);
    return;
  }
  /* Of a birth the child tells by a stop of its own. In a stop of job control it stays, and hears
   * of the end of that stop. */
  bool stays = event == PTRACE_EVENT_STOP && is_stop_signal(signal);
  ask(stays ? PTRACE_LISTEN : PTRACE_CONT, pid, 0);
}

/* A stop that waitpid told of. False when it is one of job control for whoever asks about this
 * process: a child of ours that is not followed, or one that is and stays stopped. */
bool follow_stopped(pid_t pid, int status) {
  int event = status >> 16, signal = WSTOPSIG(status);
  if (!trace_follows()) return false;
  struct known *k = pids_find(&followed, pid);
  /* A stranger with an event was born a moment ago. */
  if (k == NULL && event == 0) return ask(PTRACE_CONT, pid, signal) == 0;
  if (k == NULL && !meet(pid)) {
    let_go(pid, 0);
    return true;
  }
  k = pids_find(&followed, pid);
  if (k->late && event != PTRACE_EVENT_EXEC) k->leaving = !begin_program(pid, false);
  k->late = false;
  if (k->leaving && !is_stop_signal(signal)) {
    let_go(pid, event == 0 ? signal : 0);
    return true;
  }
  if (event == 0) {
    ask(PTRACE_CONT, pid, signal);
    return true;
  }
  at_event(pid, event, signal);
  return !(event == PTRACE_EVENT_STOP && is_stop_signal(signal));
}

/* The command: until its program has begun, or it has ended, which the loop is still to hear. */
void follow_first(pid_t pid) {
  for (;;) {
    siginfo_t info = {.si_pid = 0};
    int status = 0;
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) != 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) return;
    if (waitpid(pid, &status, WUNTRACED | __WALL) != pid) return;
    follow_stopped(pid, status);
    if (status >> 16 == PTRACE_EVENT_EXEC) return;
  }
}

/* Threads that ended before we ever heard of them are threads all the same. */
void follow_ending(pid_t pid) {
  if (pids_find(&followed, pid) != NULL || !is_thread(pid)) return;
  struct known *k = pids_add(&followed, pid);
  if (k != NULL) k->thread = true;
}

/* A followed process has ended: whether it is one to tell about (FROM_PTRACE), a thread (-1), or
 * nobody we follow (FROM_RUNNER). */
int follow_ended(pid_t pid) {
  struct known *k = pids_find(&followed, pid);
  if (k == NULL) return FROM_RUNNER;
  bool thread = k->thread;
  pids_remove(&followed, pid);
  return thread ? -1 : FROM_PTRACE;
}
