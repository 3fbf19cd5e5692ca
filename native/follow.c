/* Follows static programs by ptrace(2). The shim cannot be preloaded into them, so the runner
 * reports when they begin, fork and end. Their system calls are not traced.
 *
 * How a process comes to be followed. The command, if it is static, waits for us before its exec
 * (launch.c). Any other process has the shim in it, which sends the order `seize` when the program
 * is about to exec a static file, and waits. We attach with PTRACE_SEIZE, which does not stop it,
 * answer, and PTRACE_INTERRUPT it so that it wakes. What a followed process forks is attached by
 * the kernel (PTRACE_O_TRACEFORK and its siblings).
 *
 * How it ends. At every exec we look at the new program (begin_program). With a static one we stay.
 * One with a loader gets the shim (inject.c) and is let go. We also let go of programs that want to
 * use ptrace themselves, because a process has one tracer. Ends are heard through waitpid, as with
 * any child (reap.c).
 *
 * The order that the shim sends names ADDRESS, an aligned 64-bit word in the process, with 0 in its
 * lower half and a COOKIE in the upper one. We write the answer into the lower half: 1 followed, 2
 * refused. A shim that has waited too long goes on without us. Then another program may own that
 * memory, so we look for the cookie first, and write nothing where it is missing.
 *
 * The stops of a followed process, as waitpid reports them (status >> 16 is the event). Each is
 * answered by follow_stopped, which never waits for the next:
 *
 *   no event, SIGNAL             a signal is about to be delivered: go on with that signal
 *   EVENT_FORK, VFORK, CLONE     in the parent: go on; the child stops by itself
 *   EVENT_STOP, SIGTRAP          a child's first stop (its pid is unknown: meet it), or ours by
 *                                PTRACE_INTERRUPT: go on, or let go if it is `leaving`
 *   EVENT_STOP, a stop signal    job control stopped it: PTRACE_LISTEN keeps it stopped and tells
 *                                us when SIGCONT ends that, as if we were not there
 *   EVENT_EXEC                   a new program, before its first instruction: stay or let go
 *
 * The state of a process is its entry in `followed` (struct known):
 *
 *   thread    of a process that is followed: its end is not reported
 *   late      it was attached, but did not wait any more. It may have begun its program before we
 *             came, so the program that it is now is looked at with its next stop
 *   leaving   it is let go with its next stop that is not one of job control
 *
 * Nothing here may stop a command. If a process cannot be attached, it runs unfollowed. If there is
 * no memory for an entry, it is let go at its first stop. If we are killed, the kernel detaches all
 * of them and they run on. */
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
static bool may_trace_all(void) {
  struct {
    uint32_t version;
    int pid;
  } head = {.version = 0x20080522, .pid = 0};
  struct {
    uint32_t effective, permitted, inheritable;
  } sets[2] = {{0}};
  return syscall(SYS_capget, &head, sets) == 0 && (sets[0].effective & (1u << 19)) != 0;
}

/* execve(2) gives a traced process no set-user-ID privileges, unless the tracer has
 * CAP_SYS_PTRACE. That would change what a command does. Under no_new_privs there are no such
 * privileges to lose. */
bool follow_possible(void) {
  char scope[8] = "";
  bool all = may_trace_all();
  if (!all && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return false;
  /* Yama: 3 forbids ptrace to all processes, 2 to those without the capability. */
  read_file("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope);
  if (*scope == '3' || (*scope == '2' && !all)) return false;
  /* No process has this pid: the kernel says ESRCH. A seccomp filter would say something else. */
  return ask(PTRACE_SEIZE, INT_MAX, 0) != 0 && errno == ESRCH;
}

bool follow_any(void) { return followed.count > 0; }

/* From now on this process and its children stop at EVENTS. False if it cannot be attached. */
bool follow_seize(pid_t pid) {
  if (ask(PTRACE_SEIZE, pid, EVENTS) != 0) return false;
  if (pids_add(&followed, pid) != NULL) return true;
  ask(PTRACE_INTERRUPT, pid, 0); /* no memory for an entry: follow_stopped lets go of it */
  return false;
}

/* --- orders */

/* Whether the cookie is still there, and no answer. */
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

/* The process that sent an order. In a pid namespace of its own it gives another pid than the one
 * by which we know it: then the cookie tells it from the others. */
static pid_t find_asker(pid_t said, uint64_t address, uint32_t cookie) {
  static struct process list[PROCESSES_MAX];
  if (is_descendant(said) && waits_at(said, address, cookie)) return said;
  int count = descendants(getpid(), list, PROCESSES_MAX);
  for (int i = 0; i < count; i++)
    if (inner_pid(list[i].pid) == said && waits_at(list[i].pid, address, cookie))
      return list[i].pid;
  return is_descendant(said) ? said : 0;
}

/* `seize PID ADDRESS COOKIE`: a static program is about to start there. */
void follow_order(const char *rest) {
  int said;
  unsigned long long address;
  unsigned cookie;
  if (sscanf(rest, "%d %llu %u", &said, &address, &cookie) != 3 || cookie == 0) return;
  if (said < 1 || address % 8 != 0 || !trace_follows()) return;
  pid_t pid = find_asker(said, address, cookie);
  if (pid == 0) return;
  if (pids_find(&followed, pid) != NULL || !follow_seize(pid)) {
    reply(pid, address, cookie, REFUSED); /* another process traces it */
    return;
  }
  /* The static program gets this environment, and may pass a secret on without its variable. */
  struct words env;
  environment_of(pid, &env);
  secrets_learn(&env);
  pids_find(&followed, pid)->late = !reply(pid, address, cookie, FOLLOWED);
  /* It sleeps in a private futex, which no other process can wake. A stop ends the sleep. */
  ask(PTRACE_INTERRUPT, pid, 0);
}

/* Reports START of a process in a pid namespace of its own, once. Gives its parent, or 0. */
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

/* `meet PID ADDRESS COOKIE`: a process in a pid namespace of its own. It reports itself with the
 * pid that it has there; the kernel stamps its bytes with the one that it has here. Our START frame
 * names both. The process waits for it, because it may end a moment later, and then /proc no longer
 * knows. The first process of a namespace may have been cloned by a direct system call (bwrap),
 * which the shim does not see, so we report that one when its child sends the order. */
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

/* `release PID`: its exec has failed, so it is still the program that has the shim. */
void follow_release(const char *rest) {
  int pid = 0;
  struct known *k = sscanf(rest, "%d", &pid) == 1 ? pids_find(&followed, pid) : NULL;
  if (k == NULL) return;
  k->leaving = true;
  ask(PTRACE_INTERRUPT, pid, 0);
}

/* --- programs */

/* Static programs that use ptrace in ways that traces_others does not find in their code. */
static bool better_alone(const char *exe) {
  static const char *const NAMES[] = {"dlv", "rr", "runsc", "gdbserver", "strace", "gdb"};
  const char *name = strrchr(exe, '/');
  name = name == NULL ? exe : name + 1;
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (strcmp(name, NAMES[i]) == 0) return true;
  return false;
}

/* `ld.so PROGRAM`: the loader itself has no loader, and preloads the shim nevertheless. */
static bool is_loader(const char *exe) {
  static const char *const STARTS[] = {"ld-", "ld.so", "ld64.so", "libc.so"};
  const char *name = strrchr(exe, '/');
  name = name == NULL ? exe : name + 1;
  for (size_t i = 0; i < sizeof STARTS / sizeof *STARTS; i++)
    if (strncmp(name, STARTS[i], strlen(STARTS[i])) == 0) return true;
  return false;
}

/* The program that a process is now. */
struct kind {
  bool is_static; /* no shim can be loaded into it */
  bool stay;      /* and it is one to follow */
  bool asan;      /* its address sanitizer refuses to start behind another preloaded library */
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

/* Reports the program that a process is now; whether we stay with it. At its first instruction a
 * program with a loader gets the shim, and then reports itself. If it cannot have the shim, we
 * report at least that it began, and ask the gate in its place. */
static bool begin_program(pid_t pid, bool first_step) {
  uint64_t ticks;
  struct kind kind = kind_of(pid);
  struct gate_line why;
  bool reports = first_step && !kind.stay && !kind.asan && inject(pid);
  bool refused = first_step && !reports && gate_refuses(pid, &why);
  const int left = kind.stay ? 0 : TRACE_LEFT;
  if (kind.is_static) facts_start(pid, FROM_PTRACE | TRACE_STATIC | left, &ticks);
  else if (first_step && !reports) facts_start(pid, FROM_PTRACE, &ticks);
  if (refused) gate_end(pid, &why);
  return kind.stay && !refused;
}

/* --- stops */

static void let_go(pid_t pid, int signal) {
  pids_remove(&followed, pid);
  ask(PTRACE_DETACH, pid, signal);
}

/* The first stop of a new process or thread. A process leaves if its program is not one to follow:
 * its parent was attached before an exec that has not happened yet. False without memory. */
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

/* After an exec by one of several threads, only that thread is left, and it has the pid of the
 * process; the event's message is the thread id that it had. Whether we stay. */
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
  bool stays = event == PTRACE_EVENT_STOP && is_stop_signal(signal);
  ask(stays ? PTRACE_LISTEN : PTRACE_CONT, pid, 0);
}

/* Answers a stop that waitpid reported. False if job control has stopped the process: that is news
 * for the loop as well, if it is the command. */
bool follow_stopped(pid_t pid, int status) {
  int event = status >> 16, signal = WSTOPSIG(status);
  if (!trace_follows()) return false;
  struct known *k = pids_find(&followed, pid);
  /* An unknown pid. With an event it is a new child of a followed process. Without one it is our
   * own child, which job control has stopped and PTRACE_CONT fails for, or a process for which
   * there was no memory. */
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

/* Answers the stops of the command until its program has begun. If it ends before, the exit status
 * is left for the loop (WNOWAIT). */
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

/* About to be reaped. A thread that ended before its first stop was reported gets an entry, so that
 * its end is not taken for that of a process. */
void follow_ending(pid_t pid) {
  if (pids_find(&followed, pid) != NULL || !is_thread(pid)) return;
  struct known *k = pids_add(&followed, pid);
  if (k != NULL) k->thread = true;
}

/* Who reports this end: FROM_PTRACE for a followed process, FROM_RUNNER for one that is not, or -1
 * for a thread, whose end is not reported. */
int follow_ended(pid_t pid) {
  struct known *k = pids_find(&followed, pid);
  if (k == NULL) return FROM_RUNNER;
  bool thread = k->thread;
  pids_remove(&followed, pid);
  return thread ? -1 : FROM_PTRACE;
}
