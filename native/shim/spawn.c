/* Starting another program: posix_spawn, and system and popen, which spawn inside the libc with the
 * environment of the process. For these two, environ points to the child's environment during the
 * call (environ.c). Where the libc knows of other threads, which would see that, shell.c starts the
 * shell instead. */
#include "interpose.h"
#include "shell.h"

extern int posix_spawn(int *pid, const char *file, const void *actions, const void *attributes,
                       char *const argv[], char *const env[]);
extern int posix_spawnp(int *pid, const char *file, const void *actions, const void *attributes,
                        char *const argv[], char *const env[]);
extern int system(const char *command);
extern void *popen(const char *command, const char *mode);
extern int pclose(void *stream);

typedef int (*spawn_function)(int *, const char *, const void *, const void *, char *const *,
                              char *const *);

struct spawn_call {
  struct exec_call exec;
  int *pid;
  const void *actions, *attributes;
  spawn_function spawn;
};

static NOINLINE int call_spawn(const struct spawn_call *call, const struct child_facts *about,
                               int *started) {
  char *words[CHILD_WORDS];
  struct child_env child;
  child_env_make(&child, words, call->exec.env, about);
  int refused = exec_refused(&call->exec, about->facts, &child);
  int error = refused ? EACCES
                      : call->spawn(started, call->exec.target.file, call->actions,
                                    call->attributes, call->exec.argv, child.env);
  /* Without our variables it may fit (execve(2): E2BIG). */
  if (error == E2BIG && child.env != call->exec.env && !gate_refuses_start(&call->exec))
    error = call->spawn(started, call->exec.target.file, call->actions, call->attributes,
                        call->exec.argv, call->exec.env);
  int number = shim_errno();
  child_env_drop(&child);
  shim_set_errno(number);
  return error;
}

static NOINLINE int run_spawn(const struct spawn_call *call) {
  char told[TOLD_BYTES];
  const struct exec_call *exec = &call->exec;
  int started = 0;
  child_env_reclaim();
  exec_tell_secrets(exec, told, sizeof told);
  struct child_facts about = {target_look(&exec->target, exec->argv), 0, told};
  int error = call_spawn(call, &about, &started);
  int number = shim_errno();
  if (error == 0 && call->pid != NULL) *call->pid = started;
  exec_say_spawn(exec, about.facts, error == 0 ? (uint32_t)started : 0, error);
  shim_set_errno(number);
  return error;
}

#define SPAWN(name, along_path)                                                               \
  spawn_function original = ORIGINAL(name);                                                   \
  if (original == NULL) return ENOSYS;                                                        \
  if (!shim_may_speak()) return original(pid, file, actions, attributes, argv, env);          \
  struct spawn_call call = {.pid = pid, .actions = actions, .attributes = attributes};        \
  call.exec = (struct exec_call){                                                             \
      .target = {AT_FDCWD, file, along_path}, .argv = argv, .env = env};                      \
  call.spawn = original;                                                                      \
  if (!exec_readable(&call.exec))                                                             \
    return original(pid, file, actions, attributes, argv, env);                               \
  return run_spawn(&call)

HOOK(int, posix_spawn,
     (int *pid, const char *file, const void *actions, const void *attributes, char *const argv[],
      char *const env[])) {
  SPAWN(posix_spawn, 0);
}

HOOK(int, posix_spawnp,
     (int *pid, const char *file, const void *actions, const void *attributes, char *const argv[],
      char *const env[])) {
  SPAWN(posix_spawnp, 1);
}

/* --- system and popen */

#ifdef __linux__
int spawn_shell(char *const *words, const void *actions, const void *attributes, int *pid) {
  struct spawn_call call = {.pid = pid, .actions = actions, .attributes = attributes};
  call.exec = (struct exec_call){
      .target = {AT_FDCWD, "/bin/sh", 0}, .argv = words, .env = env_now()};
  call.spawn = ORIGINAL(posix_spawn);
  return call.spawn == NULL ? ENOSYS : run_spawn(&call);
}

/* Whether shell.c is to do it. */
static int is_ours(const char *command) {
  return command != NULL && shell_is_ours() && shim_may_speak() && shim_own_process() &&
         text_readable(command);
}
#else
static int is_ours(const char *command) { return (void)command, 0; }
int shell_system(const char *command) { return (void)command, -1; }
void *shell_popen(const char *command, const char *mode) { return (void)command, (void)mode, NULL; }
int shell_pclose(void *stream, int pid) { return (void)stream, (void)pid, -1; }
void shell_forked(void) {}
#endif

/* Gives 0 where the environment stays as it is: another thread does the same, or nothing is to be
 * added. */
static NOINLINE uint64_t swap_in(const char *command) {
  char told[TOLD_BYTES];
  char *const words[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
  struct exec_call call = {.target = {AT_FDCWD, "/bin/sh", 0}, .argv = words};
  struct child_env child;
  uint64_t token = 0;
  if (!shim_may_speak() || !shim_own_process() || !text_readable(command)) return 0;
  child_env_reclaim();
  call.env = env_now();
  if (call.env == NULL) return 0;
  exec_tell_secrets(&call, told, sizeof told);
  struct child_facts about = {target_look(&call.target, words), 0, told};
  child_env_make(&child, NULL, call.env, &about);
  if (child.env != call.env) token = environ_lend(&child, call.env);
  child_env_drop(&child);
  return token;
}

/* Whether the shell, which gets no shim, must not be started for it. */
static NOINLINE int is_refused(const char *command) {
  char *const words[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
  struct exec_call call = {.target = {AT_FDCWD, "/bin/sh", 0}, .argv = words};
  return shim_may_speak() && text_readable(command) && gate_refuses_start(&call);
}

/* system and popen only set errno when they cannot start the shell: E2BIG, perhaps because of our
 * variables. */
static int was_too_big(int errno_before) {
  int error = shim_errno();
  if (error == 0 || error == E2BIG) shim_set_errno(errno_before);
  return error == E2BIG;
}

/* Both libcs have these two names. */
WEAK extern void _pthread_cleanup_push(struct cleanup *cleanup, void (*run)(void *), void *data);
WEAK extern void _pthread_cleanup_pop(struct cleanup *cleanup, int run);

int cleanup_push(struct cleanup *cleanup, void (*run)(void *), void *data) {
  __typeof__(&_pthread_cleanup_push) push = ORIGINAL(_pthread_cleanup_push);
  if (push == NULL || ORIGINAL(_pthread_cleanup_pop) == NULL) return 0;
  push(cleanup, run, data);
  return 1;
}

void cleanup_pop(struct cleanup *cleanup) { ORIGINAL(_pthread_cleanup_pop)(cleanup, 0); }

static void return_of(void *token) { environ_return(*(uint64_t *)token); }

static int system_with(int (*original)(const char *), const char *command, uint64_t *token) {
  struct cleanup cleanup;
  int pushed = cleanup_push(&cleanup, return_of, token);
  int status = original(command);
  if (pushed) cleanup_pop(&cleanup);
  environ_return(*token);
  return status;
}

/* A shell that exits reports it itself; one that a signal kills cannot. */
static int libc_waited(uint64_t since_ns, int status) {
  int killed = status != -1 && (status & 0x7f) != 0;
  if (UNLIKELY(killed) && shim_may_speak()) reap_say_since(since_ns, status);
  return status;
}

HOOK(int, system, (const char *command)) {
  enum { NO_SHELL = 127 << 8, REFUSED = GATE_EXIT << 8 };
  __typeof__(&system) original = ORIGINAL(system);
  if (original == NULL) return (int)shim_answer(-ENOSYS);
  if (is_ours(command)) return shell_system(command);
  uint64_t token = command == NULL ? 0 : swap_in(command);
  if (token == 0) return command != NULL && is_refused(command) ? REFUSED : original(command);
  int before = shim_errno();
  uint64_t since_ns = sys_now_ns();
  shim_flush();
  shim_set_errno(0);
  int status = system_with(original, command, &token);
  if (!was_too_big(before) || status != NO_SHELL) return libc_waited(since_ns, status);
  return is_refused(command) ? REFUSED : original(command);
}

/* Streams of popen: when each was opened, and its process where shell.c started it and the libc
 * does not know it. The end of a process beyond this many is not reported. Mapped on first use. */
static struct opened {
  void *stream;
  uint64_t since_ns;
  int64_t pid;
} *opened;

static struct opened *opened_list(void) {
  struct opened *none = NULL, *list = __atomic_load_n(&opened, __ATOMIC_ACQUIRE);
  if (LIKELY(list != NULL)) return list;
  list = sys_map(STREAMS_MAX * sizeof *list);
  if (list == NULL || __atomic_compare_exchange_n(&opened, &none, list, 0, __ATOMIC_ACQ_REL,
                                                  __ATOMIC_ACQUIRE))
    return list;
  sys_unmap(list, STREAMS_MAX * sizeof *list);
  return none;
}

void *shell_stream_at(int i) {
  struct opened *list = __atomic_load_n(&opened, __ATOMIC_ACQUIRE);
  return list == NULL ? NULL : __atomic_load_n(&list[i].stream, __ATOMIC_RELAXED);
}

static struct opened *find_stream(const void *stream) {
  for (int i = 0; stream != NULL && i < STREAMS_MAX; i++)
    if (shell_stream_at(i) == stream) return &opened[i];
  return NULL;
}

/* A stream that was closed with fclose is still in the list, and a new one may have its address. */
void shell_stream_add(void *stream, uint64_t since_ns, int pid) {
  struct opened *list = opened_list(), *at = find_stream(stream);
  for (int i = 0; list != NULL && at == NULL && i < STREAMS_MAX; i++) {
    void *free = NULL;
    if (__atomic_compare_exchange_n(&list[i].stream, &free, stream, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
      at = &list[i];
  }
  if (at == NULL) return;
  __atomic_store_n(&at->since_ns, since_ns, __ATOMIC_RELAXED);
  __atomic_store_n(&at->pid, pid, __ATOMIC_RELAXED);
}

static void *popen_done(void *stream, uint64_t since_ns) {
  if (stream != NULL) shell_stream_add(stream, since_ns, 0);
  return stream;
}

/* Takes it out of the list. */
static struct opened popen_was(const void *stream) {
  struct opened was = {NULL, 0, 0}, *at = find_stream(stream);
  if (at == NULL) return was;
  was.since_ns = __atomic_load_n(&at->since_ns, __ATOMIC_RELAXED);
  was.pid = __atomic_load_n(&at->pid, __ATOMIC_RELAXED);
  __atomic_store_n(&at->stream, NULL, __ATOMIC_RELEASE);
  return was;
}

static void *popen_unseen(__typeof__(&popen) original, const char *command, const char *mode) {
  if (command == NULL || !is_refused(command)) return original(command, mode);
  return (void *)(shim_answer(-EACCES) + 1);
}

HOOK(void *, popen, (const char *command, const char *mode)) {
  __typeof__(&popen) original = ORIGINAL(popen);
  if (original == NULL) return (void *)(shim_answer(-ENOSYS) + 1);
  void *own = is_ours(command) && text_readable(mode) ? shell_popen(command, mode) : NULL;
  if (own != NULL) return own;
  uint64_t token = command == NULL ? 0 : swap_in(command);
  if (token == 0) return popen_unseen(original, command, mode);
  int before = shim_errno();
  uint64_t since_ns = sys_now_ns();
  shim_flush();
  shim_set_errno(0);
  void *stream = original(command, mode);
  environ_return(token);
  if (!was_too_big(before) || stream != NULL) return popen_done(stream, since_ns);
  return popen_unseen(original, command, mode);
}

HOOK(int, pclose, (void *stream)) {
  __typeof__(&pclose) original = ORIGINAL(pclose);
  if (original == NULL) return (int)shim_answer(-ENOSYS);
  struct opened was = popen_was(stream);
  if (was.pid != 0) return shell_pclose(stream, (int)was.pid);
  int status = original(stream);
  return was.since_ns == 0 ? status : libc_waited(was.since_ns, status);
}
