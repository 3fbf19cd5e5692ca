/* The constructor: it runs in every process of a traced run, so it does little. It hides the
 * variables that the recorder put into the environment, checks the header of trace.bin (the
 * handshake, once, without a retry), and reports START. If anything is not as expected, the shim
 * stays off in this process and in the programs that it starts. */
#include "shim.h"

enum { AT_UID = 11, AT_SECURE = 23, AT_EXECFN = 31, SMALL = 4 << 10, BIG = 72 << 10 };
enum { PATHS_MAX = 4096, ENV_BYTES_MAX = 16 << 10, ARGS_AREA = 16 << 20 };

WEAK int on_exit(void (*call)(int code, void *data), void *data); /* glibc has it */
WEAK unsigned long getauxval(unsigned long kind);

struct begin { /* what START tells */
  struct proc_facts proc;
  char *const *argv;
  char *const *env;
  const char *exe, *cwd;
  const char *names; /* of variables that are kept, from the header */
  uint32_t name_count;
  struct secrets secrets;
  struct program_code code;
  int silent; /* this is all that is said about the process */
};

/* --- the handshake */

/* `header` may hold only the first `length` bytes; its names end within them, or it is asked for
 * more. */
static const char *refused(const struct trace_header *header, ssize_type length) {
  if (length < (ssize_type)offsetof(struct trace_header, env)) return "it is too short";
  if (memcmp(header->magic, TRACE_MAGIC, sizeof header->magic) != 0) return "wrong magic";
  if (header->version != TRACE_VERSION) return "another version";
  if (header->header_bytes != TRACE_HEADER_BYTES) return "another size";
  if (header->mode < MODE_SOCKET || header->mode > MODE_PTY) return "unknown mode";
  return NULL;
}

static int names_end(const struct trace_header *header, ssize_type length) {
  const char *at = header->env, *end = (const char *)header + length;
  uint32_t names = 0;
  for (; at < end && names < header->env_count; at++) names += *at == 0;
  return names == header->env_count;
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void take_header(const struct trace_header *header) {
  shim.mode = header->mode, shim.flags = header->flags, shim.runner_pid = header->runner_pid;
  shim.out_device = header->out_device, shim.out_inode = header->out_inode;
  shim.err_device = header->err_device, shim.err_inode = header->err_inode;
  shim.file_max = header->file_max;
  shim.argv_max = smaller(header->argv_max, shim.relays ? RELAYED_MAX / 2 : TRACE_ARGV_MAX);
  shim.args_max = smaller(header->args_max, TRACE_ARGS_MAX);
  shim.pid_namespace = header->pid_namespace, shim.proc_device = header->proc_device;
}

/* Gives the open file, or an error. */
static int open_trace(void) {
  int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
  int fd = away_from_streams(sys_open(shim.trace_path, flags));
  if (fd == -EROFS) { /* it can be read all the same, and the runner is asked to write */
    shim.relays = 1;
    flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
    fd = away_from_streams(sys_open(shim.trace_path, flags));
  }
  if (fd < 0) shim_log("cannot open the trace, error", NULL, -fd);
  return fd;
}

/* Which file trace.bin is; gives its size. */
static int64_t learn_file(int fd) {
  struct sys_stat st = {.device = 0};
  sys_fstat(fd, &st);
  shim.trace_device = st.device, shim.trace_inode = st.inode;
  return st.size;
}

/* --- START */

static int name_is(const char *entry, const char *name) {
  while (*name != 0 && *entry == *name) entry++, name++;
  return *name == 0 && *entry == '=';
}

/* Values whose names the header lists; never a secret, never half of one. */
static uint32_t put_env(struct frame *frame, const struct begin *begin, int *flags) {
  uint32_t kept = 0, room = ENV_BYTES_MAX;
  const char *name = begin->names;
  for (uint32_t i = 0; i < begin->name_count && *name != 0; i++, name += text_length(name) + 1) {
    for (char *const *entry = begin->env; entry != NULL && *entry != NULL; entry++) {
      if ((*entry)[0] != name[0] || !name_is(*entry, name) || secret_name(*entry)) continue;
      uint32_t length = (uint32_t)text_length(*entry) + 1;
      /* [NAME] in the place of a secret may be longer than the secret. */
      if (length * 2 > room || begin->secrets.more) continue;
      room -= length * 2;
      kept += (uint32_t)words_text(frame, *entry, length * 16, &begin->secrets, flags);
    }
  }
  return kept;
}

static uint32_t count_of(char *const *list) {
  uint32_t count = 0;
  while (list != NULL && list[count] != NULL) count++;
  return count;
}

static uint32_t peak_now(void) {
  struct sys_usage usage;
  return sys_usage(&usage) ? (uint32_t)usage.peak : 0;
}

static void fill_start(struct frame *frame, const struct begin *begin, void *memory,
                       uint32_t room) {
  struct trace_start start = {.parent = begin->proc.pid != 0 ? begin->proc.parent
                                                             : (uint32_t)sys_getppid(),
                              .uid = getauxval ? (uint32_t)getauxval(AT_UID) : sys_getuid(),
                              .start_ticks = begin->proc.start_ticks,
                              .inner_pid = shim.inner_pid,
                              .inner_space = shim.inner_space,
                              .env = count_of(begin->env),
                              .peak_before = peak_now()};
  struct words_facts words;
  int flags = (begin->argv == NULL ? TRACE_CUT : 0) | (begin->silent ? TRACE_SILENT : 0);
  frame_begin(frame, memory, room, TRACE_START, FROM_SHIM);
  struct trace_start *put = frame_put(frame, &start, sizeof start);
  words_text(frame, begin->exe, PATHS_MAX, &begin->secrets, &flags);
  words_text(frame, begin->cwd, PATHS_MAX, &begin->secrets, &flags);
  words_put(frame, begin->argv, &begin->secrets, &words, &flags);
  uint32_t kept_env = put_env(frame, begin, &flags);
  if (frame->full) return;
  put->args = words.args, put->argv_bytes = words.argv_bytes, put->kept_args = words.kept_args;
  put->kept_env = kept_env;
  struct trace_frame *head = memory;
  head->flags = (uint16_t)flags;
  head->pid = shim.pid, head->space = shim.space;
}

/* Both paths, each with `room`; what cannot be known is empty. 0 when one may be longer. */
static int read_paths(struct begin *begin, char *exe, size_t room) {
  char *cwd = exe + room;
  long length = sys_getcwd(cwd, room);
  if (length <= 0) cwd[0] = 0;
  begin->exe = exe, begin->cwd = cwd;
  const char *named = getauxval ? (const char *)getauxval(AT_EXECFN) : NULL;
  if (shim.told_direct && named != NULL && path_resolve(named, cwd, exe, room)) return length > 0;
  ssize_type bytes = sys_readlink("/proc/self/exe", exe, room - 1);
  exe[bytes > 0 ? bytes : 0] = 0;
  return bytes < (ssize_type)room - 1 && length != -ERANGE;
}

/* --- the constructor */

enum attached { REFUSED, NO_ROOM, SAID };

/* Everything in `bytes` of memory: header, paths, frame. `fd` is closed where it was said. */
static enum attached attach_within(struct begin *begin, int fd, void *memory, uint32_t bytes) {
  struct trace_header *header = memory;
  uint32_t part = smaller(bytes / 4, TRACE_HEADER_BYTES), path = smaller(bytes / 8, PATHS_MAX);
  ssize_type length = sys_pread(fd, header, part, 0);
  const char *why = refused(header, length);
  /* Up to here the shim made only calls that the loader made, too (openat, pread64, close), and
   * prctl: a filter from before the exec may kill for more. */
  if (why == NULL && shim.filter_mode != 0 && !(header->flags & TRACE_FILTERED)) {
    if (header->flags & TRACE_GATE_STRICT) gate_end_unjudged();
    why = "this program began under a seccomp filter";
  }
  if (why == NULL && learn_file(fd) < TRACE_HEADER_BYTES) why = "it is too short";
  if (why == NULL && !names_end(header, length)) {
    if (part < TRACE_HEADER_BYTES) return NO_ROOM;
    why = "names without an end";
  }
  if (why != NULL) {
    shim_log("header refused:", why, 0);
    return REFUSED;
  }
  take_header(header);
  /* Where everything has to be judged, what a silent program starts would not be. */
  begin->silent = !(shim.flags & TRACE_GATE_STRICT) && self_filter_installs(&begin->code);
  begin->names = header->env, begin->name_count = header->env_count;
  char *paths = (char *)memory + part;
  if (!read_paths(begin, paths, path) && bytes < BIG) return NO_ROOM;
  identity_learn(&begin->proc);
  struct frame frame;
  fill_start(&frame, begin, paths + 2 * path, bytes - part - 2 * path);
  if (frame.full) return NO_ROOM;
  shim.on = 1;
  int result = sys_file_size_limited() ? -EFBIG : 0;
  if (result == 0)
    result = frame_send_to(fd, (struct trace_frame *)frame.base, frame.length);
  if (result < 0) shim_log("self-report failed, error", NULL, -result);
  else shim_log("attached to", shim.trace_path, 0);
  sys_close(fd); /* the gate needs one, and RLIMIT_NOFILE may allow no second */
  struct program program = {begin->argv, begin->exe, begin->cwd, 0};
  if (gate_refuses(&program)) gate_end();
  return SAID;
}

static NOINLINE enum attached start_small(struct begin *begin, int fd) {
  uint64_t memory[SMALL / 8];
  return attach_within(begin, fd, memory, sizeof memory);
}

static int say_start(void *about) {
  struct begin *begin = about;
  int fd = open_trace();
  if (fd < 0) return fd;
  secrets_find(&begin->secrets, begin->env);
  secrets_told(&begin->secrets, begin->argv, shim.told_words);
  secrets_remember(&begin->secrets);
  secrets_find(&begin->secrets, begin->argv);
  enum attached attached = start_small(begin, fd);
  if (attached == NO_ROOM) {
    void *memory = scratch_take(BIG);
    if (memory != NULL) attached = attach_within(begin, fd, memory, BIG);
    scratch_give(memory, BIG);
  }
  if (attached != SAID) sys_close(fd);
  return 0;
}

static void attach(struct begin *begin) {
  enum { STDERR = 2 };
  shim.filter_mode = sys_filter_mode();
  self_filter_find(&begin->code);
  /* Other libraries may have started threads. Where the libc does not tell, it is not asked for by
   * more system calls: a filter may kill for them. */
  if (UNLIKELY(shim_several_threads())) shim_apart(say_start, begin, STDERR);
  else say_start(begin);
  if (!shim_on()) return;
  order_meet();
  if (begin->silent) {
    shim_log("silent: the program installs a seccomp filter by itself", NULL, 0);
    shim_quiet();
    return;
  }
  child_env_learn();
  exit_init();
  shim_writes_init();
}

/* musl calls constructors without arguments. Its environment lies behind argv, unless another
 * constructor has moved it. */
static char **argv_before(char **env) {
  uintptr_t end = getauxval ? getauxval(AT_EXECFN) : 0;
  if (env == NULL || end < (uintptr_t)env || end - (uintptr_t)env > ARGS_AREA) return NULL;
  if (env[-1] != NULL) return NULL;
  for (uintptr_t count = 0; count < ARGS_AREA / sizeof *env; count++)
    if ((uintptr_t)env[-2 - (intptr_t)count] == count) return env - 1 - count;
  return NULL;
}

__attribute__((constructor)) static void start(int count, char **argv, char **env) {
  struct begin begin;
  secrets_init(&begin.secrets);
  char **now = env_now();
  (void)count;
  if (getauxval && getauxval(AT_SECURE)) return;
  if (now == NULL && on_exit) now = env;
  if (now == NULL) return;
  begin.argv = on_exit ? argv : argv_before(now);
  env_hide(now);
  begin.env = now;
  if (shim.trace_path == NULL || shim.preload_variable == NULL) return;
  attach(&begin);
  secrets_drop(&begin.secrets);
}
