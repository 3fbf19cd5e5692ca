/* Locks itself up: `sandbox KIND [COMMAND...]`. A filter kills the process at the first system call
 * that a plain dynamic program does not make by itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What strace shows for `int main(void) { puts("hello"); }`, on old and new kernels. */
static const int ALLOWED[] = {
#ifdef SYS_access
    SYS_access, SYS_arch_prctl, SYS_open,
#endif
    SYS_read, SYS_write, SYS_close, SYS_fstat, SYS_newfstatat, SYS_mmap, SYS_mprotect, SYS_munmap,
    SYS_brk, SYS_pread64, SYS_execve, SYS_set_tid_address, SYS_set_robust_list, SYS_rseq,
    SYS_prlimit64, SYS_getrandom, SYS_openat, SYS_faccessat, SYS_exit_group};
enum { COUNT = sizeof ALLOWED / sizeof *ALLOWED };

static struct sock_filter code[2 * COUNT + 4];
static struct sock_fprog program = {0, code};

static void make_filter(int may_ask) {
  int n = 0;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                           offsetof(struct seccomp_data, nr));
  for (int i = 0; i < COUNT; i++) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)ALLOWED[i], 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  /* Whether there is a filter at all is asked with prctl. */
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1);
  code[n++] = (struct sock_filter)BPF_STMT(
      BPF_RET | BPF_K, may_ask ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  program.len = (unsigned short)n;
}

/* Without the libc, so that nobody who stands in for it notices. */
static long unseen_call(long number, long a, long b, long c) {
#ifdef __x86_64__
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
#else
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
#endif
}

/* In memory: what is in the code the shim finds, and would be silent from the start. */
static volatile long seccomp_number = SYS_seccomp;
static long (*volatile unseen)(long number, long a, long b, long c) = unseen_call;

static void say(const char *text) {
  if (write(1, text, strlen(text)) < 0) _exit(90);
}

static void install(const char *kind) {
  long result = -1;
  if (strstr(kind, "prctl")) result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
  if (strstr(kind, "syscall")) result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
  if (strstr(kind, "rawcall")) result = syscall(SYS_prctl, PR_SET_SECCOMP, 2, &program, 0, 0);
  if (strstr(kind, "unseen"))
    result = unseen(seccomp_number, SECCOMP_SET_MODE_FILTER, 0, (long)&program);
  if (result != 0) exit(91);
}

int main(int argc, char **argv) {
  const char *kind = argc > 1 ? argv[1] : "";
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  syscall(SYS_getppid); /* from now on whoever stands in for syscall knows where to go on */
  puts("before");
  say("before, too\n");
  if (!strcmp(kind, "probe")) { /* a program that only wants to know whether it could */
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != -1 || errno != EFAULT) return 92;
    if (syscall(SYS_seccomp, 1, 0xffff, NULL) != -1 || errno != EINVAL) return 93;
    say("after\n");
    return 0;
  }
  if (!strcmp(kind, "strict")) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 91;
    say("after\n");
    syscall(SYS_exit, 3);
  }
  make_filter(strstr(kind, "asks") != NULL);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 94;
  install(kind);
  say("after\n");
  puts("after, too");
  if (argc > 2) execve(argv[2], argv + 2, environ);
  exit(4);
}
