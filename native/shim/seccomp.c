/* Under a seccomp filter a system call of ours may kill the process, so the shim goes quiet before
 * the filter is there, for good. Programs that the process starts then get none of our variables
 * (the exec hooks look at shim_on), because their constructor would run under the filter.
 *
 * syscall(2) is how programs make calls that their libc has no function for. The few numbers that
 * we hook go to the same code as the function of that name. */
#include "streams.h"

#ifdef __linux__

enum { PR_SET_SECCOMP = 22, SECCOMP_SET_MODE_STRICT = 0, SECCOMP_SET_MODE_FILTER = 1 };

extern int prctl(int option, ...);

/* Quiet while the filter is being installed. A program that only tried whether it could (EFAULT,
 * EINVAL) is traced again. Gives the argument for loud_again. */
static int quiet(void) {
  int was_on = shim_on();
  if (!was_on) return 0;
  shim_flush();
  shim_quiet();
  return was_on;
}

static void loud_again(int was_on) {
  if (was_on) __atomic_store_n(&shim.on, 1, __ATOMIC_RELAXED);
}

/* prctl(2) takes four more arguments at most. Where the caller gave fewer, the kernel gets what is
 * in the registers, as it would without us. */
HOOK(int, prctl, (int option, ...)) {
  __builtin_va_list list;
  __builtin_va_start(list, option);
  long a = __builtin_va_arg(list, long), b = __builtin_va_arg(list, long);
  long c = __builtin_va_arg(list, long), d = __builtin_va_arg(list, long);
  __builtin_va_end(list);
  __typeof__(&prctl) original = ORIGINAL(prctl);
  int was_on = option == PR_SET_SECCOMP ? quiet() : 0;
  int result = CALL_ON(original, SYS6(SYS_prctl, option, a, b, c, d, 0), option, a, b, c, d);
  if (result < 0) loud_again(was_on);
  return result;
}

static int silences(long number, long first) {
  if (number == SYS_prctl) return (int)first == PR_SET_SECCOMP;
  return number == SYS_seccomp &&
         (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER);
}

/* Seven words, whatever the caller gave: the libc's own takes them all, too. */
typedef long seven(long number, long a, long b, long c, long d, long e, long f);

__attribute__((used, visibility("hidden"))) seven shim_syscall, *shim_syscall_next;

/* Other numbers are jumped to with the stack as it was: a caller of clone returns twice. On x86-64
 * the last argument lies on the caller's stack, possibly in a variable that other threads change; a
 * C function would read it and write it back. Hence assembler. */
#ifdef __x86_64__
__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        ".cfi_startproc\n"
        "  endbr64\n"
        "  cmpq $1, %rdi\n" /* write */
        "  je 1f\n"
        "  cmpq $20, %rdi\n" /* writev */
        "  je 1f\n"
        "  cmpq $59, %rdi\n" /* execve */
        "  je 1f\n"
        "  cmpq $157, %rdi\n" /* prctl */
        "  je 1f\n"
        "  cmpq $231, %rdi\n" /* exit_group */
        "  je 1f\n"
        "  cmpq $317, %rdi\n" /* seccomp */
        "  je 1f\n"
        "  cmpq $322, %rdi\n" /* execveat */
        "  je 1f\n"
        "  movq shim_syscall_next(%rip), %r11\n"
        "  testq %r11, %r11\n"
        "  je 1f\n"
        "  jmp *%r11\n"
        "1:\n"
        "  jmp shim_syscall\n"
        ".cfi_endproc\n"
        ".size syscall, . - syscall\n");
#else
EXPORTED seven hook_syscall __asm__("syscall");

EXPORTED long hook_syscall(long number, long a, long b, long c, long d, long e, long f) {
  int ours = number == SYS_write || number == SYS_writev || number == SYS_execve ||
             number == SYS_prctl || number == SYS_exit_group || number == SYS_seccomp ||
             number == SYS_execveat || shim_syscall_next == NULL;
  return (ours ? shim_syscall : shim_syscall_next)(number, a, b, c, d, e, f);
}
#endif

long shim_syscall(long number, long a, long b, long c, long d, long e, long f) {
  seven *original = shim_next((void **)&shim_syscall_next, "syscall");
  if (number == SYS_execve)
    return exec_by_path((const char *)a, (char *const *)b, (char *const *)c);
  if (number == SYS_execveat)
    return exec_by_descriptor((int)a, (const char *)b, (char *const *)c, (char *const *)d, (int)e);
  if (number == SYS_exit_group) shim_flush();
  int told = (number == SYS_write || number == SYS_writev) && shim_watching();
  int was_on = silences(number, a) ? quiet() : 0;
  uint64_t at_ns = told ? shim_clock_ns() : 0;
  long done = CALL_ON(original, sys_call(number, a, b, c, d, e, f), number, a, b, c, d, e, f);
  if (done < 0) loud_again(was_on);
  if (!told || done <= 0) return done;
  if (number == SYS_write) shim_tell((int)a, at_ns, (const void *)b, (size_t)done);
  else shim_tell_vector((int)a, at_ns, (const struct sys_vector *)b, (size_t)c, (size_t)done);
  return done;
}

#endif
