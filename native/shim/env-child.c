/* The environment of a child: the caller's variables, then those that a shim needs. The user's own
 * LD_PRELOAD entries stay, behind ours. Nothing is added where the child could not load the shim
 * (another root, a deleted file, no permission to read it), because its loader would complain on
 * stderr; nor where the caller sets CUFF_TRACE itself, because then another capture begins. */
#include "shim.h"

#define ADDRESS_SPACE_MIN (64u << 20)

enum { RLIMIT_NOFILE = 7, F_GETFD = 1 };

static const char ASAN_VARIABLE[] = "ASAN_OPTIONS=" ASAN_OPTION;

struct left { /* in front of memory that was mapped for a child's environment */
  struct left *next;
  size_t bytes;
  uintptr_t thread;
};

static struct left *left_behind;

/* The same in a vfork child as in the thread that waits for it. */
static uintptr_t this_thread(void) {
  uintptr_t at;
#ifdef __x86_64__
  __asm__("mov %%fs:0, %0" : "=r"(at));
#else
  __asm__("mrs %0, tpidr_el0" : "=r"(at));
#endif
  return at;
}

/* The files that children load, as they were when this process had loaded one of them. A file that
 * was replaced since may be damaged: the child's loader would complain, or die of SIGBUS. */
static struct shim_file {
  uint64_t device, inode, seconds, nanoseconds; /* 0: not known */
  int64_t size;
} files[2];

static struct shim_file file_of(const struct sys_stat *st) {
#ifdef __linux__
  enum { MODIFIED = 4 }; /* words behind the size, on both machines */
  return (struct shim_file){st->device, st->inode, st->rest[MODIFIED], st->rest[MODIFIED + 1],
                            st->size};
#else
  return (struct shim_file){st->device, st->inode, 0, 0, st->size};
#endif
}

void child_env_learn(void) {
  const char *names[2] = {shim.preload_native, shim.preload_variable};
  struct sys_stat st;
  for (int i = 0; i < 2; i++)
    if (sys_stat_path(names[i] + sizeof "LD_PRELOAD", &st) == 0) files[i] = file_of(&st);
}

static int is_unchanged(const struct sys_stat *st, const char *path) {
  const struct shim_file now = file_of(st);
  int which = path == shim.preload_native + sizeof "LD_PRELOAD" ? 0 : 1;
  return files[which].inode == 0 || memcmp(&files[which], &now, sizeof now) == 0;
}

/* The loader of a child will need a descriptor. The highest number is nearly always free. */
static int has_free_number(void) {
  uint64_t limit = sys_limit_of(RLIMIT_NOFILE);
  int fd = limit > INT32_MAX ? INT32_MAX : (int)limit;
  while (fd > 0 && sys_fcntl(fd - 1, F_GETFD, 0) != -EBADF) fd--;
  return fd > 0;
}

/* Whether the loader of a child will find the shim, and not only the beginning of one. */
static int is_reachable(const char *path) {
  extern const char __ehdr_start[] __attribute__((visibility("hidden")));
  extern const char _edata[] __attribute__((visibility("hidden")));
  struct sys_stat st;
  if (sys_stat_path(path, &st) < 0 || !sys_may(path, R_OK) || !has_free_number()) return 0;
  return st.size >= _edata - __ehdr_start && is_unchanged(&st, path);
}

/* A program that just fits into its address space must fit with us. */
static int has_space(void) { return sys_limit_of(RLIMIT_AS) >= ADDRESS_SPACE_MIN; }

struct given { /* what matters of the environment that the caller gave */
  size_t count;
  char *const *preload, *const *asan;
  int left_alone; /* nothing may be added to it */
};

static void read_given(struct given *given, char *const *env) {
  *given = (struct given){0, NULL, NULL, 0};
  given->left_alone = env != NULL && sys_impossible(env);
  if (given->left_alone) return;
  for (; env != NULL && env[given->count] != NULL; given->count++) {
    const char *entry = env[given->count];
    if (sys_impossible(entry)) {
      given->left_alone = 1; /* exec will answer EFAULT, to exactly this */
      return;
    }
    if (entry[0] == 'C' && text_starts(entry, TRACE_VARIABLE "=")) given->left_alone = 1;
    if (entry[0] == 'L' && text_starts(entry, "LD_PRELOAD=")) given->preload = env + given->count;
    /* The loader lists libraries instead of running: this is how ldd works. */
    if (entry[0] == 'L' && text_starts(entry, "LD_TRACE_LOADED_OBJECTS=")) given->left_alone = 1;
    if (entry[0] == 'A' && text_starts(entry, "ASAN_OPTIONS=")) given->asan = env + given->count;
  }
}

static char *join(char **room, const char *a, const char *separator, const char *b) {
  char *text = *room, *to = text;
  const char *parts[] = {a, separator, b};
  for (int i = 0; i < 3; i++) {
    size_t n = text_length(parts[i]);
    memcpy(to, parts[i], n);
    to += n;
  }
  *to = 0;
  *room = to + 1;
  return text;
}

/* A vfork child that execs leaves the mapping in its parent's memory; the parent unmaps it. */
static void *map_for(struct child_env *child, size_t bytes) {
  struct left *left = sys_map(bytes + sizeof *left);
  if (left == NULL) return NULL;
  *left = (struct left){NULL, bytes + sizeof *left, this_thread()};
  child->mapped = left, child->bytes = left->bytes;
  if (!shim_own_process()) {
    child->mapped = NULL;
    left->next = __atomic_load_n(&left_behind, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&left_behind, &left->next, left, 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
  }
  return left + 1;
}

/* Only a process that has reported its start knows its identity; a vfork child has not. The text is
 * in `child` where it says nothing about the words of the program, else in `room`. */
static char *tell_self(struct child_env *child, const struct child_facts *about, char *room) {
  if (!(about->facts & TARGET_NATIVE)) return NULL;
  int known = about->same_process && shim.inner_pid == 0 && shim_own_process();
  char *text = *about->told == 0 ? child->self : room, *to = text;
  memcpy(to, SELF_VARIABLE "=", sizeof SELF_VARIABLE);
  to += sizeof SELF_VARIABLE;
  to += text_number(to, known ? shim.pid : 0);
  *to++ = ',';
  to += text_number(to, shim.space);
  *to++ = ',';
  *to++ = about->facts & TARGET_DIRECT ? '1' : '0';
  *to++ = ';';
  memcpy(to, about->told, text_length(about->told) + 1);
  return text;
}

void child_env_make(struct child_env *child, char **words, char *const *env,
                    const struct child_facts *about) {
  enum { ADDED = 5 }; /* four variables and the NULL */
  struct given given;
  *child = (struct child_env){.env = (char **)(uintptr_t)env};
  if (about->facts & TARGET_ALONE) return;
  read_given(&given, env);
  const char *preload = about->facts & TARGET_NATIVE ? shim.preload_native : shim.preload_variable;
  if (given.left_alone || !has_space() || !is_reachable(preload + sizeof "LD_PRELOAD")) return;
  size_t texts = 0;
  if (given.preload != NULL)
    texts += text_length(preload) + text_length(*given.preload) + 2;
  if (given.asan != NULL) texts += text_length(*given.asan) + sizeof ASAN_OPTION + 2;
  if (*about->told != 0) texts += SELF_BYTES + text_length(about->told) + 2;
  char **to = words, *room = NULL;
  if (words == NULL || texts > 0 || given.count + ADDED > CHILD_WORDS) {
    to = map_for(child, (given.count + ADDED) * sizeof *to + texts);
    if (to == NULL) return;
    room = (char *)(to + given.count + ADDED);
  }
  for (size_t i = 0; i < given.count; i++) to[i] = env[i];
  size_t count = given.count;
  if (given.preload == NULL) {
    to[count++] = (char *)(uintptr_t)preload;
  } else {
    const char *theirs = *given.preload + sizeof "LD_PRELOAD";
    child->original[0] = *given.preload;
    child->joined[0] = join(&room, preload, ":", theirs);
    to[given.preload - env] = child->joined[0];
  }
  if (given.asan == NULL) {
    to[count++] = (char *)(uintptr_t)ASAN_VARIABLE;
  } else {
    child->original[1] = *given.asan;
    child->joined[1] = join(&room, *given.asan, ":", ASAN_OPTION);
    to[given.asan - env] = child->joined[1];
  }
  to[count++] = (char *)(uintptr_t)shim.trace_variable;
  child->told = tell_self(child, about, room);
  if (child->told != NULL) to[count++] = child->told;
  to[count] = NULL;
  child->env = to;
}

size_t child_env_undo(const struct child_env *child, char *const *from, char **to) {
  size_t count = 0;
  for (; *from != NULL; from++) {
    char *entry = *from;
    if (entry == shim.trace_variable || entry == shim.preload_variable) continue;
    if (entry == shim.preload_native) continue;
    if (entry == ASAN_VARIABLE || entry == child->told) continue;
    for (int i = 0; i < 2; i++)
      if (entry == child->joined[i]) entry = child->original[i];
    __atomic_store_n(&to[count++], entry, __ATOMIC_RELAXED); /* another thread may read it */
  }
  __atomic_store_n(&to[count], NULL, __ATOMIC_RELAXED);
  return count;
}

void child_env_drop(struct child_env *child) {
  if (child->mapped != NULL) sys_unmap(child->mapped, child->bytes);
  child->mapped = NULL;
}

void child_env_reclaim(void) {
  environ_mend();
  if (LIKELY(__atomic_load_n(&left_behind, __ATOMIC_RELAXED) == NULL)) return;
  if (!shim_own_process()) return;
  struct left *at = __atomic_exchange_n(&left_behind, NULL, __ATOMIC_ACQUIRE);
  while (at != NULL) {
    struct left *next = at->next;
    if (at->thread == this_thread()) {
      sys_unmap(at, at->bytes);
    } else { /* of another thread, whose vfork child may be reading it */
      at->next = __atomic_load_n(&left_behind, __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(&left_behind, &at->next, at, 1, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED)) {
      }
    }
    at = next;
  }
}
