/* Starting the command on its transport. On a mount that no longer answers, chdir and exec do not
 * return, and so neither does our vfork. If the starter knows of mounts that could be like that
 * (--may-hang), a thread does the vfork, and the loop goes on taking orders. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 100 /* a start that takes longer is said to be under way */

extern char **environ;

/* Written by the child, which shares this memory with us. */
struct failure {
  volatile int error;
  volatile pid_t pid;
  const char *volatile stage;
};

/* Files that the exec would close. The starter and its readers wait for their end, and must not
 * wait for an exec that hangs. */
static void let_others_go(const struct run *r) {
  close(r->control);
  for (int i = 0; i < r->stream_count; i++) close(r->streams[i].forward);
}

/* In the child, between vfork and exec: memory is the parent's, so nothing but system calls. */
static void become(struct run *r, const struct ends *e, char **variables, struct failure *f) {
  /* All of them are above 2 (fill_standard_streams), so no dup2 overwrites one still needed. */
  int in = e->in, out = e->out, err = e->err;
  f->pid = getpid();
  umask(r->old_umask);
  give_back_signals();
  if (r->o->transport == T_PTY) {
    setpgid(0, 0);
    sigset_t ttou;
    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    sigprocmask(SIG_BLOCK, &ttou, NULL);
    tcsetpgrp(r->slave, getpid());
  } else if (r->own_group) {
    setsid();
  }
  if ((in == 0 || dup2(in, 0) == 0) && dup2(out, 1) == 1 && dup2(err, 2) == 2) {
    f->stage = "cwd";
    if (r->o->may_hang) let_others_go(r);
    give_back_files(r->o->forward);
    if (r->o->cwd == NULL || chdir(r->o->cwd) == 0) {
      f->stage = "exec";
      sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
      const char *program = r->o->program == NULL ? r->o->argv[0] : r->o->program;
      execvpe(program, r->o->argv, variables);
      /* Without the variables of the trace it may fit. */
      if (errno == E2BIG && variables != environ)
        execvpe(program, r->o->argv, environ);
    }
  }
  f->error = errno;
  _exit(127);
}

/* Closes our own 0, 1 and 2 and all other inherited files once the command has them: a reader that
 * waits for the end of a pipe, or a writer that waits for its reader to leave, must not wait for
 * us. */
static void let_go(struct run *r, struct ends *e) {
  /* In a served runner they are /dev/null from the start. */
  int null = r->o->serve ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int i = 0; i < r->inherited; i++) close(r->inherit[i]);
  if (e->in > 2 && e->in != r->slave) close(e->in);
  if (e->out > 2 && e->out != r->slave) close(e->out);
  if (e->err > 2 && e->err != r->slave && e->err != e->out) close(e->err);
  if (null < 0) return;
  for (int fd = 0; fd < 3; fd++) dup2(null, fd);
  close(null);
}

/* A static command is followed from before its exec: the child waits until we have attached, and we
 * wait until its exec has happened or failed. This is fork and not vfork, because vfork would block
 * us until the exec, while the child is stopped there and waits for us. A followed static program
 * gets the user's environment only. */
static pid_t start_followed(struct run *r, const struct ends *e, char **variables,
                            struct failure *shared) {
  int pair[2];
  char byte = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
  pid_t pid = fork();
  if (pid == 0) {
    close(pair[0]);
    while (read(pair[1], &byte, 1) < 0 && errno == EINTR) continue;
    become(r, e, byte == 'f' ? environ : variables, shared);
  }
  close(pair[1]);
  if (pid > 0) {
    bool followed = follow_seize(pid);
    if (followed) byte = 'f';
    send_quietly(pair[0], &byte, 1, true);
    if (followed) follow_first(pid);
    else
      while (read(pair[0], &byte, 1) < 0 && errno == EINTR) continue; /* closed by the exec */
  }
  close(pair[0]);
  return pid;
}

static pid_t start_static(struct run *r, const struct ends *e, char **variables,
                          struct failure *f) {
  struct failure *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return -1;
  *shared = *f;
  pid_t pid = start_followed(r, e, variables, shared);
  *f = *shared;
  munmap(shared, sizeof *shared);
  return pid;
}

/* The start that is under way; there is one per process. */
static struct {
  struct run *run;
  struct ends ends;
  char **variables;
  struct failure failure;
  pid_t pid;      /* of the command; negative if vfork failed */
  bool follow;    /* it is static: the main thread, its tracer, must start it */
  uint64_t at_ns;
  int done;       /* an eventfd: the thread has finished */
  int ended;      /* its status, if the command ended before the thread finished */
  bool has_ended;
} launched;

/* Whether the command is static. If its file system may never answer, a child looks: it can be
 * killed, or at least left behind. */
static bool static_somewhere(const struct options *o) {
  struct failure *f = &launched.failure;
  static volatile bool found;
  if (!o->may_hang) return static_command(o);
  pid_t pid = vfork();
  if (pid == 0) {
    f->pid = getpid();
    f->stage = "cwd";
    syscall(SYS_close_range, 0, ~0u, 0); /* this child may hang: it must not keep files open */
    if (o->cwd == NULL || access(o->cwd, X_OK) == 0) {
      f->stage = "exec";
      found = static_command(o);
    }
    _exit(0);
  }
  if (pid > 0) waitpid(pid, NULL, 0); /* unless the main thread has seen it first */
  launched.has_ended = false;
  return found;
}

static void start(void) {
  struct run *r = launched.run;
  launched.follow = trace_follows() && static_somewhere(r->o);
  if (launched.follow) return;
  if (r->cause != BY_ITSELF) { /* the run was killed meanwhile */
    launched.failure.error = ETIMEDOUT;
    return;
  }
  pid_t pid = vfork();
  if (pid == 0) become(r, &launched.ends, launched.variables, &launched.failure);
  launched.pid = pid;
  if (pid < 0) launched.failure.error = errno;
}

static void *start_thread(void *unused) {
  const uint64_t one = 1;
  start();
  if (write(launched.done, &one, sizeof one) < 0) abort(); /* an eventfd takes it */
  return unused;
}

/* False if no thread can be made: then the loop waits for the start, as without --may-hang. */
static bool start_beside(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  launched.done = eventfd(0, EFD_CLOEXEC);
  if (launched.done < 0) return false;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  bool made = pthread_create(&thread, &attributes, start_thread, NULL) == 0;
  pthread_attr_destroy(&attributes);
  if (!made) close(launched.done);
  return made;
}

/* The vfork has returned: 0, or an errno with its stage. */
static int launch_finish(struct run *r, const char **stage) {
  struct failure *f = &launched.failure;
  r->starting = false;
  if (launched.done >= 0) close(launched.done);
  if (launched.follow) {
    launched.pid = start_static(r, &launched.ends, launched.variables, f);
    if (launched.pid < 0) f->error = errno;
  }
  *stage = f->stage;
  if (f->error) return f->error; /* the dead child is reaped by the loop's waitpid, or with us */
  r->pid = launched.pid;
  r->start = process_start(r->pid);
  let_go(r, &launched.ends);
  facts_command(r, launched.at_ns);
  if (launched.has_ended) command_ended(r, launched.ended);
  return 0;
}

int launch(struct run *r, const struct ends *e, char **variables, const char **stage) {
  launched.run = r;
  launched.ends = *e;
  launched.variables = variables;
  launched.failure.stage = "exec";
  launched.at_ns = trace_now();
  launched.done = -1;
  if (!r->o->may_hang || !start_beside()) {
    launched.done = -1;
    start();
    return launch_finish(r, stage);
  }
  struct pollfd p = {.fd = launched.done, .events = POLLIN};
  while (poll(&p, 1, START_MS) < 0 && errno == EINTR) continue;
  r->starting = p.revents == 0;
  return r->starting ? 0 : launch_finish(r, stage);
}

int launch_fd(void) { return launched.done; }

/* Whether this child is the command, whose start has not finished. Keeps its status until then. */
bool launch_ended(pid_t pid, int status) {
  if (pid != launched.failure.pid) return false;
  launched.ended = status;
  launched.has_ended = true;
  return true;
}

int start_failed(struct run *r, int error, const char *stage) {
  char message[1024];
  snprintf(message, sizeof message, "%s: %s",
           strcmp(stage, "cwd") == 0 ? r->o->cwd : r->o->argv[0],
           error == ETIMEDOUT ? "its file system does not answer" : strerror(error));
  r->exit_at = wall_ms();
  record_final(r, NULL, 0, true, error, message);
  if (r->capture.on) unlinkat(r->capture.dir, "control", 0);
  say(r, "failed %s %s %s", stage, errno_name(error), message);
  say_last(r);
  return strcmp(stage, "exec") == 0 && error == ENOENT ? 127 : 126;
}

void say_started(struct run *r) { say(r, "started %d %llu", (int)r->pid, r->start); }

/* A start that took long has finished, or was given up with an error. */
void start_over(struct run *r, int error) {
  const char *stage = launched.failure.stage;
  if (error == 0) error = launch_finish(r, &stage);
  if (error) {
    r->failed = start_failed(r, error, stage);
    r->ended = true;
  } else {
    record_started(r);
    say_started(r);
  }
}
