/* Which calls of a shell are recorded. All others become the real shell at once. For a recorded one
 * a helper (sh-helper.c) decides, makes the capture and later writes the entry:
 *
 *   helper   x                       it is none of ours: become the real shell
 *            d BYTES, then the text  it may not run; the text goes to stderr
 *            f BYTES, then the text  it cannot judge, and why
 *            r COUNT BYTES, then COUNT words, each with a NUL: how the runner is called
 *   we       end LINE                what the runner said last
 *            uncaptured LINE
 *   helper   ok                      the entry is written, or cannot be
 *
 * Without an answer, or after `f`, the command runs unrecorded, unless the installation is strict
 * or a policy of the user or the system is enforced. */
#include "sh.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 4096
#define ANSWER_MAX (8u << 20)
#define EXIT_REFUSED 126
#define EXIT_NO_SHELL 127
#define NO_ANSWER (-2) /* and nothing has run */
#define FAILED (-3)    /* the same, and the helper has said why */

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

/* In its sandbox Claude Code calls its shell three times, one inside the other: the first two start
 * the way out to the network and hand on file 3, the last one has the command. Its model cannot
 * change how a text begins. */
static bool makes_sandbox(const char *text, const struct installation *here) {
  static const char START[] = "{ socat ", INNER[] = " -c '{ socat ";
  if (!is_set("SANDBOX_RUNTIME") || !is_claude(here)) return false;
  if (begins(text, START)) return true;
  const char *name = *text == '\'' ? text + 1 : text;
  if (!begins(name, here->self)) return false;
  name += strlen(here->self);
  return begins(*text == '\'' && *name == '\'' ? name + 1 : name, INNER);
}

static bool is_recorded(const struct call *c, const struct installation *here) {
  if (c->text == NULL || c->interactive || is_set("CUFF_INSIDE")) return false;
  if (looks_around(c->text, here) || makes_sandbox(c->text, here)) return false;
  return has_agent(here) && !of_harness();
}

static int become(const struct call *c, char **variables) {
  give_back_files(true);
  execve(c->real, c->argv, variables);
  dprintf(2, "cuff: %s: %s\n", c->real, strerror(errno));
  return errno == ENOENT ? EXIT_NO_SHELL : EXIT_REFUSED;
}

static int unrecorded(const struct call *c, const struct installation *here, const char *why) {
  if (here->enforced)
    dprintf(2, "cuff policy: not run, because a policy is enforced and cannot be asked: %s\n", why);
  else if (here->strict)
    dprintf(2, "cuff: not executed, because it cannot be recorded: %s\n", why);
  if (here->enforced || here->strict) return EXIT_REFUSED;
  note_unrecorded(here, why);
  return become(c, c->environment == NULL ? environ : c->environment);
}

static bool readable(int fd, int64_t until) {
  for (;;) {
    int64_t left = until - now_ms();
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready = poll(&p, 1, left > 0 ? (int)left : 0);
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

/* One byte; false at the end, on an error, and when the time is over. */
bool read_until(int fd, int64_t until, char *byte) {
  while (readable(fd, until)) {
    ssize_t n = read(fd, byte, 1);
    if (n >= 0 || (errno != EINTR && errno != EAGAIN)) return n == 1;
  }
  return false;
}

bool read_line(int fd, int64_t until, char *line, size_t size) {
  for (size_t i = 0; i + 1 < size; i++) {
    if (!read_until(fd, until, line + i)) return false;
    if (line[i] != '\n') continue;
    line[i] = '\0';
    return true;
  }
  return false;
}

/* So many bytes of the answer, with a NUL behind them; NULL if they do not come in time. */
static char *read_answer(int fd, size_t length, int64_t until) {
  char *made = length > ANSWER_MAX ? NULL : malloc(length + 1);
  size_t n = 0;
  while (made != NULL && n < length) {
    ssize_t got = readable(fd, until) ? read(fd, made + n, length - n) : 0;
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
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

/* What comes of the answer; below 0 nothing has run, and NO_ANSWER: there was none. `why`: the text
 * of a helper that FAILED. */
static int obey(struct call *c, int helper, int64_t until, const char **why) {
  char line[128];
  long count = 0;
  size_t length = 0;
  if (!read_line(helper, until, line, sizeof line)) return NO_ANSWER;
  if (strcmp(line, "x") == 0) return become(c, c->environment);
  if (sscanf(line, "d %zu", &length) == 1) {
    char *text = read_answer(helper, length, until);
    if (text != NULL) write_all(2, text, length);
    return EXIT_REFUSED;
  }
  if (sscanf(line, "f %zu", &length) == 1) {
    const char *text = read_answer(helper, length, until);
    if (text != NULL) *why = text;
    return FAILED;
  }
  if (sscanf(line, "r %ld %zu", &count, &length) != 2 || count < 2 || count > WORDS_MAX)
    return NO_ANSWER;
  char *words = read_answer(helper, length, until);
  return words == NULL ? NO_ANSWER : run_words(c, helper, words, length, (int)count);
}

static const char GONE[] =
    "cuff or its Node is gone; install it again, then run `cuff init --shell`";

/* By the helper that stays; if that one does not answer, by one of our own. */
static int recorded(struct call *c, const struct installation *here) {
  static struct request request;
  const char *why = "cuff did not answer; `cuff doctor` looks for the cause";
  int code = NO_ANSWER;
  fill_standard_streams(); /* else the helper's socket would be in the place of one */
  if (!make_request(&request, here, c)) return unrecorded(c, here, "there is no memory");
  int helper = resident_helper(here, &request);
  if (helper >= 0) {
    code = obey(c, helper, now_ms() + c->helper_ms, &why);
    if (code == NO_ANSWER) close(helper);
  }
  if (code == NO_ANSWER) {
    int64_t until = now_ms() + c->helper_ms;
    helper = own_helper(here, &request, until);
    if (helper < 0) return unrecorded(c, here, helper == NO_HELPER ? GONE : why);
    code = obey(c, helper, until, &why);
  }
  return code >= 0 ? code : unrecorded(c, here, why);
}

int sh_main(struct installation *here, const char *name, int argc, char **argv) {
  static struct call call;
  struct call *c = &call;
  c->name = name;
  c->helper_ms = here->helper_ms;
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
  if (c->environment == NULL) return unrecorded(c, here, "there is no memory");
  return recorded(c, here);
}
