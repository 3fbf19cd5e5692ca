/* Gives the shim to a program with a loader that a followed static program has started. A static
 * program gets the environment of the user and nothing else, because there is no shim in it to hide
 * our variables again. So they are added here, when the new program has not executed its first
 * instruction. The kernel has laid out its stack:
 *
 *   count, arguments ..., 0, variables ..., 0, pairs for the loader ..., (0, 0), then the strings
 *
 * This block moves down by as much as the new strings and pointers need, and they take the room
 * above it. */
#include "runner.h"
#include "trace.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#if defined __x86_64__
typedef struct user_regs_struct registers;
#define STACK_POINTER rsp
#elif defined __aarch64__
typedef struct user_regs_struct registers;
#define STACK_POINTER sp
#else
#define NO_INJECTION
#endif

#ifdef NO_INJECTION
bool inject(pid_t pid) { return pid < 0; }
#else

#define BLOCK_WORDS 65536 /* a program with more arguments and variables is left as it is */
#define STRINGS_MAX 65536
#define INJECTED_MAX (VARIABLES_ADDED + 1)
#define TOLD_MAX 4096

struct layout {
  uint64_t words[BLOCK_WORDS];
  size_t count, variables, auxiliary; /* in all, and where those begin */
};

/* False if it is not laid out like that, or if AT_SECURE is set: such a program must be given
 * nothing, and the loader would ignore LD_PRELOAD. */
static bool understand(struct layout *l, size_t have) {
  size_t at = 1 + (size_t)l->words[0];
  if (have < 2 || at >= have || l->words[at] != 0) return false;
  l->variables = ++at;
  while (at < have && l->words[at] != 0) at++;
  l->auxiliary = ++at;
  for (; at + 1 < have && l->words[at] != AT_NULL; at += 2)
    if (l->words[at] == AT_SECURE && l->words[at + 1] != 0) return false;
  l->count = at + 2;
  return l->count <= have;
}

/* The loader complains on stderr about a file that it cannot preload, so it must be reachable from
 * where the program is: another root, or another user. */
static bool shim_reachable(pid_t pid) {
  char path[PATH_MAX];
  struct stat st;
  snprintf(path, sizeof path, "/proc/%d", (int)pid);
  if (stat(path, &st) != 0 || st.st_uid != geteuid()) return false;
  int length = snprintf(path, sizeof path, "/proc/%d/root%s%s", (int)pid, trace_shim(),
                        TRACE_SHIM_TAIL);
  if (length >= (int)sizeof path || access(path, R_OK) != 0) return false;
  snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
  return shim_intact(path);
}

/* The block as it is to be, with the new strings behind it; `shift` lower than it was. */
struct moved {
  uint64_t words[BLOCK_WORDS + INJECTED_MAX];
  char strings[STRINGS_MAX];
  size_t count, length;
  int injected;
  /* For each: the index of the variable it replaces, or of the end, and where its string is. */
  size_t place[INJECTED_MAX], start[INJECTED_MAX];
};

static bool add_string(struct moved *m, size_t place, const char *text) {
  size_t length = text == NULL ? STRINGS_MAX : strlen(text) + 1;
  if (length > sizeof m->strings - m->length) return false;
  m->place[m->injected] = place;
  m->start[m->injected++] = m->length;
  memcpy(m->strings + m->length, text, length);
  m->length += length;
  return true;
}

/* Tells the shim which of its arguments hold secrets. It knows only those of its own environment,
 * and a static program may pass a value on without the variable. */
static bool add_told(struct moved *m, pid_t pid, size_t place) {
  static char data[TOLD_MAX];
  struct text told;
  struct words argv;
  arguments_of(pid, &argv);
  text_init(&told, data, sizeof data);
  text_add(&told, "%s=0,0,0;", SELF_VARIABLE);
  size_t nothing = told.length;
  secrets_tell(&argv, &told);
  return told.length == nothing || add_string(m, place, data);
}

static bool gather_strings(struct moved *m, pid_t pid, const struct words *env) {
  m->length = 0;
  m->injected = 0;
  for (int which = 0; which < VARIABLES_ADDED; which++) {
    size_t at = 0;
    while (at < env->count && !is_added(which, env->list[at])) at++;
    const char *had = at < env->count ? strchr(env->list[at], '=') + 1 : NULL;
    char *text = added_variable(which, had);
    bool fits = add_string(m, at, text);
    free(text);
    if (!fits) return false;
  }
  return add_told(m, pid, env->count);
}

/* How many bytes lower the block begins. */
static uint64_t move_block(struct moved *m, const struct layout *l, const struct words *env,
                           uint64_t stack) {
  size_t added = 0;
  for (int which = 0; which < m->injected; which++) added += m->place[which] == env->count;
  uint64_t shift = (m->length + added * sizeof(uint64_t) + 15) / 16 * 16;
  size_t end = l->variables + env->count;
  m->count = l->count + added;
  uint64_t strings = stack - shift + m->count * sizeof(uint64_t);
  memcpy(m->words, l->words, end * sizeof(uint64_t));
  for (int which = 0; which < m->injected; which++) {
    bool fresh = m->place[which] == env->count;
    m->words[fresh ? end++ : l->variables + m->place[which]] = strings + m->start[which];
  }
  m->words[end++] = 0;
  memcpy(m->words + end, l->words + l->auxiliary,
         (l->count - l->auxiliary) * sizeof(uint64_t));
  return shift;
}

static bool set_stack(pid_t pid, registers *r, uint64_t stack) {
  struct iovec piece = {r, sizeof *r};
  r->STACK_POINTER = stack;
  return ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &piece) == 0;
}

/* All or nothing: what was there before comes back when not all could be written. */
static bool put_block(pid_t pid, int memory, registers *r, const struct moved *m,
                      const struct layout *l, uint64_t shift) {
  uint64_t stack = r->STACK_POINTER;
  size_t words = m->count * sizeof(uint64_t);
  struct iovec parts[2] = {{(void *)m->words, words}, {(void *)m->strings, m->length}};
  if (!set_stack(pid, r, stack - shift)) return false;
  ssize_t n = pwritev(memory, parts, 2, (off_t)(stack - shift));
  if (n == (ssize_t)(words + m->length)) return true;
  n = pwrite(memory, l->words, l->count * sizeof(uint64_t), (off_t)stack);
  set_stack(pid, r, stack);
  return false;
}

enum { NO_RUN, US, ANOTHER };

/* Which run a program with this environment reports to. */
static int reports_to(const struct words *env) {
  for (uint32_t i = 0; i < env->count; i++)
    if (is_added(VARIABLES_ADDED - 1, env->list[i]))
      return strcmp(strchr(env->list[i], '=') + 1, trace_path()) == 0 ? US : ANOTHER;
  return NO_RUN;
}

static bool inject_into(pid_t pid, int memory, registers *r, const struct words *env) {
  static struct layout layout;
  static struct moved moved;
  uint64_t stack = r->STACK_POINTER;
  ssize_t n = pread(memory, layout.words, sizeof layout.words, (off_t)stack);
  if (n <= 0 || !understand(&layout, (size_t)n / sizeof(uint64_t))) return false;
  /* /proc must list as many variables as there are pointers on the stack. */
  if (env->cut || layout.variables + env->count + 1 != layout.auxiliary) return false;
  if (!gather_strings(&moved, pid, env)) return false;
  uint64_t shift = move_block(&moved, &layout, env, stack);
  return put_block(pid, memory, r, &moved, &layout, shift);
}

/* At the EXEC stop of a program. Whether it will report itself to us. */
bool inject(pid_t pid) {
  registers r;
  struct iovec piece = {&r, sizeof r};
  struct words env;
  char path[64];
  environment_of(pid, &env);
  int whom = reports_to(&env);
  if (whom != NO_RUN) return whom == US;
  /* A 32-bit program has fewer registers, and would not load the shim, either. */
  if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &piece) != 0) return false;
  if (piece.iov_len != sizeof r || !shim_reachable(pid)) return false;
  snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
  int memory = open(path, O_RDWR | O_CLOEXEC);
  bool done = memory >= 0 && inject_into(pid, memory, &r, &env);
  if (memory >= 0) close(memory);
  return done;
}
#endif
