/* cuff's runner: the small native program that owns one run.
 *
 *   runner run ID [flags] -- COMMAND [ARG...]   one run; its exit status is the command's
 *   runner serve                                many runs for one server, requests on fd 3
 *   runner tty-restore HEX                      put a terminal back after a killed runner
 *   runner version
 *   bash, zsh                                   a copy of this file: the shell that records (sh.c)
 */
#include "sh.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __linux__
#error "the runner needs Linux (subreaper, signalfd, /proc); elsewhere src/run/portable.ts runs"
#endif

#define GATE_PATH_MAX 108 /* what the address of a socket has room for */
#define CAP_DEFAULT (1ull << 30)
#define ID_BYTES "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

static bool choose(const char *value, const char *const *names, int *out) {
  for (int i = 0; names[i] != NULL; i++)
    if (strcmp(names[i], value) == 0) {
      *out = i;
      return true;
    }
  return false;
}

static bool valued(struct options *o, const char *flag, const char *value) {
  static const char *const TRANSPORTS[] = {"pipe", "merged", "socket", "pty", NULL};
  static const char *const INPUTS[] = {"null", "inherit", "orders", NULL};
  static const char *const SESSIONS[] = {"own", "auto", "group", NULL};
  static const char *const SYNCS[] = {"late", "answer", NULL};
  static const char *const ANSWERS[] = {"no", "yes", NULL};
  long long n;
  int i;
  if (strcmp(flag, "--dir") == 0) return o->dir = value, true;
  if (strcmp(flag, "--cwd") == 0) return o->cwd = value, true;
  if (strcmp(flag, "--transport") == 0 && choose(value, TRANSPORTS, &i))
    return o->transport = (enum transport)i, true;
  if (strcmp(flag, "--stdin") == 0 && choose(value, INPUTS, &i))
    return o->in = (enum stdin_mode)i, true;
  if (strcmp(flag, "--session") == 0 && choose(value, SESSIONS, &i))
    return o->session = (enum session_mode)i, true;
  if (strcmp(flag, "--trace") == 0) return o->trace = value, true;
  if (strcmp(flag, "--trace-env") == 0) return o->trace_env = value, true;
  if (strcmp(flag, "--trace-follow") == 0 && choose(value, ANSWERS, &i))
    return o->follow = i == 1, true;
  if (strcmp(flag, "--trace-stamps") == 0 && choose(value, ANSWERS, &i))
    return o->stamps = i == 1, true;
  if (strcmp(flag, "--trace-frames") == 0 && choose(value, ANSWERS, &i))
    return o->trace_frames = i == 1, true;
  if (strcmp(flag, "--trace-gate") == 0 && *value == '/' && strlen(value) < GATE_PATH_MAX)
    return o->gate = value, true;
  if (strcmp(flag, "--trace-gate-strict") == 0 && choose(value, ANSWERS, &i))
    return o->gate_strict = i == 1, true;
  if (strcmp(flag, "--sync") == 0 && choose(value, SYNCS, &i)) return o->sync = i == 1, true;
  if (strcmp(flag, "--sync-from") == 0 && parse_number(value, 0, 1ll << 62, &n))
    return o->sync_from = (uint64_t)n, true;
  if (strcmp(flag, "--kill-after") == 0 && parse_number(value, 1, 1ll << 52, &n))
    return o->kill_after_ms = (long)n, true;
  if (strcmp(flag, "--grace") == 0 && parse_number(value, 0, 3600000, &n))
    return o->grace_ms = (long)n, true;
  if (strcmp(flag, "--cap") == 0 && parse_number(value, 0, 1ll << 62, &n))
    return o->cap = (uint64_t)n, true;
  if (strcmp(flag, "--cols") == 0 && parse_number(value, 1, 65535, &n))
    return o->cols = (int)n, true;
  if (strcmp(flag, "--rows") == 0 && parse_number(value, 1, 65535, &n))
    return o->rows = (int)n, true;
  return false;
}

/* words: ID, flags, "--", the command. 0, or 2 with what is wrong in `problem`. */
int parse_options(struct options *o, int count, char **words, char *problem, size_t size) {
  *o = (struct options){.grace_ms = GRACE_MS, .cap = CAP_DEFAULT, .cols = 80, .rows = 24,
                        .sync = true, .follow = true, .stamps = true, .trace_frames = true};
  o->id = count > 0 ? words[0] : "";
  int i = 1;
  for (; i < count && strcmp(words[i], "--") != 0; i++) {
    if (strcmp(words[i], "--forward") == 0) o->forward = true;
    else if (strcmp(words[i], "--strict") == 0) o->strict = true;
    else if (strcmp(words[i], "--may-hang") == 0) o->may_hang = true;
    else if (strcmp(words[i], "--held") == 0) o->held = true;
    else if (i + 1 < count && valued(o, words[i], words[i + 1])) i++;
    else {
      snprintf(problem, size, "failed usage EINVAL bad flag or value: %s", words[i]);
      return 2;
    }
  }
  o->argv = words + i + 1;
  size_t length = strlen(o->id);
  if (length > ID_MAX || strspn(o->id, ID_BYTES) != length) o->id = "";
  if (i + 1 < count && *o->id) return 0;
  snprintf(problem, size, "failed usage EINVAL runner run ID [flags] -- COMMAND [ARG...]");
  return 2;
}

/* Ends as the command ended: the same code, or the same signal without a second core dump. */
int end_like(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  sigset_t same;
  sigemptyset(&same); /* only this one: another that came meanwhile would end us as well */
  sigaddset(&same, WTERMSIG(status));
  signal(WTERMSIG(status), SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &same, NULL);
  kill(getpid(), WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

int main(int argc, char **argv) {
  static struct options o;
  static struct installation here;
  char problem[256];
  const char *shell;
  if (find_installation(&here, &shell)) return sh_main(&here, shell, argc, argv);
  fill_standard_streams();
  const char *mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "serve") == 0) return serve_main();
  if (strcmp(mode, "tty-restore") == 0 && argc == 3) return tty_restore_main(argv[2]);
  if (strcmp(mode, "version") == 0) return puts("cuff-runner 1") < 0;
  if (strcmp(mode, "run") != 0) {
    fputs("usage: runner run ID [flags] -- COMMAND [ARG...] | serve | tty-restore HEX\n", stderr);
    return 2;
  }
  if (parse_options(&o, argc - 2, argv + 2, problem, sizeof problem) != 0) {
    fprintf(stderr, "runner: %s\n", problem);
    return 2;
  }
  return run_main(&o);
}
