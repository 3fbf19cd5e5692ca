/* Descriptors that no other thread can reach. All threads of a process share one table: another
 * thread may put a file of the program under one of our numbers at any moment, by dup2, and no
 * check can come late enough to exclude that. So where there are other threads, work that opens a
 * file for the shim is done in a thread of its own, with a table of its own, which then ends.
 *
 * It is a thread and not a process: there is nothing to wait for or to find among the children, and
 * it ends with the process, however that ends. It is not traced, so that debuggers, strace and the
 * runner do not see it. It uses none of the program's stack, signals are blocked in it, and it only
 * makes system calls. The caller waits in a way that a stop of job control interrupts, which
 * CLONE_VFORK is not. Where no thread can be had (RLIMIT_NPROC, pids of a cgroup, memory), the work
 * is not done: a missing frame does less harm than one in a file of the program. */
#include "shim.h"

WEAK extern char __libc_single_threaded; /* of glibc alone */

int shim_one_thread(void) {
  return &__libc_single_threaded != NULL && __libc_single_threaded;
}

int shim_several_threads(void) {
  return &__libc_single_threaded != NULL && !__libc_single_threaded;
}

#ifdef __linux__

enum {
  CLONE_VM = 0x100, CLONE_FS = 0x200, CLONE_FILES = 0x400, CLONE_SIGHAND = 0x800,
  CLONE_THREAD = 0x10000, CLONE_SYSVSEM = 0x40000, CLONE_CHILD_CLEARTID = 0x200000,
  CLONE_UNTRACED = 0x800000,
  THREAD_FLAGS = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                 CLONE_CHILD_CLEARTID | CLONE_UNTRACED
};
enum { STACK_BYTES = 32 << 10, STACK_ALIGNMENT = 16, CLOSE_RANGE_UNSHARE = 2, FUTEX_WAIT = 0 };
enum { GONE_TRIES = 1000, NO_TABLE = -4095 };

struct errand {
  errand_work *work;
  void *about;
  int kept, shares; /* it begins with the table of the process */
  int result;
  uint32_t runs; /* the kernel clears it and wakes us */
};

/* glibc never sets __libc_single_threaded back, not when all other threads have ended, nor in the
 * child of a fork; musl has no such variable. The link count of this directory is that of a
 * directory, 2, and one for each thread. */
int shim_alone(void) {
  struct sys_stat st;
  if (LIKELY(shim_one_thread())) return 1;
  return sys_stat_path("/proc/self/task", &st) == 0 && st.links == 2 + 1;
}

/* A new table with nothing in it but `kept`. In a copy of the whole table, a file that the program
 * closes meanwhile would keep its locks and its port until the thread is gone. */
static int leave_table(int kept) {
  unsigned first = kept < 0 ? 0 : (unsigned)kept + 1;
  int error = (int)SYS3(SYS_close_range, first, ~0u, CLOSE_RANGE_UNSHARE);
  if (error == 0 && first > 1) SYS3(SYS_close_range, 0, first - 2, 0);
  return error;
}

__attribute__((used)) static void run_errand(struct errand *errand) {
  if (errand->shares && leave_table(errand->kept) < 0) errand->result = NO_TABLE;
  else errand->result = errand->work(errand->about);
  for (;;) SYS1(SYS_exit, 0);
}

/* The thread begins with the registers of the caller, but for its stack. */
static NOINLINE long start_thread(struct errand *errand, void *stack, long flags) {
#ifdef __x86_64__
  long result;
  register uint32_t *cleared __asm__("r10") = &errand->runs;
  __asm__ volatile("syscall\n"
                   "  testq %%rax, %%rax\n"
                   "  jnz 1f\n"
                   "  xorl %%ebp, %%ebp\n" /* backtraces end here */
                   "  movq %%rbx, %%rdi\n"
                   "  call run_errand\n"
                   "1:\n"
                   : "=a"(result)
                   : "a"(SYS_clone), "D"(flags), "S"(stack), "d"(0), "r"(cleared), "b"(errand)
                   : "rcx", "r11", "memory");
  return result;
#else
  register long x8 __asm__("x8") = SYS_clone;
  register long x0 __asm__("x0") = flags;
  register void *x1 __asm__("x1") = stack;
  register long x2 __asm__("x2") = 0, x3 __asm__("x3") = 0;
  register uint32_t *x4 __asm__("x4") = &errand->runs;
  register struct errand *x19 __asm__("x19") = errand;
  __asm__ volatile("svc 0\n"
                   "  cbnz x0, 1f\n"
                   "  mov x29, #0\n"
                   "  mov x0, x19\n"
                   "  bl run_errand\n"
                   "1:\n"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x19)
                   : "memory");
  return x0;
#endif
}

/* Until the kernel has forgotten the thread: unshare(CLONE_NEWUSER) or setns, which the program may
 * call next, fail with EINVAL in a process with two. */
static void await(struct errand *errand, long thread) {
  int process = sys_getpid();
  while (__atomic_load_n(&errand->runs, __ATOMIC_ACQUIRE) != 0)
    SYS4(SYS_futex, &errand->runs, FUTEX_WAIT, 1, 0);
  for (int i = 0; i < GONE_TRIES && SYS3(SYS_tgkill, process, thread, 0) != -ESRCH; i++)
    SYS0(SYS_sched_yield);
}

static int run_in_thread(struct errand *errand, unsigned char *stack, int shares) {
  errand->runs = 1, errand->shares = shares;
  /* Not the very end: valgrind looks up the mapping at this address, and answers ENOMEM where there
   * is none. */
  unsigned char *top = stack + STACK_BYTES - STACK_ALIGNMENT;
  long thread = start_thread(errand, top, shares ? THREAD_FLAGS | CLONE_FILES : THREAD_FLAGS);
  if (thread < 0) return (int)thread;
  await(errand, thread);
  return errand->result;
}

/* One stack stays mapped: munmap interrupts all processors that the program runs on, to flush their
 * TLBs. */
static void *spare;

static void *take_stack(void) {
  void *stack = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQUIRE);
  return stack != NULL ? stack : scratch_take(STACK_BYTES);
}

static void give_stack(void *stack) {
  scratch_give(__atomic_exchange_n(&spare, stack, __ATOMIC_RELEASE), STACK_BYTES);
}

int shim_apart(errand_work *work, void *about, int kept) {
  if (LIKELY(shim_alone())) return work(about);
  struct errand errand = {.work = work, .about = about, .kept = kept};
  uint64_t before;
  sys_block_signals(&before);
  void *stack = take_stack();
  int result = stack == NULL ? -ENOMEM : run_in_thread(&errand, stack, 1);
  /* Before Linux 5.9 an empty table cannot be had, but a copy, until the thread is gone. */
  if (result == NO_TABLE) result = run_in_thread(&errand, stack, 0);
  give_stack(stack);
  sys_restore_signals(&before);
  return result;
}

#else /* a table for a thread alone cannot be had */

int shim_alone(void) { return 1; }

int shim_apart(errand_work *work, void *about, int kept) { return (void)kept, work(about); }

#endif
