/* What programs do that hardly any program does: `odd WAY [ARG...]`. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void line(int fd, const char *text) {
  if (write(fd, text, strlen(text)) < 0) _exit(99);
}

static int seccomp_strict(void) {
  line(1, "strict: before\n");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 1;
  line(1, "strict: behind\n");
  syscall(SYS_exit, 4);
  return 1;
}

#define KILL(number)                                         \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),       \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static struct sock_filter NO_FILES[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    KILL(SYS_openat), KILL(SYS_open), KILL(SYS_readlink), KILL(SYS_mmap), KILL(SYS_munmap),
    KILL(SYS_fstat), KILL(SYS_newfstatat), KILL(SYS_getpid), KILL(SYS_prlimit64),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static struct sock_fprog NO_FILES_PROGRAM = {sizeof NO_FILES / sizeof *NO_FILES, NO_FILES};

#ifdef __x86_64__
/* In memory: what is in the code the shim finds, and would be silent from the start. */
static volatile long seccomp_number = SYS_seccomp;

static long enter_kernel(long number, long a, long b, const void *c) {
  long done;
  __asm__ volatile("syscall"
                   : "=a"(done)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return done;
}
static long (*volatile unseen)(long number, long a, long b, const void *c) = enter_kernel;
#endif

/* From here on no file may be opened and no memory mapped; who does dies. */
static int seccomp_filter(const char *how) {
  line(1, "filter: before\n");
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  long done = -1;
  if (strcmp(how, "prctl") == 0)
    done = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &NO_FILES_PROGRAM);
  if (strcmp(how, "syscall") == 0)
    done = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &NO_FILES_PROGRAM);
#ifdef __x86_64__
  if (strcmp(how, "raw") == 0)
    done = unseen(seccomp_number, SECCOMP_SET_MODE_FILTER, 0, &NO_FILES_PROGRAM);
#endif
  if (done != 0) return 1;
  line(1, "filter: behind\n");
  line(2, "filter: behind, too\n");
  pid_t pid = fork();
  if (pid == 0) {
    line(1, "filter: child\n");
    exit(5);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  line(1, WIFEXITED(status) && WEXITSTATUS(status) == 5 ? "filter: child 5\n" : "filter: ?\n");
  exit(6);
}

/* Which files are open, by number: nobody may leave one here. */
static int open_files(void) {
  DIR *dir = opendir("/proc/self/fd");
  char seen[64] = {0};
  for (struct dirent *e; dir && (e = readdir(dir));)
    if (e->d_name[0] != '.' && atoi(e->d_name) < 64 && atoi(e->d_name) != dirfd(dir))
      seen[atoi(e->d_name)] = 1;
  if (dir) closedir(dir);
  for (int i = 0; i < 64; i++)
    if (seen[i]) printf("fd %d\n", i);
  int next = open("/dev/null", O_RDONLY);
  printf("next %d\n", next);
  return 0;
}

static int storm(void) {
  char text[32];
  closefrom(3);
  for (int fd = 3; fd < 200; fd++)
    if (dup2(fd % 2 ? 1 : 2, fd) != fd) return 1;
  for (int fd = 3; fd < 200; fd += 13) {
    snprintf(text, sizeof text, "storm %d\n", fd);
    line(fd, text);
  }
  for (int fd = 0; fd < 1024; fd++)
    if (fd != 7) close(fd);
  line(7, "storm: only 7\n");
  return fork() < 0;
}

static int swapped(void) {
  printf("swap: out\n"), fflush(stdout);
  fprintf(stderr, "swap: err\n");
  int kept = dup(1);
  dup2(2, 1);
  dup2(kept, 2);
  close(kept);
  printf("swap: out, now err\n"), fflush(stdout);
  fprintf(stderr, "swap: err, now out\n");
  line(1, "swap: written, now err\n");
  return 0;
}

/* errno after calls that succeed, and after some that fail. */
static int kept_errno(void) {
  printf("errno: first\n"), fflush(stdout);
  errno = 77;
  line(1, "errno: write\n");
  int after_write = errno;
  printf("errno: print\n"), fflush(stdout);
  int after_print = errno;
  pid_t pid = fork();
  if (pid == 0) _exit(errno);
  int after_fork = errno, status;
  waitpid(pid, &status, 0);
  int after_wait = errno;
  char *none[] = {"/nowhere/at-all", NULL};
  execve(none[0], none, environ);
  int after_exec = errno;
  errno = 77;
  int bad = (int)write(987, "x", 1), after_bad = errno;
  printf("errno: %d %d %d %d %d %d %d %d\n", after_write, after_print, after_fork, after_wait,
         WEXITSTATUS(status), after_exec, bad, after_bad);
  return 0;
}

static int failing_execs(char **argv) {
  static char word[200000];
  memset(word, 'x', sizeof word - 1);
  char *big[] = {"true", word, NULL}, *plain[] = {"true", NULL};
  const char *files[] = {"/nowhere/at-all", "/", "/etc/passwd", argv[2], "/etc/passwd/x", ""};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    execve(files[i], plain, environ);
    printf("execve %zu: %d\n", i, errno);
  }
  execve("/bin/true", big, environ);
  printf("execve big: %d\n", errno);
  execvp("no-such-program-anywhere", plain);
  printf("execvp: %d\n", errno);
  const char *volatile nowhere = (const char *)8;
  execve(nowhere, plain, environ);
  printf("execve bad address: %d\n", errno);
  return 0;
}

/* The file of another process, got over a socket. */
static int passed(void) {
  int pair[2], fd = 1;
  char space[CMSG_SPACE(sizeof fd)] = {0}, byte = 0;
  struct iovec part = {&byte, 1};
  struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space,
                     .msg_controllen = sizeof space};
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) return 1;
  pid_t pid = fork();
  if (pid == 0) {
    close(1);
    close(2);
    if (recvmsg(pair[1], &m, 0) != 1) _exit(2);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    line(fd, "passed: by the child\n");
    exit(8);
  }
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET,
                        .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(c), &fd, sizeof fd);
  sendmsg(pair[0], &m, 0);
  int status;
  waitpid(pid, &status, 0);
  printf("passed: %d\n", WEXITSTATUS(status));
  return 0;
}

/* A write that no write call makes. 77 when the kernel does not allow it. */
static int uring(void) {
  static const char TEXT[] = "uring: written\n";
  struct io_uring_params p = {0};
  int ring = (int)syscall(SYS_io_uring_setup, 4, &p);
  if (ring < 0) return 77;
  size_t size = p.sq_off.array + p.sq_entries * sizeof(unsigned);
  int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
  char *sq = mmap(NULL, size, prot, flags, ring, IORING_OFF_SQ_RING);
  struct io_uring_sqe *e = mmap(NULL, p.sq_entries * sizeof *e, prot, flags, ring, IORING_OFF_SQES);
  if (sq == MAP_FAILED || e == MAP_FAILED) return 76;
  *e = (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .fd = 1, .addr = (unsigned long)TEXT,
                             .len = sizeof TEXT - 1, .off = (__u64)-1};
  *(unsigned *)(sq + p.sq_off.array) = 0;
  __atomic_store_n((unsigned *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
  return syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1 ? 0 : 75;
}

/* Traces a child of its own, as a debugger does. */
static int debugger(void) {
  int status = 0;
  pid_t pid = fork();
  if (pid == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(20);
    raise(SIGSTOP);
    _exit(9);
  }
  waitpid(pid, &status, 0);
  printf("debugger: %s\n", WIFSTOPPED(status) ? "stopped" : "cannot trace");
  if (WIFSTOPPED(status)) ptrace(PTRACE_CONT, pid, NULL, NULL), waitpid(pid, &status, 0);
  printf("debugger: exit %d\n", WEXITSTATUS(status));
  return 0;
}

/* Comes to a process that runs already. */
static int attach(pid_t pid) {
  long got = ptrace(PTRACE_SEIZE, pid, NULL, NULL);
  printf("attach: %s\n", got == 0 ? "yes" : strerror(errno));
  if (got != 0) return 1;
  ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
  waitpid(pid, NULL, 0);
  return ptrace(PTRACE_DETACH, pid, NULL, NULL) != 0;
}

static int recursion(int depth) {
  volatile char room[4096];
  room[0] = (char)depth;
  return depth < 0 ? 0 : recursion(depth + 1) + room[0];
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  if (strcmp(way, "strict") == 0) return seccomp_strict();
  if (strcmp(way, "filter") == 0) return seccomp_filter(argv[2]);
  if (strcmp(way, "files") == 0) return open_files();
  if (strcmp(way, "storm") == 0) return storm();
  if (strcmp(way, "swap") == 0) return swapped();
  if (strcmp(way, "errno") == 0) return kept_errno();
  if (strcmp(way, "execs") == 0) return failing_execs(argv);
  if (strcmp(way, "pass") == 0) return passed();
  if (strcmp(way, "uring") == 0) return uring();
  if (strcmp(way, "debugger") == 0) return debugger();
  if (strcmp(way, "attach") == 0) return attach(atoi(argv[2]));
  if (strcmp(way, "overflow") == 0) return recursion(0);
  return 2;
}
