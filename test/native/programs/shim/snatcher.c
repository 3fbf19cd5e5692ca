/* `snatcher FILE COUNT write|close|pread|fstat [old]`: a program with two threads, and beside it a
 * debugger. One thread starts COUNT children and waits for them. Whenever it, or a thread that it
 * starts, is about to make that call, the debugger holds it until the other thread has put FILE
 * under the very number that the call is for. `old`: as on a kernel without close_range. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Numbers of its own, which are left alone. */
enum { OWN = 200, OWN_END = 220, NUMBERS = 1024 };

extern char **environ;
static int file, asked[2], taken[2], ready[2], go[2];
static char mine[NUMBERS];

static void own_pipe(int ends[2]) {
  int low[2];
  if (pipe2(low, O_CLOEXEC) != 0) abort();
  for (int i = 0; i < 2; i++) {
    ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, OWN);
    close(low[i]);
  }
}

static void tell(int fd, int number) {
  if (write(fd, &number, sizeof number) != sizeof number) abort();
}

static int hear(int fd) {
  int number;
  return read(fd, &number, sizeof number) == sizeof number ? number : -1;
}

static void *snatch(void *unused) {
  for (int number; (number = hear(asked[0])) >= 0; tell(taken[1], number))
    if (dup2(file, number) == number) mine[number] = 1;
  return unused;
}

static int is_file(int fd) {
  struct stat a, b;
  return fstat(fd, &a) == 0 && fstat(file, &b) == 0 && a.st_ino == b.st_ino;
}

static int run(int count) {
  pthread_t thread;
  char *words[] = {"true", NULL};
  int failed = 0, lost = 0, had = 0;
  struct stat st;
  pthread_create(&thread, NULL, snatch, NULL);
  tell(ready[1], 0);
  hear(go[0]);
  for (int i = 0; i < count; i++) {
    int pid, status;
    if (posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ) != 0) failed++;
    else if (waitpid(pid, &status, 0) != pid || status != 0) failed++;
  }
  tell(ready[1], 0); /* the debugger sees it, and snatches no more */
  for (int fd = 0; fd < NUMBERS; fd++) {
    had += mine[fd];
    lost += mine[fd] && !is_file(fd);
  }
  fstat(file, &st);
  printf("%d failed, %d lost, %d bytes\n", failed, lost, (int)st.st_size);
  fflush(stdout);
  return had == 0;
}

/* --- the debugger */

static int snatches = 1, threads, old_kernel;

/* The thread of the shim does not want to be seen. */
static void clear_untraced(pid_t thread) {
  struct user_regs_struct regs;
  struct iovec at = {&regs, sizeof regs};
  ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &at);
#ifdef __x86_64__
  regs.rdi &= ~(unsigned long)CLONE_UNTRACED;
#else
  regs.regs[0] &= ~(unsigned long)CLONE_UNTRACED;
#endif
  ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &at);
}

/* It fails with ENOSYS. */
static void prevent_call(pid_t thread) {
#ifdef __x86_64__
  ptrace(PTRACE_POKEUSER, thread, offsetof(struct user, regs.orig_rax), -1L);
#else
  int none = -1;
  struct iovec at = {&none, sizeof none};
  ptrace(PTRACE_SETREGSET, thread, NT_ARM_SYSTEM_CALL, &at);
#endif
}

static long watched(const char *name) {
  if (strcmp(name, "write") == 0) return SYS_write;
  if (strcmp(name, "close") == 0) return SYS_close;
  return strcmp(name, "pread") == 0 ? SYS_pread64 : SYS_fstat;
}

static void at_call(pid_t thread, long call) {
  struct __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0) return;
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return;
  int fd = (int)info.entry.args[0];
  if (info.entry.nr == SYS_clone && (fd & CLONE_UNTRACED)) clear_untraced(thread);
  if (info.entry.nr == SYS_close_range && old_kernel) prevent_call(thread);
  if (info.entry.nr == SYS_write && fd == ready[1]) snatches = 0;
  if (!snatches || (long)info.entry.nr != call) return;
  if (fd == STDOUT_FILENO || fd == STDERR_FILENO) return;
  if (fd >= NUMBERS || (fd >= OWN && fd < OWN_END)) return;
  tell(asked[1], fd);
  hear(taken[0]);
}

static int debug(pid_t program, long call) {
  int status;
  hear(ready[0]);
  if (ptrace(PTRACE_SEIZE, program, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE) != 0) abort();
  ptrace(PTRACE_INTERRUPT, program, 0, 0);
  tell(go[1], 0);
  for (;;) {
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) return 1;
    if (!WIFSTOPPED(status)) {
      if (thread != program) continue;
      printf("%d threads of the shim\n", threads);
      return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    int signal = WSTOPSIG(status), event = status >> 16;
    threads += event == PTRACE_EVENT_CLONE;
    if (signal == (SIGTRAP | 0x80)) at_call(thread, call);
    ptrace(PTRACE_SYSCALL, thread, 0, event != 0 || signal == (SIGTRAP | 0x80) ? 0 : signal);
  }
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  old_kernel = argc > 4;
  own_pipe(asked), own_pipe(taken), own_pipe(ready), own_pipe(go);
  int low = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  file = fcntl(low, F_DUPFD_CLOEXEC, OWN);
  close(low);
  pid_t program = fork();
  return program == 0 ? run(atoi(argv[2])) : debug(program, watched(argv[3]));
}
