/* Becoming another program. EXEC is reported before the call, because on success exec does not
 * return; EXECFAIL after it, if it does. The file and its arguments are never changed. A program
 * without a loader has no shim in it, so the runner is asked to follow it. */
#include "interpose.h"

enum { SMALL_FRAME = 512, BIG_FRAME = 48 << 10, FILE_BYTES_MAX = 4096 };

struct exec_story {
  const struct exec_call *call;
  const char *file;
  uint32_t spawned;
  int facts;
};

static void find_secrets(struct secrets *secrets, const struct exec_call *call) {
  secrets_init(secrets);
  secrets_find(secrets, env_now());
  secrets_recall(secrets);
  if (call->env != env_now()) secrets_find(secrets, call->env);
  secrets_find(secrets, call->argv);
}

/* Only secrets that the new program will not find in its own environment. */
void exec_tell_secrets(const struct exec_call *call, char *to, size_t room) {
  struct secrets secrets;
  secrets_init(&secrets);
  secrets_find(&secrets, env_now());
  secrets_recall(&secrets);
  if (secrets.more && call->env != env_now()) {
    to[0] = '*', to[1] = 0; /* any word could hold one */
  } else {
    if (secrets.count > 0) secrets_without(&secrets, call->env);
    secrets_tell(&secrets, call->argv, to, room);
  }
  secrets_drop(&secrets);
}

static void fill_exec(struct frame *frame, const struct exec_story *story,
                      const struct secrets *secrets, void *memory, uint32_t room) {
  int flags = story->facts & TARGET_STATIC ? TRACE_STATIC : 0;
  struct trace_exec exec = {.spawned = story->spawned};
  struct words_facts words;
  frame_begin(frame, memory, room, TRACE_EXEC, FROM_SHIM);
  struct trace_exec *put = frame_put(frame, &exec, sizeof exec);
  words_text(frame, story->file, FILE_BYTES_MAX, secrets, &flags);
  words_put(frame, story->call->argv, secrets, &words, &flags);
  if (frame->full) return;
  put->args = words.args, put->argv_bytes = words.argv_bytes, put->kept_args = words.kept_args;
  ((struct trace_frame *)memory)->flags = (uint16_t)flags;
}

static NOINLINE void say_exec(const struct exec_story *story) {
  uint64_t small[SMALL_FRAME / 8];
  struct secrets secrets;
  struct frame frame;
  find_secrets(&secrets, story->call);
  fill_exec(&frame, story, &secrets, small, sizeof small);
  void *big = frame.full ? scratch_take(BIG_FRAME) : NULL;
  if (big != NULL) fill_exec(&frame, story, &secrets, big, BIG_FRAME);
  secrets_drop(&secrets);
  frame_send(&frame);
  scratch_give(big, BIG_FRAME);
}

static NOINLINE void say_failed(const struct exec_story *story, int error) {
  uint64_t memory[SMALL_FRAME / 8];
  struct trace_execfail fail = {story->spawned != 0, error};
  struct secrets secrets;
  struct frame frame;
  int flags = 0;
  find_secrets(&secrets, story->call);
  frame_begin(&frame, memory, sizeof memory, TRACE_EXECFAIL, FROM_SHIM);
  frame_put(&frame, &fail, sizeof fail);
  words_text(&frame, story->file, SMALL_FRAME - 128, &secrets, &flags);
  secrets_drop(&secrets);
  frame_send(&frame);
}

/* --- one call */

static const char *shown_file(const struct exec_call *call) {
  const char *file = call->shown != NULL ? call->shown : call->target.file;
  return sys_impossible(file) ? "" : file;
}

int exec_refused(const struct exec_call *call, int facts, const struct child_env *child) {
  if (facts & TARGET_MISSING) return 0;
  if ((facts & TARGET_NATIVE) && child->env != call->env) return 0;
  return gate_refuses_start(call);
}

/* Returns only if the exec failed, with its result. `followed`: the runner follows this thread, and
 * must be asked to let go. */
static NOINLINE int run_prepared(const struct exec_story *story, const char *told, int *followed) {
  char *words[CHILD_WORDS];
  struct child_env child;
  struct child_facts about = {story->facts, 1, told};
  *followed = (story->facts & TARGET_STATIC) && order_follow();
  /* A static program has no shim that would hide our variables. The runner, which follows it, gives
   * them to the programs that it starts. */
  if (*followed) about.facts |= TARGET_ALONE;
  child_env_make(&child, words, story->call->env, &about);
  int refused = exec_refused(story->call, story->facts, &child);
  int result = refused ? -1 : (int)story->call->call(story->call, &child);
  int error = refused ? EACCES : shim_errno();
  /* Without our variables it may fit (execve(2): E2BIG). */
  if (error == E2BIG && child.env != story->call->env && !gate_refuses_start(story->call)) {
    child.env = (char **)(uintptr_t)story->call->env;
    result = (int)story->call->call(story->call, &child);
    error = shim_errno();
  }
  child_env_drop(&child);
  shim_set_errno(error);
  return result;
}

int exec_run(const struct exec_call *call) {
  struct exec_story story = {call, shown_file(call), 0, 0};
  char told[TOLD_BYTES];
  int followed = 0;
  child_env_reclaim();
  shim_flush();
  story.facts = target_look(&call->target, call->argv);
  /* Programs that search PATH themselves call exec for each directory: of a file that does not
   * exist only the failure is reported. */
  if (!(story.facts & TARGET_MISSING)) say_exec(&story);
  exec_tell_secrets(call, told, sizeof told);
  int result = run_prepared(&story, told, &followed);
  int error = shim_errno();
  if (followed) order_release(shim_thread());
  say_failed(&story, error);
  shim_set_errno(error);
  return result;
}

void exec_say_spawn(const struct exec_call *call, int facts, uint32_t child, int error) {
  struct exec_story story = {call, shown_file(call), child, facts};
  if (child != 0) {
    say_exec(&story);
    return;
  }
  story.spawned = 1;
  say_failed(&story, error);
}

/* --- the hooks */

extern int execve(const char *file, char *const argv[], char *const env[]);
extern int execvpe(const char *file, char *const argv[], char *const env[]);
extern int execv(const char *file, char *const argv[]);
extern int execvp(const char *file, char *const argv[]);
extern int fexecve(int fd, char *const argv[], char *const env[]);
extern int execveat(int directory, const char *file, char *const argv[], char *const env[],
                    int flags);

static __typeof__(&execve) next_execve(void) { return ORIGINAL(execve); }

void exec_prepare(void) { (void)next_execve(); }

static long call_execve(const struct exec_call *call, const struct child_env *child) {
  __typeof__(&execve) original = next_execve();
  return CALL_ON(original, SYS3(SYS_execve, call->target.file, call->argv, child->env),
                 call->target.file, call->argv, child->env);
}

static long call_execvpe(const struct exec_call *call, const struct child_env *child) {
  return CALL_ON(ORIGINAL(execvpe), -ENOSYS, call->target.file, call->argv, child->env);
}

/* execv and execvp use the environment of the process, so it is lent to the child for the call
 * (environ.c). Calling execve instead would pass by a library of the user that hooks execv. Not in
 * a vfork child, whose environ is also its parent's, nor while another thread lends it: then
 * `explicit` is called. */
typedef long caller(const struct exec_call *call, const struct child_env *child);

static long call_with_environ(const struct exec_call *call, const struct child_env *child,
                              int (*original)(const char *, char *const *), caller *explicit) {
  if (original == NULL) return explicit(call, child);
  if (child->env == env_now()) return original(call->target.file, call->argv);
  uint64_t token = shim_own_process() ? environ_lend(child, call->env) : 0;
  if (token == 0) return explicit(call, child);
  long result = original(call->target.file, call->argv);
  environ_return(token);
  return result;
}

static long call_execv(const struct exec_call *call, const struct child_env *child) {
  return call_with_environ(call, child, ORIGINAL(execv), call_execve);
}

static long call_execvp(const struct exec_call *call, const struct child_env *child) {
  return call_with_environ(call, child, ORIGINAL(execvp), call_execvpe);
}

static long call_fexecve(const struct exec_call *call, const struct child_env *child) {
  int fd = call->target.directory;
  return CALL_ON(ORIGINAL(fexecve),
                 SYS6(SYS_execveat, fd, "", call->argv, child->env, AT_EMPTY_PATH, 0), fd,
                 call->argv, child->env);
}

static long call_execveat(const struct exec_call *call, const struct child_env *child) {
  const struct target *target = &call->target;
  return CALL_ON(
      ORIGINAL(execveat),
      SYS6(SYS_execveat, target->directory, target->file, call->argv, child->env, call->flags, 0),
      target->directory, target->file, call->argv, child->env, call->flags);
}

static int run_unseen(const struct exec_call *call) {
  struct child_env same = {.env = (char **)(uintptr_t)call->env};
  return (int)call->call(call, &same);
}

static int run(const struct exec_call *call) {
  return shim_may_speak() && exec_readable(call) ? exec_run(call) : run_unseen(call);
}

int exec_by_path(const char *file, char *const *argv, char *const *env) {
  struct exec_call call = {.target = {AT_FDCWD, file, 0}, .argv = argv, .env = env};
  call.call = call_execve;
  return run(&call);
}

int exec_own_by_path(const char *file, char *const *argv) {
  struct exec_call call = {.target = {AT_FDCWD, file, 0}, .argv = argv, .env = env_now()};
  call.call = call_execv;
  return run(&call);
}

int exec_own_by_name(const char *file, char *const *argv) {
  struct exec_call call = {.target = {AT_FDCWD, file, 1}, .argv = argv, .env = env_now()};
  call.call = call_execvp;
  return run(&call);
}

HOOK(int, execve, (const char *file, char *const argv[], char *const env[])) {
  return exec_by_path(file, argv, env);
}

HOOK(int, execv, (const char *file, char *const argv[])) { return exec_own_by_path(file, argv); }

HOOK(int, execvp, (const char *file, char *const argv[])) { return exec_own_by_name(file, argv); }

HOOK(int, execvpe, (const char *file, char *const argv[], char *const env[])) {
  struct exec_call call = {.target = {AT_FDCWD, file, 1}, .argv = argv, .env = env};
  call.call = call_execvpe;
  return run(&call);
}

/* What a descriptor stands for, for people to read. */
static void name_of(int fd, char *name, size_t room) {
  char link[40] = "/proc/self/fd/";
  text_number(link + sizeof "/proc/self/fd", (uint64_t)(uint32_t)fd);
  ssize_type length = sys_readlink(link, name, room - 1);
  name[length > 0 ? length : 0] = 0;
}

HOOK(int, fexecve, (int fd, char *const argv[], char *const env[])) {
  char name[256];
  struct exec_call call = {.target = {fd, "", 0}, .argv = argv, .env = env};
  call.call = call_fexecve;
  if (shim_may_speak()) {
    name_of(fd, name, sizeof name);
    call.shown = name;
  }
  return run(&call);
}

int exec_by_descriptor(int directory, const char *file, char *const *argv, char *const *env,
                       int flags) {
  char name[256];
  struct exec_call call = {.target = {directory, file, 0}, .argv = argv, .env = env};
  call.call = call_execveat;
  call.flags = flags;
  if (shim_may_speak() && text_readable(file) && *file == 0) {
    name_of(directory, name, sizeof name);
    call.shown = name;
  }
  return run(&call);
}

HOOK(int, execveat,
     (int directory, const char *file, char *const argv[], char *const env[], int flags)) {
  return exec_by_descriptor(directory, file, argv, env, flags);
}
