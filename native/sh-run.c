/* One recorded call: the runner as a child of ours, in the same group of processes as the agent
 * started us in. Signals that we get go to the command as the runner's orders (it knows those that
 * reached the whole group), and we end as the command ended, when its entry is written. */
#include "sh.h"

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

#define MESSAGES_MAX 8192
#define EXIT_LOST 1

extern char **environ;

static const int FORWARDED[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,  SIGUSR1,
                                SIGUSR2, SIGALRM, SIGTSTP, SIGWINCH, SIGCONT};

struct client {
  struct call *call;
  int helper, control, signals;
  pid_t runner;
  char messages[MESSAGES_MAX];
  size_t length;
  char saved[1024]; /* how the outer terminal was set */
  int code, signal; /* how the command ended */
  bool over;
};

/* To a process that may be gone: no signal, no waiting. */
static void tell(int fd, const char *word, const char *rest) {
  char line[MESSAGES_MAX + 32];
  int length = snprintf(line, sizeof line, "%s%s%s\n", word, *rest ? " " : "", rest);
  if (fd >= 0 && length > 0 && length < (int)sizeof line)
    send_quietly(fd, line, (size_t)length, true);
}

static void order_for(struct client *c, int signal) {
  if (signal == SIGWINCH) tell(c->control, "resize", "");
  else if (signal == SIGCONT) tell(c->control, "cont", "");
  else tell(c->control, "signal", signal_name(signal));
}

static void read_signals(struct client *c) {
  struct signalfd_siginfo info;
  while (read(c->signals, &info, sizeof info) == (ssize_t)sizeof info)
    order_for(c, (int)info.ssi_signo);
}

/* A line of the runner: the run's id, then a word (orders.c). */
static void hear(struct client *c, const char *line) {
  char word[32] = "", first[64] = "", second[64] = "";
  const char *rest = strchr(line, ' ');
  if (rest == NULL || sscanf(rest + 1, "%31s %63s %63s", word, first, second) < 1) return;
  if (strcmp(word, "uncaptured") == 0) tell(c->helper, "uncaptured", line);
  if (strcmp(word, "tty") == 0) snprintf(c->saved, sizeof c->saved, "%s", rest + 5);
  bool exited = strcmp(word, "exited") == 0, signaled = strcmp(word, "signaled") == 0;
  bool failed = strcmp(word, "failed") == 0;
  if (!exited && !signaled && !failed) return;
  c->over = true;
  tell(c->helper, "end", line);
  if (exited) c->code = atoi(first);
  if (signaled) c->signal = signal_number(first);
  if (failed) {
    dprintf(2, "cuff: %s: %s\n", c->call->real, line);
    c->code = strcmp(second, "ENOENT") == 0 ? 127 : 126;
  }
}

static void hear_all(struct client *c) {
  char *line = c->messages, *end;
  c->messages[c->length] = '\0';
  while (!c->over && (end = strchr(line, '\n')) != NULL) {
    *end = '\0';
    hear(c, line);
    line = end + 1;
  }
  c->length -= (size_t)(line - c->messages);
  memmove(c->messages, line, c->length);
  if (c->length == MESSAGES_MAX - 1) c->length = 0;
}

/* False when the runner is gone. */
static bool read_messages(struct client *c) {
  ssize_t n = read(c->control, c->messages + c->length, MESSAGES_MAX - 1 - c->length);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (n <= 0) return false;
  c->length += (size_t)n;
  hear_all(c);
  return true;
}

/* The runner was killed, and most likely the command with it. */
static void lost(struct client *c) {
  c->over = true;
  c->code = EXIT_LOST;
  tell(c->helper, "end", "- gone");
  if (*c->saved) tty_restore_main(c->saved);
  int status;
  if (waitpid(c->runner, &status, 0) == c->runner && WIFSIGNALED(status))
    c->signal = WTERMSIG(status);
  else
    dprintf(2, "cuff: the runner was killed; the command may still be running\n");
}

/* A journal on a disk that does not answer must not hold up the agent. */
static void wait_for_entry(const struct client *c) {
  char byte = 0;
  int64_t until = now_ms() + c->call->helper_ms;
  while (read_until(c->helper, until, &byte) && byte != '\n') continue;
}

/* Readers that wait for the end of a stream must not wait for us. Stderr stays, for our words. */
static void let_go(const struct client *c) {
  static int files[INHERIT_MAX];
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  signal(SIGPIPE, SIG_IGN); /* the runner and the helper may be gone */
  int count = inherited_files(files, INHERIT_MAX);
  dup2(null, 0);
  dup2(null, 1);
  if (has_third_file()) close(3);
  for (int i = 0; i < count; i++)
    if (files[i] != c->helper && files[i] != c->control && files[i] != c->signals) close(files[i]);
}

static void be_runner(const struct client *c, int control, const sigset_t *mask, char **words,
                      int count, bool direct) {
  static struct options o;
  char problem[256];
  keep_third_file();
  if (dup2(control, 3) < 0) _exit(EXIT_LOST);
  sigprocmask(SIG_SETMASK, mask, NULL);
  environ = c->call->environment;
  if (parse_options(&o, count, words, problem, sizeof problem) != 0) _exit(EXIT_LOST);
  if (direct) o.program = c->call->real;
  exit(run_main(&o));
}

/* -1 if nothing was started. Else how the command ended. */
int run_recorded(struct call *call, int helper, char **words, int count, bool direct) {
  static struct client client;
  struct client *c = &client;
  int pair[2];
  sigset_t mask, before;
  sigemptyset(&mask);
  for (size_t i = 0; i < sizeof FORWARDED / sizeof *FORWARDED; i++) sigaddset(&mask, FORWARDED[i]);
  *c = (struct client){.call = call, .helper = helper};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
  /* Before the start: a signal that comes now must reach the command, too. */
  sigprocmask(SIG_BLOCK, &mask, &before);
  c->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  c->runner = c->signals < 0 ? -1 : fork();
  if (c->runner == 0) be_runner(c, pair[1], &before, words, count, direct);
  if (c->runner < 0) {
    sigprocmask(SIG_SETMASK, &before, NULL);
    return -1;
  }
  close(pair[1]);
  c->control = pair[0];
  let_go(c);
  while (!c->over) {
    struct pollfd p[2] = {{.fd = c->signals, .events = POLLIN},
                          {.fd = c->control, .events = POLLIN}};
    if (poll(p, 2, -1) < 0 && errno != EINTR) break;
    if (p[0].revents) read_signals(c);
    if (p[1].revents && !read_messages(c) && !c->over) lost(c);
  }
  wait_for_entry(c);
  return end_like(c->signal > 0 ? c->signal : c->code << 8);
}
