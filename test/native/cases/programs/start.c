/* Starts a program in the way that is asked for, waits for it and says how it ended:
 *
 *   start WAY PROGRAM [ARG...]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char **given; /* the program and its arguments */
static const char *way;

static int told(int status) {
  if (WIFSIGNALED(status)) printf("%s: signal %d\n", way, WTERMSIG(status));
  else printf("%s: exit %d\n", way, WEXITSTATUS(status));
  return 0;
}

static int failed(void) {
  printf("%s: errno %d\n", way, errno);
  fflush(stdout);
  return 1;
}

static int wait_told(pid_t pid) {
  int status;
  if (pid < 0) return failed();
  if (waitpid(pid, &status, 0) != pid) return failed();
  return told(status);
}

static void child_execs(void) {
  execv(given[0], given);
  _exit(127);
}

static int by_fork(void) {
  pid_t pid = fork();
  if (pid == 0) child_execs();
  return wait_told(pid);
}

static int by_vfork(void) {
  static volatile int seen; /* the child's memory is ours until it execs */
  pid_t pid = vfork();
  if (pid == 0) {
    seen = 42;
    child_execs();
  }
  int failed = wait_told(pid);
  printf("%s: seen %d\n", way, seen);
  return failed;
}

static int by_spawn(void) {
  pid_t pid;
  int error = posix_spawn(&pid, given[0], NULL, NULL, given, environ);
  errno = error;
  return error ? failed() : wait_told(pid);
}

/* A name for PATH, another group, other signals, and files moved on the way. */
static int by_spawnp(void) {
  pid_t pid;
  sigset_t none;
  posix_spawnattr_t attr;
  posix_spawn_file_actions_t files;
  sigemptyset(&none);
  posix_spawnattr_init(&attr);
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attr, &none);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, 1, 30);
  posix_spawn_file_actions_adddup2(&files, 2, 1);
  posix_spawn_file_actions_adddup2(&files, 30, 2);
  posix_spawn_file_actions_addclose(&files, 30);
  char *base = strrchr(given[0], '/');
  char *path = strndup(given[0], (size_t)(base - given[0]));
  setenv("PATH", path, 1);
  given[0] = base + 1;
  int error = posix_spawnp(&pid, given[0], &files, &attr, given, environ);
  errno = error;
  return error ? failed() : wait_told(pid);
}

static int by_clone3(void) {
  struct clone_args args = {.exit_signal = SIGCHLD};
  long pid = syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) child_execs();
  return wait_told((pid_t)pid);
}

static char clone_stack[65536] __attribute__((aligned(16)));

static int clone_main(void *unused) {
  (void)unused;
  child_execs();
  return 1;
}

static int by_clone(void) {
  char *top = clone_stack + sizeof clone_stack;
  return wait_told(clone(clone_main, top, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
}

static int memfd_of(const char *file) {
  struct stat st;
  int from = open(file, O_RDONLY | O_CLOEXEC), to = memfd_create("program", MFD_CLOEXEC);
  if (from < 0 || to < 0 || fstat(from, &st) != 0) return -1;
  for (off_t left = st.st_size; left > 0;) {
    ssize_t n = sendfile(to, from, NULL, (size_t)left);
    if (n <= 0) return -1;
    left -= n;
  }
  return to;
}

static int by_memfd(void) {
  pid_t pid = fork();
  if (pid == 0) {
    int fd = memfd_of(given[0]);
    fexecve(fd, given, environ);
    _exit(127);
  }
  return wait_told(pid);
}

static int by_execveat(void) {
  pid_t pid = fork();
  if (pid == 0) {
    int fd = open(given[0], O_PATH | O_CLOEXEC);
    syscall(SYS_execveat, fd, "", given, environ, 0x1000 /* AT_EMPTY_PATH */);
    _exit(127);
  }
  return wait_told(pid);
}

static void *thread_execs(void *unused) {
  execv(given[0], given);
  return unused;
}

static int by_thread(void) {
  pid_t pid = fork();
  if (pid == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, thread_execs, NULL);
    for (;;) pause();
  }
  return wait_told(pid);
}

static void joined(char *text, size_t size) {
  size_t length = 0;
  for (char **word = given; *word; word++)
    length += (size_t)snprintf(text + length, size - length, "%s'%s'", length ? " " : "", *word);
}

static int by_system(void) {
  char text[4096];
  joined(text, sizeof text);
  return told(system(text));
}

static int by_popen(void) {
  char text[4096], line[256];
  joined(text, sizeof text);
  FILE *from = popen(text, "r");
  while (from && fgets(line, sizeof line, from)) printf("%s: read %s", way, line);
  return from ? told(pclose(from)) : failed();
}

/* No environment at all, not even an empty list where that is allowed. */
static int by_empty(void) {
  char *none[] = {NULL};
  pid_t pid = fork();
  if (pid == 0) {
    clearenv();
    execve(given[0], given, none);
    _exit(127);
  }
  return wait_told(pid);
}

static int by_execl(void) {
  pid_t pid = fork();
  if (pid == 0) {
    execl(given[0], given[0], given[1], given[2], given[3], given[4], (char *)NULL);
    _exit(127);
  }
  return wait_told(pid);
}

/* This process becomes the next, which does the same, until the count is down to 0. */
static int by_chain(void) {
  char count[16];
  int left = atoi(given[0]);
  printf("chain at %d\n", left);
  fflush(stdout);
  if (left == 0) return 7;
  snprintf(count, sizeof count, "%d", left - 1);
  char *next[] = {"start", "chain", count, NULL};
  execv("/proc/self/exe", next);
  return failed();
}

struct named_way {
  const char *name;
  int (*go)(void);
};

static const struct named_way WAYS[] = {
    {"fork", by_fork},       {"vfork", by_vfork},       {"spawn", by_spawn},
    {"spawnp", by_spawnp},   {"clone3", by_clone3},     {"clone", by_clone},
    {"memfd", by_memfd},     {"execveat", by_execveat}, {"thread", by_thread},
    {"system", by_system},   {"popen", by_popen},       {"empty", by_empty},
    {"execl", by_execl},     {"chain", by_chain},
};

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  way = argv[1];
  given = argv + 2;
  for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++)
    if (strcmp(WAYS[i].name, way) == 0) return WAYS[i].go();
  return 2;
}
