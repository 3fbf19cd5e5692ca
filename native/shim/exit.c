/* A process that exits reports it once, with its code and what it has used. glibc calls what
 * on_exit(3) registered. musl has no on_exit, so exit is hooked there, and main, from which most
 * programs return. An end by a signal is reported by the process that waits (reap.c). */
#include "interpose.h"

WEAK int on_exit(void (*call)(int code, void *data), void *data);

/* The process that has reported its exit: a vfork child shares this variable with its parent. */
static int said_by;

static uint64_t nanoseconds(int64_t seconds, int64_t micros) {
  return (uint64_t)seconds * 1000000000u + (uint64_t)micros * 1000u;
}

/* A vfork child has the memory of its parent: how much it had itself is not known. */
static NOINLINE void fill_usage(struct trace_usage *to, int own_memory) {
  struct sys_usage usage;
  if (!sys_usage(&usage)) return;
  to->user_ns = nanoseconds(usage.user.seconds, usage.user.micros);
  to->system_ns = nanoseconds(usage.system.seconds, usage.system.micros);
  if (own_memory) to->peak_bytes = (uint64_t)usage.peak * 1024u;
}

void exit_say(int code) {
  if (!shim_may_speak()) return;
  int own = sys_getpid();
  if (__atomic_exchange_n(&said_by, own, __ATOMIC_RELAXED) == own) return;
  shim_flush();
  struct {
    struct trace_frame head;
    struct trace_exit exit;
    struct trace_usage usage;
    uint64_t room;
  } frame = {.exit = {code & 255, 0}};
  if (own == shim.own_pid) frame.head.pid = shim.pid, frame.head.space = shim.space;
  fill_usage(&frame.usage, own == shim.own_pid);
  const uint32_t length = sizeof frame.head + sizeof frame.exit + sizeof frame.usage;
  frame_send_ready(&frame.head, length, TRACE_EXIT, FROM_SHIM);
}

static void leaving(int code, void *data) {
  (void)data;
  exit_say(code);
}

void exit_init(void) {
  int error = shim_errno();
  if (on_exit) on_exit(leaving, NULL);
  shim_set_errno(error);
}

void exit_forked(void) { said_by = 0; }

HOOK(void, _exit, (int code)) {
  exit_say(code);
  __typeof__(&_exit) original = ORIGINAL(_exit);
  if (original != NULL) original(code);
  sys_exit_group(code);
}

HOOK(void, _Exit, (int code)) {
  exit_say(code);
  __typeof__(&_Exit) original = ORIGINAL(_Exit);
  if (original != NULL) original(code);
  sys_exit_group(code);
}

HOOK(void, quick_exit, (int code)) {
  exit_say(code);
  __typeof__(&quick_exit) original = ORIGINAL(quick_exit);
  if (original != NULL) original(code);
  sys_exit_group(code);
}

HOOK(void, exit, (int code)) {
  if (!on_exit) exit_say(code);
  __typeof__(&exit) original = ORIGINAL(exit);
  if (original != NULL) original(code);
  sys_exit_group(code);
}

/* --- returning from main, in a libc without on_exit */

#ifdef __linux__

typedef int (*main_function)(int, char **, char **);
typedef int (*start_function)(main_function, int, char **, void (*)(void), void (*)(void),
                              void (*)(void), void *);

static main_function program;

static int run_program(int count, char **argv, char **env) {
  int code = program(count, argv, env);
  exit_say(code);
  return code;
}

/* What __libc_start_main goes on to, and the main that it gets. */
struct start {
  start_function original;
  main_function main;
};

__attribute__((used)) static struct start choose_start(main_function given) {
  static void *slot;
  struct start start = {(start_function)shim_next(&slot, "__libc_start_main"), given};
  if (!on_exit) {
    program = given;
    start.main = run_program;
  }
  return start;
}

/* Written by hand to leave no frame on the stack: backtraces of programs end in it. */
EXPORTED void __libc_start_main(void);
#ifdef __x86_64__
__asm__(
    ".globl __libc_start_main\n"
    ".type __libc_start_main, @function\n"
    "__libc_start_main:\n"
    "  endbr64\n"
    "  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n"
    "  call choose_start\n"
    "  pop %r9\n  pop %r8\n  pop %rcx\n  mov %rdx, %rdi\n  pop %rdx\n  pop %rsi\n"
    "  jmp *%rax\n"
    ".size __libc_start_main, . - __libc_start_main\n");
#else
__asm__(
    ".globl __libc_start_main\n"
    ".type __libc_start_main, %function\n"
    "__libc_start_main:\n"
    "  stp x29, x30, [sp, #-64]!\n"
    "  stp x1, x2, [sp, #16]\n  stp x3, x4, [sp, #32]\n  stp x5, x6, [sp, #48]\n"
    "  bl choose_start\n"
    "  mov x16, x0\n  mov x0, x1\n"
    "  ldp x1, x2, [sp, #16]\n  ldp x3, x4, [sp, #32]\n  ldp x5, x6, [sp, #48]\n"
    "  ldp x29, x30, [sp], #64\n"
    "  br x16\n"
    ".size __libc_start_main, . - __libc_start_main\n");
#endif
#endif
