/* The gate, for programs without a shim that could ask (native/shim/gate.c): those that are
 * followed, at their first instruction. A program that must not begin is made to say so on its
 * stderr and to end: a few instructions overwrite its own. The loop waits for the answer, so after
 * a gate that gave none it waits only briefly. */
#include "runner.h"
#include "trace.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/user.h>
#include <unistd.h>

#define UNANSWERED "cuff: policy: not started: nobody answered whether it may (gate: strict)"
#define MS_NS 1000000u

struct line {
  char text[GATE_LINE_MAX + 2];
  ssize_t length;
};

/* --- asking */

static bool reach(int fd) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  memcpy(to.sun_path, trace_header()->gate, sizeof to.sun_path - 1);
  return connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
}

static const char *link_of(pid_t pid, const char *name, char *data) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  ssize_t n = readlink(path, data, PATH_MAX - 1);
  data[n > 0 ? n : 0] = 0;
  return data;
}

/* The words in /proc/PID/cmdline have the form in which they are sent. */
static bool send_question(int fd, pid_t pid) {
  static char words[GATE_ARGV_MAX + 1];
  char path[64], exe[PATH_MAX], cwd[PATH_MAX];
  snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
  ssize_t length = read_file(path, words, sizeof words);
  struct gate_question question = {.magic = GATE_MAGIC, .pid = (uint32_t)pid};
  if (trace_header()->flags & TRACE_GATE_STRICT) question.flags |= GATE_STRICT;
  /* The words may not be complete. */
  if (length <= 0 || length == GATE_ARGV_MAX || words[length - 1] != 0) question.flags |= GATE_CUT;
  while (length > 0 && words[length - 1] != 0) length--;
  if (length < 0) length = 0;
  for (ssize_t i = 0; i < length; i++) question.kept_args += words[i] == 0;
  question.args = question.kept_args;
  link_of(pid, "exe", exe);
  link_of(pid, "cwd", cwd);
  struct iovec parts[] = {{&question, sizeof question},
                          {exe, strlen(exe) + 1},
                          {cwd, strlen(cwd) + 1},
                          {words, (size_t)length}};
  size_t bytes = 0;
  for (int i = 0; i < 4; i++) bytes += parts[i].iov_len;
  question.bytes = (uint32_t)bytes;
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 4};
  return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)bytes; /* a socket has room for so much */
}

static int read_answer(int fd, struct line *line, uint64_t until_ns) {
  for (uint64_t now = trace_now(); now < until_ns; now = trace_now()) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    if (poll(&one, 1, (int)((until_ns - now) / MS_NS) + 1) <= 0) continue;
    line->length = recv(fd, line->text, sizeof line->text - 1, MSG_DONTWAIT);
    if (line->length > 0) return line->text[0];
    if (line->length == 0 || (errno != EAGAIN && errno != EINTR)) return 0;
  }
  return -1;
}

/* The letter of the answer; 0: the gate is not there; -1: it does not answer. */
static int ask(pid_t pid, struct line *line) {
  static uint64_t silent_ns;
  uint64_t now = trace_now();
  bool brief = silent_ns != 0 && now - silent_ns < GATE_SILENT_NS;
  if (trace_header()->flags & TRACE_GATE_STRICT) brief = false;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int answer = 0;
  if (fd >= 0 && reach(fd) && send_question(fd, pid))
    answer = read_answer(fd, line, now + (brief ? GATE_BRIEF_NS : GATE_WAIT_NS));
  if (fd >= 0) close(fd);
  if (answer == -1) silent_ns = now;
  return answer;
}

bool gate_refuses(pid_t pid, struct gate_line *why) {
  struct line line;
  uint32_t flags = trace_header()->flags;
  if (!trace_on() || !(flags & TRACE_GATED)) return false;
  int answer = ask(pid, &line);
  if (answer == GATE_ALLOW || (answer != GATE_DENY && !(flags & TRACE_GATE_STRICT))) return false;
  if (answer == GATE_DENY) line.text[line.length] = 0;
  snprintf(why->text, sizeof why->text, "%s\n", answer == GATE_DENY ? line.text + 1 : UNANSWERED);
  return true;
}

/* --- ending it */

#if defined __x86_64__
#define PROGRAM_COUNTER rip
#define STACK_POINTER rsp
#define CODE_BYTES 39

/* write(2, text, length); exit_group(126) */
static void make_code(unsigned char *code, uint64_t text, uint32_t length) {
  static const unsigned char CODE[CODE_BYTES] = {
      0xbf, 2, 0, 0, 0,                   /* mov edi, 2 */
      0x48, 0xbe, 0, 0, 0, 0, 0, 0, 0, 0, /* mov rsi, text */
      0xba, 0, 0, 0, 0,                   /* mov edx, length */
      0xb8, 1, 0, 0, 0, 0x0f, 0x05,       /* mov eax, 1; syscall */
      0xbf, GATE_EXIT, 0, 0, 0,           /* mov edi, 126 */
      0xb8, 231, 0, 0, 0, 0x0f, 0x05};    /* mov eax, 231; syscall */
  memcpy(code, CODE, sizeof CODE);
  memcpy(code + 7, &text, sizeof text);
  memcpy(code + 16, &length, sizeof length);
}
#elif defined __aarch64__
#define PROGRAM_COUNTER pc
#define STACK_POINTER sp
#define CODE_BYTES 44

static uint32_t set_register(int number, int part, uint64_t value) {
  uint32_t bits = (uint32_t)(value >> (16 * part)) & 0xffff;
  return (part == 0 ? 0xd2800000u : 0xf2800000u) | (uint32_t)part << 21 | bits << 5 |
         (uint32_t)number;
}

static void make_code(unsigned char *code, uint64_t text, uint32_t length) {
  const uint32_t call = 0xd4000001u;
  const uint32_t words[CODE_BYTES / 4] = {
      set_register(0, 0, 2),         set_register(1, 0, text),      set_register(1, 1, text),
      set_register(1, 2, text),      set_register(2, 0, length),    set_register(8, 0, 64),
      call,                          set_register(0, 0, GATE_EXIT), set_register(8, 0, 94),
      call,                          0};
  memcpy(code, words, sizeof words);
}
#endif

#ifdef CODE_BYTES
/* The text overwrites the arguments on its stack, which it will not read any more. */
static bool replace(pid_t pid, const struct gate_line *why) {
  struct user_regs_struct r;
  struct iovec piece = {&r, sizeof r};
  unsigned char code[CODE_BYTES];
  char path[64];
  size_t length = strlen(why->text);
  if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &piece) != 0) return false;
  if (piece.iov_len != sizeof r) return false; /* a 32-bit program */
  make_code(code, r.STACK_POINTER, (uint32_t)length);
  snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
  int memory = open(path, O_RDWR | O_CLOEXEC);
  if (memory < 0) return false;
  /* If the stack ends before the text does, the rest of the text is missing. */
  ssize_t n = pwrite(memory, why->text, length, (off_t)r.STACK_POINTER);
  bool done = n >= 0 && pwrite(memory, code, sizeof code, (off_t)r.PROGRAM_COUNTER) ==
                            (ssize_t)sizeof code;
  close(memory);
  return done;
}
#else
static bool replace(pid_t pid, const struct gate_line *why) { return pid < 0 && why == NULL; }
#endif

void gate_end(pid_t pid, const struct gate_line *why) {
  if (!replace(pid, why)) kill(pid, SIGKILL);
}
