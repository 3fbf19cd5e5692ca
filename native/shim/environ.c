/* The environment of the process is another one for as long as a function of the libc takes that
 * gives a child what it finds there: system, popen, execv, execvp. Other threads may walk through
 * it at any time, also after it was put back: its memory is never unmapped. It is one block that is
 * used again, slot by slot, with strings that stay; a block that got too small is kept. */
#include "shim.h"

WEAK extern char **environ;

enum { SLOTS_MIN = 250, CHUNK_BYTES = 4096 };

struct block {
  size_t slots, used; /* the last slot is always NULL, and all behind `used` are */
  char self[SELF_BYTES + TOLD_BYTES + 2];
  char *env[];
};

static struct block *block;
static struct child_env lent; /* what is in it, with strings that stay */
static char **given;          /* what it stands for */
static char *chunk, *chunk_end;
/* Whose it is: a thread, and above it how many had it before. Without a thread it is free. */
static uint64_t holder;

static uint32_t thread_of(uint64_t token) { return (uint32_t)token; }

/* A thread that was cancelled or has jumped out of the call, or that this child of a fork does not
 * have. One that asks for itself is not in the call, or in a signal handler on top of it. */
static int is_gone(uint32_t thread) {
  if (thread == (uint32_t)sys_gettid()) return 1;
#ifdef __linux__
  return SYS3(SYS_tgkill, sys_getpid(), thread, 0) == -ESRCH;
#else
  return 0;
#endif
}

static uint64_t next_turn(uint64_t token, uint32_t thread) {
  return ((token >> 32) + 1) << 32 | thread;
}

static int change_holder(uint64_t from, uint64_t to) {
  return __atomic_compare_exchange_n(&holder, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void put_back(void) {
  char **now = __atomic_load_n(&environ, __ATOMIC_ACQUIRE);
  if (now == lent.env) {
    /* Entries were replaced or removed at most: one more needs another array. */
    child_env_undo(&lent, now, given);
    __atomic_store_n(&environ, given, __ATOMIC_RELEASE);
  } else if (now != NULL) {
    child_env_undo(&lent, now, now);
  }
}

void environ_mend(void) {
  uint64_t token = __atomic_load_n(&holder, __ATOMIC_ACQUIRE);
  if (LIKELY(thread_of(token) == 0) || !shim_own_process() || !is_gone(thread_of(token))) return;
  uint64_t mine = next_turn(token, (uint32_t)sys_gettid());
  if (!change_holder(token, mine)) return;
  put_back();
  change_holder(mine, next_turn(mine, 0));
}

void environ_return(uint64_t token) {
  if (__atomic_load_n(&holder, __ATOMIC_ACQUIRE) != token) return; /* it was mended */
  put_back();
  change_holder(token, next_turn(token, 0));
}

/* --- memory that stays */

static char *keep(const char *text) {
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

/* The strings of `child` that do not stay, as ones that do: the same as the last time, mostly. */
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
  /* Written over: it begins as it always did, and its end stays one. */
  size_t length = text_length(child->told);
  if (length >= sizeof block->self) return 0;
  memcpy(block->self, child->told, length + 1);
  lent.told = block->self;
  return 1;
}

static int have_room(size_t count) {
  if (block != NULL && count < block->slots) return 1;
  size_t slots = count < SLOTS_MIN ? SLOTS_MIN : 2 * count;
  struct block *bigger = sys_map(sizeof *bigger + slots * sizeof(char *));
  if (bigger == NULL) return 0;
  bigger->slots = slots;
  block = bigger;
  return 1;
}

static char *kept_for(const struct child_env *child, char *entry) {
  if (entry == child->told) return lent.told;
  for (int i = 0; i < 2; i++)
    if (entry == child->joined[i]) return lent.joined[i];
  return entry;
}

/* From the end: whoever walks through it finds strings, and a NULL behind them. */
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
    __atomic_store_n(&environ, given, __ATOMIC_RELEASE); /* a signal handler mended it */
    return 0;
  }
  change_holder(mine, next_turn(mine, 0));
  return 0;
}
