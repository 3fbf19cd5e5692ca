/* Runs a command without cuff: on two pipes or on a terminal of its own, with stdin empty, and says
 * how it ended. What every traced run is held against.
 *
 *   bare pipe|pty OUT ERR END TIMEOUT_MS -- COMMAND [ARG...]
 *
 * OUT and ERR become files with the output. END becomes `exit N` or `signal N` (or `timeout`), then
 * microseconds: on the clock, of the processor. Output is read to its end, also that of daemons. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct side {
  int from, to, theirs;
};

static long long now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

static int die(const char *what) {
  perror(what);
  exit(125);
}

static void make_pipe(struct side *s, const char *file) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) die("pipe");
  *s = (struct side){fds[0], open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), fds[1]};
  if (s->to < 0) die(file);
}

static void make_pty(struct side *s, const char *file) {
  int number, unlock = 0;
  char path[32];
  struct winsize size = {.ws_row = 24, .ws_col = 80};
  s->from = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (s->from < 0 || ioctl(s->from, TIOCSPTLCK, &unlock) || ioctl(s->from, TIOCGPTN, &number))
    die("/dev/ptmx");
  snprintf(path, sizeof path, "/dev/pts/%d", number);
  s->theirs = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  s->to = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (s->theirs < 0 || s->to < 0) die(path);
  ioctl(s->from, TIOCSWINSZ, &size);
  ioctl(s->theirs, TIOCSCTTY, 0);
}

static void become(char **argv, const struct side *sides, int count) {
  int out = sides[0].theirs, err = sides[count - 1].theirs;
  int in = count == 1 ? out : open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (count == 1) {
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(out, getpid());
    signal(SIGTTOU, SIG_DFL);
  } else {
    setsid();
  }
  dup2(in, 0);
  dup2(out, 1);
  dup2(err, 2);
  execvp(argv[0], argv);
  _exit(127);
}

/* False at the end. */
static int copy(struct side *s) {
  static char buffer[65536];
  ssize_t n = read(s->from, buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return 1;
  if (n <= 0) return 0;
  for (ssize_t done = 0; done < n;) {
    ssize_t put = write(s->to, buffer + done, (size_t)(n - done));
    if (put < 0) die("write");
    done += put;
  }
  return 1;
}

static void alarmed(int signal) { (void)signal; }

int main(int argc, char **argv) {
  struct side sides[2] = {{-1, -1, -1}, {-1, -1, -1}};
  if (argc < 8 || strcmp(argv[6], "--") != 0) return 125;
  int count = strcmp(argv[1], "pty") == 0 ? 1 : 2;
  long long start = now_us(), until = start + atoll(argv[5]) * 1000, ended = 0;
  prctl(PR_SET_CHILD_SUBREAPER, 1); /* as the runner: a daemon's parent is alive either way */
  setsid();
  if (count == 1) make_pty(&sides[0], argv[2]);
  else make_pipe(&sides[0], argv[2]), make_pipe(&sides[1], argv[3]);
  struct sigaction wake = {.sa_handler = alarmed};
  sigaction(SIGCHLD, &wake, NULL);
  sigaction(SIGHUP, &wake, NULL); /* the terminal goes before we do */
  pid_t pid = fork();
  if (pid == 0) become(argv + 7, sides, count);
  if (count == 2) close(sides[0].theirs), close(sides[1].theirs);
  int status = 0, timeout = 0;
  while (sides[0].from >= 0 || sides[1].from >= 0 || !ended) {
    struct pollfd p[2] = {{sides[0].from, POLLIN, 0}, {sides[1].from, POLLIN, 0}};
    int ready = poll(p, 2, 5);
    for (int i = 0; i < 2; i++)
      if (ready > 0 && p[i].revents && !copy(&sides[i])) close(sides[i].from), sides[i].from = -1;
    int got;
    for (pid_t gone; (gone = waitpid(-1, &got, WNOHANG)) > 0;)
      if (gone == pid) status = got, ended = now_us();
    /* All is read: the last to hold the terminal are we. */
    if (ended && count == 1 && ready == 0) close(sides[0].theirs), sides[0].theirs = -1;
    if (now_us() < until) continue;
    timeout = 1;
    if (!ended) kill(-pid, SIGKILL), kill(pid, SIGKILL);
    break;
  }
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  long long cpu = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000ll +
                  used.ru_utime.tv_usec + used.ru_stime.tv_usec;
  FILE *end = fopen(argv[4], "we");
  if (!end) die(argv[4]);
  if (timeout) fprintf(end, "timeout 0");
  else if (WIFSIGNALED(status)) fprintf(end, "signal %d", WTERMSIG(status));
  else fprintf(end, "exit %d", WEXITSTATUS(status));
  fprintf(end, " %lld %lld\n", ended - start, cpu);
  return fclose(end) != 0;
}
