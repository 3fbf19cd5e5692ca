/* The gate: before a program begins, the server that the header names is asked whether it may. The
 * program asks for itself, in the constructor, where the file that is executed is known for
 * certain; for a program that gets no shim (no loader, another user's rights) the process that is
 * about to start it asks. Without a server, an answer in time, or one that can be understood, the
 * program begins, unless the header says that it must not. A program that was started without the
 * shim, by system calls past the libc, is not judged. */
#include "shim.h"

#ifdef __linux__

enum { AF_UNIX = 1, SOCK_STREAM = 1, MSG_NOSIGNAL = 0x4000, POLLIN = 1, POLLOUT = 4 };
enum { PARTS = 12, NAP_NS = 1000000, STDERR = 2, SECOND_NS = 1000000000 };

struct address {
  uint16_t family;
  char path[sizeof((struct trace_header *)0)->gate];
};

struct message { /* struct msghdr */
  void *name;
  uint64_t name_length;
  const struct sys_vector *parts;
  size_t count;
  void *control;
  size_t control_length;
  uint64_t flags;
};

struct asking {
  int fd;
  uint64_t until_ns;
  struct sys_vector parts[PARTS]; /* on their way, but for what is sent already */
  int count;
};

/* 0 when the time is over. `fd` -1 only waits; a signal may end a wait too soon. */
static int wait_for(const struct asking *asking, int fd, short what, uint64_t most_ns) {
  struct {
    int fd;
    short events, happened;
  } one = {fd, what, 0};
  uint64_t now = sys_now_ns();
  if (now >= asking->until_ns) return 0;
  uint64_t left = asking->until_ns - now;
  if (left > most_ns) left = most_ns;
  struct sys_time time = {(int64_t)(left / SECOND_NS), (int64_t)(left % SECOND_NS)};
  SYS6(SYS_ppoll, &one, 1, &time, 0, 0, 0);
  return 1;
}

/* --- the question */

static int send_parts(struct asking *asking) {
  int first = 0;
  while (first < asking->count) {
    struct message message = {.parts = asking->parts + first,
                              .count = (size_t)(asking->count - first)};
    ssize_type n = SYS3(SYS_sendmsg, asking->fd, &message, MSG_NOSIGNAL);
    if (n == -EAGAIN && wait_for(asking, asking->fd, POLLOUT, ~0ull)) continue;
    if (n == -EINTR) continue;
    if (n <= 0) return 0;
    size_t sent = (size_t)n;
    for (; first < asking->count && sent >= asking->parts[first].length; first++)
      sent -= asking->parts[first].length;
    if (first == asking->count) break;
    asking->parts[first].base = (const char *)asking->parts[first].base + sent;
    asking->parts[first].length -= sent;
  }
  asking->count = 0;
  return 1;
}

/* Words mostly lie behind each other, and are one part then. */
static int put(struct asking *asking, const void *base, size_t length) {
  struct sys_vector *last = asking->parts + asking->count - 1;
  if (asking->count > 0 && (const char *)last->base + last->length == base) {
    last->length += length;
    return 1;
  }
  if (asking->count == PARTS && !send_parts(asking)) return 0;
  asking->parts[asking->count++] = (struct sys_vector){base, length};
  return 1;
}

static void measure(struct gate_question *question, const struct program *program) {
  size_t bytes = 0;
  *question = (struct gate_question){.magic = GATE_MAGIC, .pid = shim.pid};
  if (program->about) question->flags |= GATE_ABOUT;
  if (shim.flags & TRACE_GATE_STRICT) question->flags |= GATE_STRICT;
  int known = program->argv != NULL && !sys_impossible(program->argv);
  for (; known && program->argv[question->args] != NULL; question->args++) {
    if (sys_impossible(program->argv[question->args])) break;
    size_t length = text_length(program->argv[question->args]) + 1;
    if (bytes + length > GATE_ARGV_MAX) question->flags |= GATE_CUT;
    if (question->flags & GATE_CUT) continue;
    bytes += length;
    question->kept_args++;
  }
  if (!known) question->flags |= GATE_CUT;
  bytes += sizeof *question + text_length(program->exe) + 1 + text_length(program->cwd) + 1;
  question->bytes = (uint32_t)bytes;
}

static int send_question(struct asking *asking, const struct program *program) {
  struct gate_question question;
  measure(&question, program);
  int sent = put(asking, &question, sizeof question) &&
             put(asking, program->exe, text_length(program->exe) + 1) &&
             put(asking, program->cwd, text_length(program->cwd) + 1);
  for (uint32_t i = 0; sent && i < question.kept_args; i++)
    sent = put(asking, program->argv[i], text_length(program->argv[i]) + 1);
  return sent && send_parts(asking);
}

/* Waits only where the queue of the server is full: connect(2) gives EAGAIN for that. */
static int reach(struct asking *asking, const char *path) {
  struct address to = {.family = AF_UNIX};
  memcpy(to.path, path, sizeof to.path);
  size_t length = offsetof(struct address, path) + text_length(path) + 1;
  int kind = SOCK_STREAM | O_NONBLOCK | O_CLOEXEC; /* SOCK_NONBLOCK and SOCK_CLOEXEC are these */
  asking->fd = away_from_streams((int)SYS3(SYS_socket, AF_UNIX, kind, 0));
  if (asking->fd < 0) return asking->fd;
  for (;;) {
    long error = SYS3(SYS_connect, asking->fd, &to, length);
    if (error != -EAGAIN && error != -EINTR) return (int)error;
    if (!wait_for(asking, -1, 0, NAP_NS)) return -EAGAIN;
  }
}

/* --- the answer */

struct answer {
  char text[GATE_LINE_MAX + 2]; /* the answer itself, a line, and its end */
  ssize_type length;
};

static int read_answer(struct asking *asking, struct answer *answer) {
  do {
    answer->length = sys_read(asking->fd, answer->text, sizeof answer->text - 1);
    if (answer->length != -EAGAIN && answer->length != -EINTR) return (int)answer->length;
  } while (wait_for(asking, asking->fd, POLLIN, ~0ull));
  return -EAGAIN;
}

/* Notes in the header that there was no answer, so that other programs wait less. */
static void tell_silence(void) {
  uint64_t now = sys_now_ns();
  if (sys_file_size_limited()) return;
  int flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
  int fd = sys_open(shim.trace_path, flags);
  if (fd < 0) return;
  SYS4(SYS_pwrite64, fd, &now, sizeof now, offsetof(struct trace_header, gate_silent_ns));
  sys_close(fd);
}

struct gate { /* the end of the header */
  uint64_t silent_ns;
  char path[sizeof((struct trace_header *)0)->gate];
};

/* In a strict run a program without an answer is refused, so a short wait would refuse more. */
static uint64_t patience(const struct gate *gate, uint64_t now) {
  int silent = gate->silent_ns <= now && now - gate->silent_ns < GATE_SILENT_NS;
  return silent && !(shim.flags & TRACE_GATE_STRICT) ? GATE_BRIEF_NS : GATE_WAIT_NS;
}

/* What was answered: a letter, or -errno. */
static NOINLINE int ask(const struct gate *gate, const struct program *program,
                        struct answer *answer) {
  uint64_t now = sys_now_ns();
  struct asking asking = {.until_ns = now + patience(gate, now)};
  int result = reach(&asking, gate->path);
  if (result == 0) result = send_question(&asking, program) ? read_answer(&asking, answer) : -EPIPE;
  if (asking.fd >= 0) sys_close(asking.fd);
  if (result == -EAGAIN) tell_silence();
  if (result <= 0) return result == 0 ? -EPIPE : result;
  return (unsigned char)answer->text[0];
}

static int read_gate(struct gate *gate) {
  const size_t at = offsetof(struct trace_header, gate_silent_ns);
  int fd = away_from_streams(sys_open(shim.trace_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
                                                           O_NOCTTY | O_NOFOLLOW));
  if (fd < 0) return fd;
  ssize_type length = sys_pread(fd, gate, sizeof *gate, (int64_t)at);
  sys_close(fd);
  if (length != sizeof *gate || gate->path[0] != '/') return -EINVAL;
  gate->path[sizeof gate->path - 1] = 0;
  return 0;
}

static void say_line(const char *text, size_t length) {
  if (sys_write(STDERR, text, length) == -EPIPE) sys_take_sigpipe();
}

static int refuses_unanswered(int error) {
  static const char UNANSWERED[] =
      "cuff: policy: not started: nobody answered whether it may (gate: strict)\n";
  shim_log("the gate gave no answer, error", NULL, error);
  if (!(shim.flags & TRACE_GATE_STRICT)) return 0;
  say_line(UNANSWERED, sizeof UNANSWERED - 1);
  return 1;
}

static NOINLINE int refuses(void *about) {
  const struct program *program = about;
  struct gate gate;
  struct answer answer;
  int result = read_gate(&gate);
  if (result == 0) result = ask(&gate, program, &answer);
  if (result == GATE_ALLOW) return 0;
  if (result == GATE_DENY) {
    answer.text[answer.length] = '\n';
    say_line(answer.text + 1, (size_t)answer.length);
    return 1;
  }
  return refuses_unanswered(result < 0 ? -result : 0);
}

/* Signals are blocked: a handler that calls longjmp would leave the descriptor open, and a deadly
 * signal would end a refused program with another status. */
int gate_refuses(struct program *program) {
  uint64_t before;
  if (LIKELY(!(shim.flags & TRACE_GATED))) return 0;
  sys_block_signals(&before);
  int refused = shim_apart(refuses, program, STDERR);
  if (refused < 0) refused = refuses_unanswered(-refused);
  sys_restore_signals(&before);
  return refused;
}

int gate_refuses_start(const struct exec_call *call) {
  if (LIKELY(!(shim.flags & TRACE_GATED))) return 0;
  const char *file = call->shown != NULL ? call->shown : call->target.file;
  struct program program = {call->argv, sys_impossible(file) ? "" : file, "", 1};
  char *cwd = scratch_take(PATH_MAX);
  if (cwd != NULL && sys_getcwd(cwd, PATH_MAX) > 0) program.cwd = cwd;
  int refused = gate_refuses(&program);
  scratch_give(cwd, PATH_MAX);
  return refused;
}

/* Reports EXIT as every program does. */
void gate_end(void) {
  uint64_t before;
  sys_block_signals(&before);
  exit_say(GATE_EXIT);
  sys_exit_group(GATE_EXIT);
}

void gate_end_unjudged(void) {
  static const char FILTERED[] =
      "cuff: policy: not started: it cannot ask under a seccomp filter (gate: strict)\n";
  say_line(FILTERED, sizeof FILTERED - 1);
  sys_exit_group(GATE_EXIT);
}

#else /* there is no runner that writes such a header */

int gate_refuses(struct program *program) { return (void)program, 0; }
int gate_refuses_start(const struct exec_call *call) { return (void)call, 0; }
void gate_end(void) {}
void gate_end_unjudged(void) {}

#endif
