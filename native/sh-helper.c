/* The helper of a recorded call (`cuff sh --helper`, TypeScript): one that stays from an earlier
 * call of the same world, else a new one, started beside the agent's processes, so that what kills
 * those does not kill it. Both get the same request:
 *
 *   cuff-sh 1 BYTES          a line, then BYTES bytes: words, each with a NUL
 *     world                  sh-world.c; empty where no helper may stay
 *     parent                 the pid of the process that called the shell
 *     tty | file             what stdout is
 *     there | removed        whether the directory still has its name
 *     state root, real shell, text of -c, directory, and all variables of the environment
 *
 * One that stays answers `hello` when it has all of it, and does nothing before we say `go`: until
 * then we may leave it for a helper of our own. */
#include "sh.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER_FD 3

extern char **environ;

/* Where we are, or were: false if no name leads there any more. */
static bool find_directory(char *path, size_t size) {
  if (getcwd(path, size) != NULL) return true;
  ssize_t n = readlink("/proc/self/cwd", path, size - 1);
  snprintf(path + (n > 0 ? n : 0), size - (size_t)(n > 0 ? n : 0), "%s", n > 0 ? "" : "/");
  return false;
}

/* False without memory. */
bool make_request(struct request *made, const struct installation *here, const struct call *c) {
  struct growing body = {0};
  char line[64], pid[32], cwd[PATH_MAX + 16];
  bool there = find_directory(cwd, sizeof cwd);
  bool stays = add_world(&body, here);
  if (!stays) body.length = 0;
  if (!stays) add_word(&body, "");
  else snprintf(made->name, sizeof made->name, "%016" PRIx64, hash_of(body.bytes, body.length));
  snprintf(pid, sizeof pid, "%d", (int)getppid());
  add_word(&body, pid);
  add_word(&body, isatty(1) ? "tty" : "file");
  add_word(&body, there ? "there" : "removed");
  add_word(&body, here->root);
  add_word(&body, c->real);
  add_word(&body, c->text);
  add_word(&body, cwd);
  for (char **variable = environ; *variable != NULL; variable++) add_word(&body, *variable);
  int n = snprintf(line, sizeof line, "cuff-sh 1 %zu\n", body.length);
  add_bytes(&made->text, line, (size_t)n);
  add_bytes(&made->text, body.bytes, body.length);
  bool good = !body.failed && !made->text.failed;
  free(body.bytes);
  return good;
}

/* False if it cannot be sent in time. A sandbox may leave us nothing but write(2), which raises
 * SIGPIPE; the command inherits what the signal does. */
static bool send_until(int fd, const char *data, size_t length, int64_t until) {
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  sigaction(SIGPIPE, &ignore, &before);
  while (length > 0) {
    ssize_t n = send_quietly(fd, data, length, false);
    if (n > 0) {
      data += n;
      length -= (size_t)n;
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) break;
    int64_t left = until - now_ms();
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (left <= 0 || (poll(&p, 1, (int)left) <= 0 && errno != EINTR)) break;
  }
  sigaction(SIGPIPE, &before, NULL);
  return length == 0;
}

static bool is_private(int directory) {
  struct stat s;
  return fstat(directory, &s) == 0 && s.st_uid == geteuid() && (s.st_mode & 077) == 0;
}

static bool is_own(int socket) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/* By the directory's descriptor: a path of a socket has room for 107 bytes. Never waits. */
static int connect_to(const char *root, const char *name) {
  char path[PATH_MAX + 16];
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  snprintf(path, sizeof path, "%s/helpers", root);
  int directory = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return -1;
  snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%s", directory, name);
  int fd = is_private(directory) ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
                                 : -1;
  if (fd >= 0 && (connect(fd, (struct sockaddr *)&at, sizeof at) != 0 || !is_own(fd) ||
                  fcntl(fd, F_SETFL, 0) != 0)) {
    close(fd);
    fd = -1;
  }
  close(directory);
  return fd;
}

/* The helper that stays, which has the request and goes on with it; -1 if there is none. */
int resident_helper(const struct installation *here, const struct request *request) {
  char line[16];
  int64_t until = now_ms() + here->hello_ms;
  if (*request->name == '\0') return -1;
  int fd = connect_to(here->root, request->name);
  if (fd < 0) return -1;
  if (send_until(fd, request->text.bytes, request->text.length, until) &&
      read_line(fd, until, line, sizeof line) && strcmp(line, "hello") == 0 &&
      send_until(fd, "go\n", 3, until))
    return fd;
  close(fd);
  return -1;
}

/* In a grandchild: a session of its own, nothing of the agent's. */
static void start_helper(const struct installation *here, const char *name, int socket) {
  static int files[INHERIT_MAX];
  if (setsid() < 0 || fork() != 0 || chdir("/") != 0) _exit(0);
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; fd++) dup2(null, fd);
  if (socket == HELPER_FD) fcntl(socket, F_SETFD, 0);
  else dup2(socket, HELPER_FD);
  for (int count; (count = inherited_files(files, INHERIT_MAX)) > 0;)
    for (int i = 0; i < count; i++) close(files[i]);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  char **variables = helper_environment();
  static char sh[] = "sh", helper[] = "--helper";
  char *idle = *here->idle_ms == '\0' ? NULL : (char *)here->idle_ms;
  char *words[] = {(char *)here->node, (char *)here->cuff, sh, helper, (char *)here->root,
                   (char *)name,       idle,  NULL};
  if (variables != NULL) execve(here->node, words, variables);
  _exit(127);
}

/* Its end of a socket; NO_HELPER, or -1 if it ended at once or cannot be started. */
int own_helper(const struct installation *here, const struct request *request, int64_t until) {
  int pair[2];
  if (access(here->node, X_OK) != 0 || access(here->cuff, R_OK) != 0) return NO_HELPER;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
  pid_t pid = fork();
  if (pid == 0) start_helper(here, request->name, pair[1]);
  close(pair[1]);
  if (pid > 0) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    if (send_until(pair[0], request->text.bytes, request->text.length, until)) return pair[0];
  }
  close(pair[0]);
  return -1;
}
