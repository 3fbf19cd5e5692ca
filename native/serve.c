/* `runner serve`: one small process per long-lived server that forks the runners, so that starting
 * a run costs neither the server's size nor its event loop. It ends with its server; its runs do
 * not. A request on fd 3 is three 32-bit numbers (bytes that follow, words, variables; host byte
 * order) and then that many strings, each ended by a NUL: the words of `runner run`, then the
 * command's environment. Messages of the runs come back on the same socket; when a runner process
 * ends in any other way than by itself, `ID gone` follows, so that a killed one is noticed. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
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

extern char **environ;

struct child {
  struct child *next;
  pid_t pid;
  char id[ID_MAX + 1];
};

static struct child *children;

static void tell(const char *id, const char *text) {
  char line[512];
  int length = snprintf(line, sizeof line - 1, "%.*s %s", ID_MAX, id, text);
  if (length < 0) return;
  if (length > (int)sizeof line - 2) length = (int)sizeof line - 2;
  one_line(line, (size_t)length);
  line[length++] = '\n';
  send(3, line, (size_t)length, MSG_NOSIGNAL);
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

/* In the forked child: from here on it is the runner of one run. */
static void become_runner(char **words, uint32_t count, char **variables, const sigset_t *mask,
                          int signals) {
  static struct options o;
  char problem[256];
  close(signals);
  sigprocmask(SIG_SETMASK, mask, NULL);
  environ = variables;
  o.serve = true;
  if (parse_options(&o, (int)count, words, problem, sizeof problem) != 0) {
    tell(o.id ? o.id : "-", problem);
    _exit(2);
  }
  o.serve = true;
  _exit(run_main(&o));
}

/* No system starts a command with that many words; the next request is not to suffer from it. */
static bool refuse(uint32_t length) {
  char id[ID_MAX + 1] = "", waste[65536];
  for (bool first = true; length > 0; first = false) {
    size_t piece = length < sizeof waste ? length : sizeof waste;
    if (!read_all(3, waste, piece)) return false;
    if (first) snprintf(id, sizeof id, "%.*s", (int)piece, waste);
    length -= (uint32_t)piece;
  }
  tell(id, "failed exec E2BIG the command and its environment are too long");
  return true;
}

static bool request(const sigset_t *mask, int signals) {
  uint32_t head[3];
  if (!read_all(3, head, sizeof head)) return false;
  if (head[0] > REQUEST_MAX) return refuse(head[0]);
  char *data = malloc(head[0] + 1);
  if (data == NULL || !read_all(3, data, head[0])) return false;
  char *at = data, *end = data + head[0];
  char **words = head[1] > head[0] ? NULL : split(&at, end, head[1]);
  char **variables = head[2] > head[0] ? NULL : split(&at, end, head[2]);
  if (words == NULL || variables == NULL || head[1] == 0) return false;
  struct child *c = calloc(1, sizeof *c);
  pid_t pid = c == NULL ? -1 : fork();
  if (pid == 0) become_runner(words, head[1], variables, mask, signals);
  if (c != NULL) snprintf(c->id, sizeof c->id, "%s", words[0]);
  if (pid < 0) {
    char text[64];
    snprintf(text, sizeof text, "failed fork %s cannot fork", errno_name(errno));
    tell(words[0], text);
    free(c);
  } else {
    c->pid = pid;
    c->next = children;
    children = c;
  }
  free(words);
  free(variables);
  free(data);
  return true;
}

static void reap_runners(int signals) {
  struct signalfd_siginfo info;
  while (read(signals, &info, sizeof info) > 0) continue;
  pid_t pid;
  int status;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    for (struct child **at = &children; *at != NULL; at = &(*at)->next) {
      struct child *c = *at;
      if (c->pid != pid) continue;
      /* One that came to its end has said so itself. */
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) tell(c->id, "gone");
      *at = c->next;
      free(c);
      break;
    }
  }
}

int serve_main(void) {
  sigset_t mask, old;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  sigprocmask(SIG_BLOCK, &mask, &old);
  signal(SIGCHLD, SIG_DFL); /* inherited as ignored, nobody would hear of a dead runner */
  int open_files[INHERIT_MAX], count = inherited_files(open_files, INHERIT_MAX);
  for (int i = 0; i < count; i++) close(open_files[i]); /* the server's, not its commands' */
  int signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  setsid(); /* a Ctrl-C meant for the server is not meant for its runs */
  struct pollfd p[2] = {{.fd = 3, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
  for (;;) {
    if (poll(p, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return 1;
    }
    if (p[1].revents) reap_runners(signals);
    if (p[0].revents & POLLIN) {
      if (!request(&old, signals)) return 0;
    } else if (p[0].revents) {
      return 0;
    }
  }
}
