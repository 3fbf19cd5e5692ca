/* Lending the environment. system, popen, execv and execvp give a child whatever `environ` points
 * to, so `environ` points to the child's environment (env-child.c) while one of them runs, and back
 * to the program's afterwards.
 *
 *   token = environ_lend(&child, env);  // environ is ours now; 0: it could not be lent
 *   status = system(command);
 *   environ_return(token);              // and the program's again
 *
 * The rules, and their reasons:
 * - getenv takes no lock: another thread may walk through our array at any moment, also after it
 *   was returned. So neither the array nor its strings are ever unmapped. One array is used again
 *   and again; one that became too small is left where it is.
 * - setenv of another thread may replace `environ` during the call, or entries of our array. Both
 *   must be kept when it is returned (put_back).
 * - One thread can lend at a time. Others do not wait: they get 0, and call without it.
 * - The call may never return to us: pthread_cancel ends the thread, a signal handler may longjmp
 *   out of it, and the child of a fork has no other threads. The next call then finds that the
 *   holder is gone, and returns the environment in its place (environ_mend). */
#include "shim.h"

WEAK extern char **environ;

enum { SLOTS_MIN = 250, CHUNK_BYTES = 4096 };

struct block {
  size_t slots, used; /* all slots from `used` on are NULL, at least the last one */
  char self[SELF_BYTES + TOLD_BYTES + 2]; /* SELF_VARIABLE: the one string that is written over */
  char *env[];
};

static struct block *block;
static struct child_env lent; /* what is lent: `env` of the block, and our strings in it */
static char **given;          /* what environ was before */
/* The thread that has lent it, in the low half; 0: it is free. The high half counts turns, so that
 * a thread that was interrupted cannot take the next turn of the same thread for its own. */
static uint64_t holder;

static uint32_t thread_of(uint64_t token) { return (uint32_t)token; }

static uint64_t next_turn(uint64_t token, uint32_t thread) {
  return ((token >> 32) + 1) << 32 | thread;
}

static int change_holder(uint64_t from, uint64_t to) {
  return __atomic_compare_exchange_n(&holder, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* --- returning it */

static void put_back(void) {
  char **now = __atomic_load_n(&environ, __ATOMIC_ACQUIRE);
  if (now == lent.env) {
    /* Without a new array setenv and unsetenv only replace and remove entries, so they fit. */
    child_env_undo(&lent, now, given);
    __atomic_store_n(&environ, given, __ATOMIC_RELEASE);
  } else if (now != NULL) { /* setenv has made a new array, with our entries in it */
    child_env_undo(&lent, now, now);
  }
}

void environ_return(uint64_t token) {
  if (__atomic_load_n(&holder, __ATOMIC_ACQUIRE) != token) return; /* it was mended */
  put_back();
  change_holder(token, next_turn(token, 0));
}

/* A thread that asks about itself has left the call by longjmp, or is in a signal handler that
 * interrupted it. tgkill(2) with signal 0 only tells whether the thread exists. */
static int is_gone(uint32_t thread) {
  if (thread == (uint32_t)sys_gettid()) return 1;
#ifdef __linux__
  return SYS3(SYS_tgkill, sys_getpid(), thread, 0) == -ESRCH;
#else
  return 0;
#endif
}

void environ_mend(void) {
  uint64_t token = __atomic_load_n(&holder, __ATOMIC_ACQUIRE);
  if (LIKELY(thread_of(token) == 0) || !shim_own_process() || !is_gone(thread_of(token))) return;
  uint64_t mine = next_turn(token, (uint32_t)sys_gettid());
  if (!change_holder(token, mine)) return;
  put_back();
  change_holder(mine, next_turn(mine, 0));
}

/* --- strings that stay */

static char *keep(const char *text) {
  static char *chunk, *chunk_end; /* what is left of the last mapping */
  size_t bytes = text_length(text) + 1;
  if (bytes > (size_t)(chunk_end - chunk)) {
    size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    char *more = sys_map(room);
    if (more == NULL) return NULL;
    chunk = more, chunk_end = more + room;
  }
  char *kept = chunk;
  chunk += bytes;
  memcpy(kept, text, bytes);
  return kept;
}

/* Copies the strings of `child` that will be gone when it is dropped: LD_PRELOAD and ASAN_OPTIONS
 * joined with the user's, and SELF_VARIABLE. The first two are mostly the same as the last time. */
static int keep_strings(const struct child_env *child) {
  static char *last[2];
  for (int i = 0; i < 2; i++) {
    lent.original[i] = child->original[i];
    lent.joined[i] = NULL;
    if (child->joined[i] == NULL) continue;
    if (last[i] == NULL || !text_same(last[i], child->joined[i])) last[i] = keep(child->joined[i]);
    if (last[i] == NULL) return 0;
    lent.joined[i] = last[i];
  }
  lent.told = NULL;
  if (child->told == NULL) return 1;
  /* It is another one for each child, and a copy of each would fill the memory. A reader at the
   * same time sees the same name in front, and a NUL within the block behind. */
  size_t length = text_length(child->told);
  if (length >= sizeof block->self) return 0;
  memcpy(block->self, child->told, length + 1);
  lent.told = block->self;
  return 1;
}

static char *kept_for(const struct child_env *child, char *entry) {
  if (entry == child->told) return lent.told;
  for (int i = 0; i < 2; i++)
    if (entry == child->joined[i]) return lent.joined[i];
  return entry;
}

/* --- lending it */

static int have_room(size_t count) {
  if (block != NULL && count < block->slots) return 1;
  size_t slots = count < SLOTS_MIN ? SLOTS_MIN : 2 * count;
  struct block *bigger = sys_map(sizeof *bigger + slots * sizeof(char *));
  if (bigger == NULL) return 0;
  bigger->slots = slots;
  block = bigger;
  return 1;
}

/* From the end, so that a thread that still walks through it finds strings and then a NULL. */
static void fill(const struct child_env *child, size_t count) {
  for (size_t i = block->used; i > count; i--)
    __atomic_store_n(&block->env[i - 1], NULL, __ATOMIC_RELEASE);
  for (size_t i = count; i > 0; i--)
    __atomic_store_n(&block->env[i - 1], kept_for(child, child->env[i - 1]), __ATOMIC_RELEASE);
  block->used = count;
}

uint64_t environ_lend(const struct child_env *child, char *const *instead_of) {
  uint64_t token = __atomic_load_n(&holder, __ATOMIC_ACQUIRE);
  uint64_t mine = next_turn(token, (uint32_t)sys_gettid());
  size_t count = 0;
  if (thread_of(token) != 0 || !change_holder(token, mine)) return 0;
  while (child->env[count] != NULL) count++;
  if (env_now() == instead_of && have_room(count) && keep_strings(child)) {
    fill(child, count);
    given = (char **)(uintptr_t)instead_of;
    lent.env = block->env;
    __atomic_store_n(&environ, lent.env, __ATOMIC_RELEASE);
    if (__atomic_load_n(&holder, __ATOMIC_ACQUIRE) == mine) return mine;
    /* A signal handler on this thread called system in between, and took it for left behind. */
    __atomic_store_n(&environ, given, __ATOMIC_RELEASE);
    return 0;
  }
  change_holder(mine, next_turn(mine, 0));
  return 0;
}
