/* Installs a seccomp filter with an instruction of its own, which no library sees:
 * `self-filter KIND [COMMAND...]`. Built with -DHELPER it does so through functions that get the
 * number of the call; with -DHARMLESS it has all of the bytes, but only as data. `idle` installs
 * none. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HARMLESS
#ifdef __x86_64__
/* mov $317,%eax; syscall; mov $157,%eax; mov $22,%edi; syscall; ret */
#define CODE "\xb8\x3d\x01\0\0\x0f\x05\xb8\x9d\0\0\0\xbf\x16\0\0\0\x0f\x05\xc3"
#else
/* mov x8, #277; svc #0; mov x8, #167; mov x0, #22; svc #0; ret */
#define CODE                                                           \
  "\xa8\x22\x80\xd2\x01\0\0\xd4\xe8\x14\x80\xd2\xc0\x02\x80\xd2\x01" \
  "\0\0\xd4\xc0\x03\x5f\xd6"
#endif
static const char CONSTANT[] = CODE;
static char variable[] = CODE;

int main(int argc, char **argv) {
  const volatile char *constant = CONSTANT;
  volatile char *other = variable;
  int same = constant[argc] == other[argc] && argv[0] != NULL;
  puts("before");
  return same ? 4 : 90;
}
#else
#define INLINE static inline __attribute__((always_inline))
#ifdef HELPER
#define CALLED static __attribute__((noinline))
#else
#define CALLED INLINE
#endif

CALLED long enter(long number, long a, long b, long c) {
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

CALLED long enter_prctl(long option, long a, long b) { return enter(SYS_prctl, option, a, b); }

#define KILL(number)                                   \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define FILTER(...)                                                            \
  {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), KILL(SYS_prctl), __VA_ARGS__,        \
   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}

static struct sock_filter no_files[] =
    FILTER(KILL(SYS_openat), KILL(SYS_fstat), KILL(SYS_newfstatat), KILL(SYS_getppid));
/* A loader needs files; these calls it does not make. */
static struct sock_filter no_looking[] =
    FILTER(KILL(SYS_readlinkat), KILL(SYS_symlinkat), KILL(SYS_getppid));

static void say(const char *text) {
  if (write(1, text, strlen(text)) < 0) _exit(90);
}

static void lock(struct sock_filter *filter, size_t bytes, int by_prctl) {
  struct sock_fprog program = {(unsigned short)(bytes / sizeof *filter), filter};
  long result;
  enter_prctl(PR_SET_NO_NEW_PRIVS, 1, 0);
  if (by_prctl) result = enter_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program);
  else result = enter(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program);
  if (result != 0) _exit(91);
}

/* A child writes into a pipe, and its parent copies that to stdout. */
static void use_a_pipe(void) {
  char text[32];
  int ends[2], status = 0;
  if (pipe(ends) != 0) _exit(92);
  pid_t child = fork();
  if (child == 0) {
    if (write(ends[1], "through a pipe\n", 15) != 15) _exit(93);
    say("child\n");
    exit(5);
  }
  close(ends[1]);
  if (waitpid(child, &status, 0) != child) _exit(94);
  ssize_t length = read(ends[0], text, sizeof text);
  if (length <= 0 || write(1, text, (size_t)length) != length) _exit(95);
  printf("the child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(int argc, char **argv) {
  const char *kind = argc > 1 ? argv[1] : "";
  puts("before");
  fflush(stdout);
  if (strcmp(kind, "strict") == 0) {
    if (enter_prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0) != 0) return 91;
    say("after\n");
    enter(SYS_exit, 3, 0, 0);
  }
  if (strcmp(kind, "idle") == 0) return execve(argv[2], argv + 2, environ);
  int by_prctl = strstr(kind, "prctl") != NULL;
  if (strncmp(kind, "files", 5) == 0) {
    lock(no_files, sizeof no_files, by_prctl);
    use_a_pipe();
    return 4;
  }
  int file = open(argv[2], O_RDONLY | O_CLOEXEC);
  lock(no_looking, sizeof no_looking, by_prctl);
  say("after\n");
  if (strstr(kind, "fork") != NULL && fork() != 0) return wait(NULL) > 0 ? 6 : 96;
  if (strstr(kind, "file") != NULL) fexecve(file, argv + 2, environ);
  char **words = argv + 2;
  if (strstr(kind, "raw") != NULL) enter(SYS_execve, (long)words[0], (long)words, (long)environ);
  else execve(words[0], words, environ);
  return 97;
}
#endif
