/* system and popen in a process with several threads. Those of the libc use the environment of the
 * process, which all threads see; here the shell is started with an environment of its own. The
 * rest is as in glibc: the same arguments, signals, cancellation and descriptors. */
#include "interpose.h"
#include "shell.h"

#ifdef __linux__

#ifdef __x86_64__
enum { SYS_rt_sigaction = 13, SYS_kill = 62, SYS_pipe2 = 293 };
#else
enum { SYS_pipe2 = 59, SYS_kill = 129, SYS_rt_sigaction = 134 };
#endif
enum { SIGINT = 2, SIGQUIT = 3, SIGKILL = 9, SIGCHLD = 17 };
enum { F_SETFD = 2, F_DUPFD_CLOEXEC = 1030 };
enum { SPAWN_SETSIGDEF = 4, SPAWN_SETSIGMASK = 8, NO_SHELL = 127 << 8, REFUSED = GATE_EXIT << 8 };

struct opaque { /* attributes and actions of posix_spawn, in every libc */
  uint64_t words[64];
};
struct signal_set {
  uint64_t words[16];
};
struct action { /* as the kernel has it */
  uintptr_t handler;
  unsigned long flags;
  void *restorer;
  uint64_t mask;
};

/* Looked up when a thread calls system or popen. As imports, each would cost every process a search
 * by the loader. */
WEAK extern int posix_spawnattr_init(struct opaque *attributes);
WEAK extern int posix_spawnattr_destroy(struct opaque *attributes);
WEAK extern int posix_spawnattr_setsigmask(struct opaque *attributes, const struct signal_set *set);
WEAK extern int posix_spawnattr_setsigdefault(struct opaque *attributes,
                                              const struct signal_set *set);
WEAK extern int posix_spawnattr_setflags(struct opaque *attributes, short flags);
WEAK extern int posix_spawn_file_actions_init(struct opaque *actions);
WEAK extern int posix_spawn_file_actions_destroy(struct opaque *actions);
WEAK extern int posix_spawn_file_actions_adddup2(struct opaque *actions, int from, int to);
WEAK extern int posix_spawn_file_actions_addclose(struct opaque *actions, int fd);
WEAK extern void *fdopen(int fd, const char *mode);
WEAK extern int fclose(void *file);
WEAK extern int fileno(void *file);
WEAK extern const char *gnu_get_libc_version(void);
extern int waitpid(int pid, int *status, int options);

/* Only in glibc, which says whether a process has several threads. */
int shell_is_ours(void) {
  return gnu_get_libc_version && shim_several_threads() &&
         ORIGINAL(posix_spawnattr_setsigdefault) != NULL &&
         ORIGINAL(posix_spawn_file_actions_addclose) != NULL && ORIGINAL(fclose) != NULL &&
         ORIGINAL(fileno) != NULL;
}

/* Since 2.38 a command that begins with a dash is no option. */
static int has_dashes(void) {
  const char *version = gnu_get_libc_version();
  int minor = 0;
  if (version[0] != '2' || version[1] != '.') return 1;
  for (version += 2; *version >= '0' && *version <= '9'; version++)
    minor = minor * 10 + (*version - '0');
  return minor >= 38;
}

static NOINLINE int start_shell(const char *command, const void *actions, const void *attributes,
                                int *pid) {
  char *text = (char *)(uintptr_t)command;
  char *const plain[] = {"sh", "-c", text, NULL}, *const dashes[] = {"sh", "-c", "--", text, NULL};
  return spawn_shell(has_dashes() ? dashes : plain, actions, attributes, pid);
}

/* --- system: the parent ignores SIGINT and SIGQUIT while any thread is in it */

static struct {
  int taken, users;
  struct action interrupt, quit;
} ignoring;

static void take(void) {
  while (__atomic_exchange_n(&ignoring.taken, 1, __ATOMIC_ACQUIRE)) SYS0(SYS_sched_yield);
}

static void give(void) { __atomic_store_n(&ignoring.taken, 0, __ATOMIC_RELEASE); }

void shell_forked(void) {
  ignoring.taken = ignoring.users = 0;
}

static void ignore_begin(void) {
  struct action ignore = {.handler = 1};
  take();
  if (ignoring.users++ == 0) {
    SYS4(SYS_rt_sigaction, SIGINT, &ignore, &ignoring.interrupt, 8);
    SYS4(SYS_rt_sigaction, SIGQUIT, &ignore, &ignoring.quit, 8);
  }
  give();
}

static void ignore_end(void) {
  take();
  if (--ignoring.users == 0) {
    SYS4(SYS_rt_sigaction, SIGINT, &ignoring.interrupt, 0, 8);
    SYS4(SYS_rt_sigaction, SIGQUIT, &ignoring.quit, 0, 8);
  }
  give();
}

static uint64_t bit(int signal) { return 1ull << (signal - 1); }

static NOINLINE int start_for_system(const char *command, uint64_t mask, int *pid) {
  struct opaque attributes;
  struct signal_set before = {{mask}}, reset = {{0}};
  if (ignoring.interrupt.handler != 1) reset.words[0] |= bit(SIGINT);
  if (ignoring.quit.handler != 1) reset.words[0] |= bit(SIGQUIT);
  ORIGINAL(posix_spawnattr_init)(&attributes);
  ORIGINAL(posix_spawnattr_setsigmask)(&attributes, &before);
  ORIGINAL(posix_spawnattr_setsigdefault)(&attributes, &reset);
  ORIGINAL(posix_spawnattr_setflags)(&attributes, SPAWN_SETSIGDEF | SPAWN_SETSIGMASK);
  int error = start_shell(command, NULL, &attributes, pid);
  ORIGINAL(posix_spawnattr_destroy)(&attributes);
  return error;
}

/* A thread that is cancelled while it waits: its shell goes, too. */
static void cancelled(void *pid) {
  SYS2(SYS_kill, *(int *)pid, SIGKILL);
  while (SYS4(SYS_wait4, *(int *)pid, 0, 0, 0) == -EINTR) {
  }
  ignore_end();
}

static int wait_for(int pid) {
  struct cleanup cleanup;
  int status = 0, ended, pushed = cleanup_push(&cleanup, cancelled, &pid);
  do ended = waitpid(pid, &status, 0);
  while (ended == -1 && shim_errno() == EINTR);
  if (pushed) cleanup_pop(&cleanup);
  return ended == pid ? status : -1;
}

int shell_system(const char *command) {
  uint64_t child = bit(SIGCHLD), mask = 0, all;
  int pid = 0, status, errno_before = shim_errno();
  shim_flush();
  sys_block_signals(&all); /* a handler that calls system itself would wait for us */
  ignore_begin();
  sys_restore_signals(&all);
  SYS4(SYS_rt_sigprocmask, 0, &child, &mask, 8);
  int error = start_for_system(command, mask, &pid);
  if (error == 0) status = wait_for(pid);
  else status = error == EACCES && (shim.flags & TRACE_GATED) ? REFUSED : NO_SHELL;
  int errno_then = error != 0 ? error : status == -1 ? shim_errno() : errno_before;
  sys_block_signals(&all);
  ignore_end();
  SYS4(SYS_rt_sigprocmask, 2, &mask, 0, 8);
  shim_set_errno(errno_then);
  return status;
}

/* --- popen: the new shell must not have the streams of earlier ones */

static int close_others(struct opaque *actions, int child_fd) {
  for (int i = 0; i < STREAMS_MAX; i++) {
    void *stream = shell_stream_at(i);
    int fd = stream == NULL ? -1 : ORIGINAL(fileno)(stream);
    if (fd < 0 || fd == child_fd) continue;
    if (ORIGINAL(posix_spawn_file_actions_addclose)(actions, fd) != 0) return 0;
  }
  return 1;
}

static NOINLINE int start_for_popen(const char *command, int end, int child_fd, int *pid) {
  struct opaque actions;
  ORIGINAL(posix_spawn_file_actions_init)(&actions);
  int ready = ORIGINAL(posix_spawn_file_actions_adddup2)(&actions, end, child_fd) == 0 &&
              close_others(&actions, child_fd);
  int error = ready ? start_shell(command, &actions, NULL, pid) : ENOMEM;
  ORIGINAL(posix_spawn_file_actions_destroy)(&actions);
  return error;
}

/* pclose finds the process to wait for in that list. */
static int have_place(void) {
  for (int i = 0; i < STREAMS_MAX / 2; i++)
    if (shell_stream_at(i) == NULL) return 1;
  return 0;
}

/* -1 when it is none that popen takes. */
static int reads(const char *mode, int *closes) {
  int read = 0, write = 0;
  for (*closes = 0; *mode != 0; mode++) {
    if (*mode == 'r') read = 1;
    else if (*mode == 'w') write = 1;
    else if (*mode == 'e') *closes = 1;
    else return -1;
  }
  return read == write ? -1 : read;
}

void *shell_popen(const char *command, const char *mode) {
  int ends[2], closes, pid = 0, read = reads(mode, &closes), errno_before = shim_errno();
  if (read < 0 || !have_place() || SYS2(SYS_pipe2, ends, O_CLOEXEC) < 0) return NULL;
  int own = ends[!read], child_end = ends[read], child_fd = read;
  if (child_end == child_fd) { /* else it would be closed on exec */
    child_end = (int)sys_fcntl(child_end, F_DUPFD_CLOEXEC, 0);
    sys_close(child_fd);
  }
  shim_flush();
  uint64_t since_ns = sys_now_ns();
  int error = child_end < 0 ? -child_end : start_for_popen(command, child_end, child_fd, &pid);
  if (child_end >= 0) sys_close(child_end);
  void *stream = error == 0 ? fdopen(own, read ? "r" : "w") : NULL;
  if (stream == NULL) {
    sys_close(own);
    return NULL;
  }
  if (!closes) sys_fcntl(own, F_SETFD, 0);
  shell_stream_add(stream, since_ns, pid);
  shim_set_errno(errno_before);
  return stream;
}

int shell_pclose(void *stream, int pid) {
  int status = 0, ended;
  ORIGINAL(fclose)(stream);
  do ended = waitpid(pid, &status, 0);
  while (ended == -1 && shim_errno() == EINTR);
  return ended == pid ? status : -1;
}

#endif
