/* Which calls of a shell are recorded. All others become the real shell at once. For a recorded one
 * a helper (`cuff sh --helper`, TypeScript) is started beside the agent's processes, so that what
 * kills those does not kill it. It decides, makes the capture and later writes the entry:
 *
 *   helper   x                       it is none of ours: become the real shell
 *            d BYTES, then the text  it may not run; the text goes to stderr
 *            r COUNT BYTES, then COUNT words, each with a NUL: how the runner is called
 *   we       end LINE                what the runner said last
 *            uncaptured LINE
 *   helper   ok                      the entry is written, or cannot be
 *
 * Without an answer the command runs unrecorded, unless the installation is strict. */
#include "sh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER_FD 3
#define HELPER_MS 15000 /* a loaded machine takes seconds; a helper that is stuck never ends */
#define WORDS_MAX 4096
#define ANSWER_MAX (8u << 20)
#define EXIT_REFUSED 126
#define EXIT_NO_SHELL 127

extern char **environ;

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value != NULL && *value != '\0';
}

static bool has_agent(const struct installation *here) {
  for (int i = 0; i < here->variable_count; i++)
    if (is_set(here->variables[i])) return true;
  return false;
}

/* Commands of hooks: the agent runs them for itself, not for its model. */
static bool of_harness(void) {
  const char *agent = getenv("AI_AGENT");
  size_t length = agent == NULL ? 0 : strlen(agent);
  return length > 8 && strcmp(agent + length - 8, "_harness") == 0;
}

/* Claude Code, and no agent inside of it. */
static bool is_claude(const struct installation *here) {
  const char *agent = getenv("AI_AGENT");
  if (!is_set("CLAUDECODE") || (is_set("AI_AGENT") && !begins(agent, "claude"))) return false;
  for (int i = 0; i < here->variable_count; i++) {
    const char *name = here->variables[i];
    bool own = strcmp(name, "CLAUDECODE") == 0 || strcmp(name, "AI_AGENT") == 0;
    if (!own && is_set(name)) return false;
  }
  return true;
}

/* What Claude Code runs at its start, to learn how the user's shell is set up. Its model cannot
 * send such a text without a wrapper around it; the models of other agents can. */
static bool looks_around(const char *text, const struct installation *here) {
  return (begins(text, "SNAPSHOT_FILE=") || strcmp(text, "env") == 0) && is_claude(here);
}

static bool is_recorded(const struct call *c, const struct installation *here) {
  if (c->text == NULL || c->interactive || is_set("CUFF_INSIDE")) return false;
  if (*here->node == '\0' || *here->cuff == '\0') return false;
  return has_agent(here) && !of_harness() && !looks_around(c->text, here);
}

static int become(const struct call *c, char **variables) {
  execve(c->real, c->argv, variables);
  dprintf(2, "cuff: %s: %s\n", c->real, strerror(errno));
  return errno == ENOENT ? EXIT_NO_SHELL : EXIT_REFUSED;
}

static int unrecorded(const struct call *c, const struct installation *here, const char *why) {
  if (!here->strict) return become(c, c->environment);
  dprintf(2, "cuff: not executed, because it cannot be recorded: %s\n", why);
  return EXIT_REFUSED;
}

/* The helper's own: options of Node are for the agent's programs, and certificates triple the time
 * that it takes to start. */
static char **helper_environment(void) {
  unsetenv("NODE_OPTIONS");
  unsetenv("NODE_EXTRA_CA_CERTS");
  return environ;
}

/* In a grandchild: a session of its own, nothing of the agent's but the directory. */
static void start_helper(const struct installation *here, const struct call *c, int socket) {
  static int files[INHERIT_MAX];
  bool terminal = isatty(1);
  if (setsid() < 0 || fork() != 0) _exit(0);
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; fd++) dup2(null, fd);
  if (socket == HELPER_FD) fcntl(socket, F_SETFD, 0);
  else dup2(socket, HELPER_FD);
  int count = inherited_files(files, INHERIT_MAX);
  for (int i = 0; i < count; i++) close(files[i]);
  char *words[16] = {NULL};
  char node[PATH_MAX], cuff[PATH_MAX];
  memcpy(node, here->node, sizeof node);
  memcpy(cuff, here->cuff, sizeof cuff);
  static char sh[] = "sh", helper[] = "--helper", tty[] = "tty", file[] = "file";
  char *front[] = {node, cuff, sh, helper, (char *)here->root, (char *)c->real, (char *)c->text,
                   terminal ? tty : file};
  memcpy(words, front, sizeof front);
  execve(node, words, helper_environment());
  _exit(127);
}

/* Its end of a socket, or -1. */
static int call_helper(const struct installation *here, const struct call *c) {
  int pair[2];
  if (access(here->node, X_OK) != 0 || access(here->cuff, R_OK) != 0) return -1;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
  pid_t pid = fork();
  if (pid == 0) start_helper(here, c, pair[1]);
  close(pair[1]);
  if (pid > 0) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    return pair[0];
  }
  close(pair[0]);
  return -1;
}

/* One byte; false at the end, on an error, and when the time is over. */
bool read_until(int fd, int64_t until, char *byte) {
  for (;;) {
    int64_t left = until - now_ms();
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready = poll(&p, 1, left > 0 ? (int)left : 0);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    ssize_t n = read(fd, byte, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    return n == 1;
  }
}

static bool read_line(int fd, int64_t until, char *line, size_t size) {
  for (size_t i = 0; i + 1 < size; i++) {
    if (!read_until(fd, until, line + i)) return false;
    if (line[i] != '\n') continue;
    line[i] = '\0';
    return true;
  }
  return false;
}

/* So many bytes of the answer, with a NUL behind them; NULL if they do not come. */
static char *read_answer(int fd, size_t length) {
  char *made = length > ANSWER_MAX ? NULL : malloc(length + 1);
  size_t n = 0;
  while (made != NULL && n < length) {
    ssize_t got = read(fd, made + n, length - n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return NULL;
    n += (size_t)got;
  }
  if (made != NULL) made[length] = '\0';
  return made;
}

static int run_words(struct call *c, int helper, char *words, size_t length, int count) {
  int own = 0;
  while (c->argv[own] != NULL) own++;
  char **all = calloc((size_t)(count + own) + 1, sizeof *all);
  if (all == NULL) return -1;
  int n = 0;
  for (size_t at = 0; at < length && n < count; at += strlen(words + at) + 1) all[n++] = words + at;
  if (n != count) return -1;
  memcpy(all + n, c->argv, (size_t)own * sizeof *all);
  bool wrapped = strcmp(all[n - 1], "--") != 0; /* a sandbox around it, which looks for itself */
  if (wrapped) all[n] = c->real;
  return run_recorded(c, helper, all, n + own, !wrapped);
}

/* What comes of the answer; -1: there was none that we understand, and nothing has run. */
static int obey(struct call *c, int helper) {
  char line[128];
  long count = 0;
  size_t length = 0;
  if (!read_line(helper, now_ms() + c->helper_ms, line, sizeof line)) return -1;
  if (strcmp(line, "x") == 0) return become(c, c->environment);
  if (sscanf(line, "d %zu", &length) == 1) {
    char *text = read_answer(helper, length);
    if (text != NULL) write_all(2, text, length);
    return EXIT_REFUSED;
  }
  if (sscanf(line, "r %ld %zu", &count, &length) != 2 || count < 2 || count > WORDS_MAX) return -1;
  char *words = read_answer(helper, length);
  return words == NULL ? -1 : run_words(c, helper, words, length, (int)count);
}

int sh_main(struct installation *here, const char *name, int argc, char **argv) {
  static struct call call;
  struct call *c = &call;
  c->name = name;
  c->helper_ms = here->helper_ms > 0 ? here->helper_ms : HELPER_MS;
  parse_shell_options(c, argc, argv);
  if (!find_real_shell(c, here)) {
    dprintf(2, "cuff: there is no %s on this machine besides %s\n", name, here->self);
    return EXIT_NO_SHELL;
  }
  /* As without us: a shell that was called by a path is called by the path of the real one. */
  c->argv = argv;
  if (argc > 0 && strchr(argv[0], '/') != NULL) argv[0] = c->real;
  if (!is_recorded(c, here)) {
    if (comes_back(c, here)) setenv("CUFF_INSIDE", "1", 1);
    else unsetenv("CUFF_INSIDE");
    return become(c, environ);
  }
  c->environment = user_environment(c, here);
  if (c->environment == NULL) return become(c, environ);
  int helper = call_helper(here, c);
  if (helper < 0) return unrecorded(c, here, "cuff or its Node is gone");
  int code = obey(c, helper);
  return code >= 0 ? code : unrecorded(c, here, "cuff did not answer");
}
