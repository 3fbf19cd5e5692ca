/* `runner serve`: one small process per long-lived server that forks the runners, so that starting
 * a run costs neither the server's size nor its event loop. It ends with its server; its runs do
 * not. One spare child always waits for the next request, so that a fork is not waited for either:
 * it reads the request, says whose runner it is now, and the next spare is forked behind its back.
 *
 * A request on fd 3 is three 32-bit numbers (bytes that follow, words, variables; host byte order)
 * and then that many strings, each ended by a NUL: the words of `runner run`, then the command's
 * environment. With `--held` among its words a request is sent before the capture's meta.json is
 * written. The runner then prepares the run at the same time, and starts the command only when
 * three more numbers permit it: 0 0 1; 0 0 0 withdraws the request. `cuff run --trace` sends the
 * same numbers to its runner, without a serving process.
 *
 * Messages of the runs come back on the same socket; when a runner process ends in any other way
 * than by itself, `ID gone` follows, so that a killed one is noticed. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUEST_MAX (16u << 20)
#define RETRY_MS 20 /* after a fork that failed */
#define LAST_MS 2000 /* behind the end of the server, for runs that end at the same moment */

extern char **environ;

struct child {
  struct child *next;
  pid_t pid;
  char id[ID_MAX + 1];
  char dir[]; /* of its capture; empty without one */
};

static struct child *children; /* those that have a run */
static pid_t server;           /* ourselves */
static pid_t spare;            /* the one that waits for a request; 0 when there is none */
static int fork_error;         /* why there is none */

static void tell(const char *id, const char *text) {
  char line[512];
  int length = snprintf(line, sizeof line - 1, "%.*s %s", ID_MAX, id, text);
  if (length < 0) return;
  if (length > (int)sizeof line - 2) length = (int)sizeof line - 2;
  one_line(line, (size_t)length);
  line[length++] = '\n';
  send_quietly(3, line, (size_t)length, true);
}

static bool read_all(int fd, void *data, size_t length) {
  char *p = data;
  while (length > 0) {
    ssize_t n = read(fd, p, length);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    length -= (size_t)n;
  }
  return true;
}

static char **split(char **at, char *end, uint32_t count) {
  char **list = calloc((size_t)count + 1, sizeof *list);
  for (uint32_t i = 0; list != NULL && i < count; i++) {
    char *stop = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;
    if (stop == NULL) return NULL;
    list[i] = *at;
    *at = stop + 1;
  }
  return list;
}

/* What a spare child tells its parent when it has taken a request. */
struct taken {
  pid_t pid;
  char id[ID_MAX + 1];
  char dir[PATH_MAX]; /* only its text is sent */
};

/* Reads a request that cannot be taken, so that the next one can be, and says why. */
static bool refuse(uint32_t length, const char *why) {
  char id[ID_MAX + 1] = "", waste[65536];
  for (bool first = true; length > 0; first = false) {
    size_t piece = length < sizeof waste ? length : sizeof waste;
    if (!read_all(3, waste, piece)) return false;
    if (first) snprintf(id, sizeof id, "%.*s", (int)piece, waste);
    length -= (uint32_t)piece;
  }
  tell(id, why);
  return true;
}

static struct taken taken; /* by this child */
static int parent = -1;    /* where to tell it; -1 once it was told */

/* The parent forks the next spare child when it hears this, and that one reads from fd 3. */
static void tell_taken(void) {
  if (parent < 0) return;
  send_quietly(parent, &taken, offsetof(struct taken, dir) + strlen(taken.dir) + 1, true);
  close(parent);
  parent = -1;
}

/* Waits for the word on a held request. Without one the server has ended, and so must we: the
 * parent sees by the end of its spare child that there is no server any more. */
bool serve_permits(void) {
  uint32_t head[3];
  if (!read_all(3, head, sizeof head) || head[0] != 0) return false;
  tell_taken();
  return head[2] == 1;
}

/* In the spare child, with a whole request: from here on it is the runner of one run. */
static void become_runner(char **words, uint32_t count, const sigset_t *mask) {
  static struct options o;
  char problem[256];
  bool sound = parse_options(&o, (int)count, words, problem, sizeof problem) == 0;
  taken.pid = getpid();
  snprintf(taken.id, sizeof taken.id, "%s", words[0]);
  snprintf(taken.dir, sizeof taken.dir, "%s", sound && o.dir ? o.dir : "");
  if (!sound || !o.held) tell_taken();
  sigprocmask(SIG_SETMASK, mask, NULL);
  if (!sound) {
    tell(o.id ? o.id : "-", problem);
    _exit(2);
  }
  o.serve = true;
  o.server = server;
  signal(SIGPIPE, SIG_DFL); /* as its commands have it */
  int code = run_main(&o);
  tell_taken(); /* if it failed before it could wait for a word */
  _exit(code);
}

/* The life of a spare child until there is a run for it. Ends with the server. */
static void wait_for_request(const sigset_t *mask) {
  uint32_t head[3];
  while (read_all(3, head, sizeof head)) {
    if (head[0] == 0) continue; /* a word on a request that was refused */
    if (head[0] > REQUEST_MAX) {
      if (!refuse(head[0], "failed exec E2BIG the command and its environment are too long")) break;
      continue;
    }
    char *data = malloc(head[0] + 1);
    if (data == NULL || !read_all(3, data, head[0])) break;
    char *at = data, *end = data + head[0];
    char **words = head[1] > head[0] ? NULL : split(&at, end, head[1]);
    char **variables = head[2] > head[0] ? NULL : split(&at, end, head[2]);
    if (words == NULL || variables == NULL || head[1] == 0) break;
    environ = variables;
    become_runner(words, head[1], mask);
  }
  _exit(0);
}

static void fork_spare(const sigset_t *mask, int signals, const int pair[2]) {
  pid_t pid = fork();
  if (pid == 0) {
    close(signals);
    close(pair[0]);
    parent = pair[1];
    wait_for_request(mask);
  }
  fork_error = pid < 0 ? errno : 0;
  spare = pid > 0 ? pid : 0;
}

/* There is no spare child to take a request. */
static bool refuse_request(void) {
  char text[64];
  uint32_t head[3];
  snprintf(text, sizeof text, "failed fork %s cannot fork", errno_name(fork_error));
  if (!read_all(3, head, sizeof head)) return false;
  return head[0] == 0 || refuse(head[0], text);
}

static void note_taken(int from) {
  static struct taken taken;
  while (read(from, &taken, sizeof taken) > 0) {
    size_t length = strlen(taken.dir) + 1;
    struct child *c = malloc(sizeof *c + length);
    if (taken.pid == spare) spare = 0;
    if (c == NULL) continue; /* then `gone` is not said about it */
    c->pid = taken.pid;
    snprintf(c->id, sizeof c->id, "%s", taken.id);
    memcpy(c->dir, taken.dir, length);
    c->next = children;
    children = c;
  }
}

static void forget(pid_t pid, int status) {
  for (struct child **at = &children; *at != NULL; at = &(*at)->next) {
    struct child *c = *at;
    if (c->pid != pid) continue;
    /* A runner that ended by itself has said so. */
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == EXIT_UNSYNCED) deferred_add(c->dir);
    else if (code != 0) tell(c->id, "gone");
    *at = c->next;
    free(c);
    return;
  }
}

/* False if the spare child has ended: the server is gone, or half a request was lost. */
static bool reap_runners(int signals, int taken) {
  struct signalfd_siginfo info;
  while (read(signals, &info, sizeof info) > 0) continue;
  pid_t pid;
  int status;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    note_taken(taken); /* sent before its end */
    if (pid == spare) return false;
    forget(pid, status);
  }
  return true;
}

/* Runners that have just reported their end may not have left their capture to us yet. */
static void await_last(int signals, int taken) {
  int64_t until = now_ms() + LAST_MS;
  struct pollfd p = {.fd = signals, .events = POLLIN};
  while (reap_runners(signals, taken), children != NULL) {
    int64_t left = until - now_ms();
    if (left <= 0 || (poll(&p, 1, (int)left) < 0 && errno != EINTR)) return;
  }
}

int serve_main(void) {
  sigset_t mask, old;
  int pair[2];
  server = getpid();
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  sigprocmask(SIG_BLOCK, &mask, &old);
  signal(SIGCHLD, SIG_DFL); /* if it is ignored, wait(2) does not report a dead runner */
  signal(SIGPIPE, SIG_IGN); /* send_quietly */
  int open_files[INHERIT_MAX], count = inherited_files(open_files, INHERIT_MAX);
  for (int i = 0; i < count; i++) close(open_files[i]); /* the server's, not its commands' */
  int signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) return 1;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return 1;
  fcntl(pair[0], F_SETFL, O_NONBLOCK);
  setsid(); /* a Ctrl-C meant for the server is not meant for its runs */
  for (;;) {
    if (spare == 0) fork_spare(&old, signals, pair);
    struct pollfd p[3] = {{.fd = spare == 0 ? 3 : -1, .events = POLLIN},
                          {.fd = signals, .events = POLLIN},
                          {.fd = pair[0], .events = POLLIN}};
    if (poll(p, 3, spare == 0 ? RETRY_MS : deferred_wait_ms()) < 0 && errno != EINTR) return 1;
    if (p[2].revents) note_taken(pair[0]);
    if (p[1].revents && !reap_runners(signals, pair[0])) break;
    if (p[0].revents && !refuse_request()) break;
    deferred_tick();
  }
  await_last(signals, pair[0]);
  deferred_end();
  return 0;
}
