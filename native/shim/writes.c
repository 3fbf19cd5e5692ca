/* Output of the process, in pipe and pty mode: after a call that wrote, a record says when, how
 * long it took, to which stream, how much, and a hash of the bytes. The bytes themselves are with
 * the runner already. The kernel is asked which stream a descriptor is (fstat): dup2, close and
 * fcntl change that, also in ways no hook sees. It is not asked again within a time too short for
 * another system call.
 *
 * Records are collected in one batch of the process. There is no waiting for it: a thread that
 * finds it taken, by another thread or by the code that a signal interrupted, sends a frame of its
 * own. So does a vfork child, whose memory is its parent's. */
#include "streams.h"

/* The first few records of every tenth of a second go out at once: a program that says little is
 * told in full even if it is killed next, or waits for hours. Behind those they are collected; a
 * batch goes out when it is full, at the first record of the next tenth, and with every record
 * once the process is on its way out. */
#define WINDOW_NS 100000000
#define WINDOW_PROMPT 8
#define BATCH_RECORDS ((4096u - sizeof(struct trace_frame)) / sizeof(struct trace_write))
#define RELAYED_RECORDS ((RELAYED_MAX - sizeof(struct trace_frame)) / sizeof(struct trace_write))
/* How soon behind one write the next may begin for what was asked about the first to hold for it,
 * where no other thread could change it: in so short a time no process is made and no filter is put
 * in place; and in the shorter one no system call begins and ends, so that the descriptor is still
 * what it was. */
#define SAME_PROCESS_NS 2000
#define SAME_STREAM_NS 60
/* How often a last flush looks whether another thread is done: some 20 microseconds. */
#define LAST_TRIES 2000

struct batch {
  struct trace_frame head;
  struct trace_write records[BATCH_RECORDS];
};

int shim_watched;

/* Mapped when something is collected: most processes say little, and the data of every process
 * shall fit one page. */
static struct batch *batch;
static uint32_t batch_count;
static uint64_t window_ns; /* when it began */
static int window_sent;
static int batch_taken;
static int ending;
/* The last record of this process: its descriptor and stream in one word, so that a signal cannot
 * come between the two, and when all was done. Changed only by the holder of the batch. */
static uint64_t last_stream, last_ns;
/* A preloaded clock_gettime may not tell the kernel's time (faketime). It is compared on first use:
 * most processes write nothing, and would touch its pages in vain. */
static enum { CLOCK_UNTRIED, CLOCK_TRUE, CLOCK_FALSE } libc_clock;

WEAK extern int clock_gettime(int clock, struct sys_time *to);

/* 0 when it cannot say. */
static uint64_t libc_now_ns(void) {
  struct sys_time now = {0, 0};
  if (!clock_gettime || clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
  return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.nanoseconds;
}

static NOINLINE uint64_t try_clock(void) {
  uint64_t before = sys_now_ns(), said = libc_now_ns(), after = sys_now_ns();
  libc_clock = said >= before && said <= after ? CLOCK_TRUE : CLOCK_FALSE;
  return after;
}

uint64_t shim_clock_ns(void) {
  if (LIKELY(libc_clock == CLOCK_TRUE)) return libc_now_ns();
  return libc_clock == CLOCK_FALSE ? sys_now_ns() : try_clock();
}

/* --- the batch */

static int take_batch(void) {
  return !__atomic_exchange_n(&batch_taken, 1, __ATOMIC_ACQUIRE);
}

static void give_batch(void) { __atomic_store_n(&batch_taken, 0, __ATOMIC_RELEASE); }

static int have_batch(void) {
  if (UNLIKELY(batch == NULL)) batch = sys_map(sizeof *batch);
  return batch != NULL;
}

/* Only the holder of the batch calls it. */
static void send_batch(uint64_t now_ns) {
  uint32_t length = sizeof batch->head + batch_count * (uint32_t)sizeof *batch->records;
  if (batch_count == 0) return;
  batch->head = (struct trace_frame){.at_ns = now_ns};
  frame_send_ready(&batch->head, length, TRACE_WRITE, FROM_SHIM);
  batch_count = 0;
}

static NOINLINE void send_alone(const struct trace_write *record) {
  struct {
    struct trace_frame head;
    struct trace_write record;
    uint64_t room;
  } frame = {.head = {.at_ns = record->at_ns}, .record = *record};
  frame_send_ready(&frame.head, sizeof frame.head + sizeof frame.record, TRACE_WRITE, FROM_SHIM);
}

static uint64_t word_of(int fd, uint32_t stream) {
  return (uint64_t)(uint32_t)fd << 32 | stream;
}

/* How long ago the last record was done, if it was one of `fd` and by this thread; `stream` is what
 * that was then. */
static uint64_t since_last(int fd, uint64_t at_ns, uint32_t *stream) {
  if (!shim_one_thread()) return UINT64_MAX;
  uint64_t word = __atomic_load_n(&last_stream, __ATOMIC_RELAXED);
  uint64_t done_ns = __atomic_load_n(&last_ns, __ATOMIC_RELAXED);
  if ((uint32_t)(word >> 32) != (uint32_t)fd) return UINT64_MAX;
  if (word != __atomic_load_n(&last_stream, __ATOMIC_RELAXED)) return UINT64_MAX;
  *stream = (uint32_t)word;
  return at_ns - done_ns; /* before it: very long ago */
}

static void note_last(int fd, uint32_t stream) {
  if (!shim_one_thread()) return;
  __atomic_store_n(&last_stream, word_of(-1, 0), __ATOMIC_RELAXED);
  __atomic_store_n(&last_ns, shim_clock_ns(), __ATOMIC_RELAXED);
  __atomic_store_n(&last_stream, word_of(fd, stream), __ATOMIC_RELAXED);
}

static void add_record(int fd, const struct trace_write *record, int own) {
  if (!own || !take_batch()) {
    send_alone(record);
    return;
  }
  uint64_t now_ns = record->at_ns + record->took_ns;
  /* Records of other threads may be older than the window, hence the sign. */
  if ((int64_t)(now_ns - window_ns) >= WINDOW_NS) {
    window_ns = now_ns;
    window_sent = 0;
  }
  int prompt = window_sent < WINDOW_PROMPT || ending;
  if ((prompt && batch_count == 0) || !have_batch()) {
    window_sent++;
    send_alone(record);
  } else {
    batch->records[batch_count++] = *record;
    if (prompt || batch_count == (shim.relays ? RELAYED_RECORDS : BATCH_RECORDS)) {
      window_sent++;
      send_batch(now_ns);
    }
  }
  note_last(fd, record->stream);
  give_batch();
}

void shim_flush(void) {
  if (!shim_watching() || !__atomic_load_n(&batch_count, __ATOMIC_RELAXED)) return;
  if (!shim_own_process()) return;
  int taken = take_batch();
  for (int i = 0; i < LAST_TRIES && !taken; i++) taken = take_batch();
  if (!taken) return;
  send_batch(shim_clock_ns());
  give_batch();
}

void shim_reset_batch(void) {
  last_stream = word_of(-1, 0);
  batch_count = 0;
  window_ns = 0;
  give_batch();
}

/* Behind this the libc empties the buffers of stdio, and no hook sees its _exit. */
__attribute__((destructor)) static void leave(void) {
  ending = 1;
  shim_flush();
}

void shim_writes_init(void) {
  if (shim.mode != MODE_PIPE && shim.mode != MODE_PTY) return;
  shim_stdio_init();
  shim_watched = 1;
}

/* --- records */

#ifdef __linux__
/* /dev/tty is a file of its own, whatever terminal it stands for. Inside a terminal multiplexer
 * that is another one. */
static int is_our_terminal(int fd, const struct sys_stat *st) {
  enum { CHARACTER_DEVICE = 0020000, FILE_TYPE = 0170000, DEV_TTY = 5 << 8, PTS_MAJOR = 136 };
  enum { TIOCGDEV = (int)0x80045432u, PTS_FIRST_INODE = 3 };
  uint32_t device = 0, number = (uint32_t)shim.out_inode - PTS_FIRST_INODE;
  if (shim.mode != MODE_PTY || (st->mode & FILE_TYPE) != CHARACTER_DEVICE) return 0;
  if (st->rdevice != DEV_TTY || SYS3(SYS_ioctl, fd, TIOCGDEV, &device) < 0) return 0;
  return device == ((number & 0xff) | PTS_MAJOR << 8 | (number & ~0xffu) << 12);
}
#else
static int is_our_terminal(int fd, const struct sys_stat *st) {
  (void)fd, (void)st;
  return 0;
}
#endif

/* 0 when it is not one of the run's. */
static uint32_t stream_of(int fd) {
  struct sys_stat st;
  if (sys_fstat(fd, &st) < 0) return 0;
  if (st.device == shim.out_device && st.inode == shim.out_inode)
    return shim.mode == MODE_PTY ? STREAM_PTY : STREAM_OUT;
  if (st.device == shim.err_device && st.inode == shim.err_inode) return STREAM_ERR;
  return is_our_terminal(fd, &st) ? STREAM_PTY : 0;
}

static uint32_t took(uint64_t at_ns) {
  uint64_t now_ns = shim_clock_ns();
  uint64_t spent = now_ns > at_ns ? now_ns - at_ns : 0;
  return spent > UINT32_MAX ? UINT32_MAX : (uint32_t)spent;
}

/* Bytes `from` to `to` of what lies in `v`. */
static uint64_t hash_part(uint64_t hash, const struct sys_vector *v, size_t count, size_t from,
                          size_t to) {
  size_t at = 0;
  for (size_t i = 0; i < count && at < to; at += v[i].length, i++) {
    const unsigned char *bytes = v[i].base;
    size_t first = from > at ? from - at : 0, last = to - at;
    if (last > v[i].length) last = v[i].length;
    for (size_t k = first; k < last; k++) hash = (hash ^ bytes[k]) * 0x100000001b3u;
  }
  return hash;
}

static uint64_t hash_of(const struct sys_vector *v, size_t count, size_t length) {
  const size_t END = 128;
  uint64_t hash = 0xcbf29ce484222325u;
  if (length <= 2 * END) return hash_part(hash, v, count, 0, length);
  hash = hash_part(hash, v, count, 0, END);
  return hash_part(hash, v, count, length - END, length);
}

static void tell(int fd, uint64_t at_ns, const struct sys_vector *v, size_t count, size_t length) {
  struct trace_write record = {.at_ns = at_ns, .took_ns = took(at_ns)};
  uint64_t since = since_last(fd, at_ns, &record.stream);
  int same = since < SAME_PROCESS_NS;
  /* A filter that no hook saw may kill for what follows. */
  if (same ? !shim_on() : !shim_may_speak()) return;
  if (since >= SAME_STREAM_NS) record.stream = stream_of(fd);
  if (record.stream == 0) return;
  record.length = (uint32_t)length;
  if (v == NULL) record.stream |= STREAM_UNHASHED;
  else record.hash = hash_of(v, count, length);
  add_record(fd, &record, same || shim_own_process());
}

void shim_tell_vector(int fd, uint64_t at_ns, const struct sys_vector *v, size_t count,
                      size_t length) {
  tell(fd, at_ns, v, count, length);
}

void shim_tell(int fd, uint64_t at_ns, const void *data, size_t length) {
  struct sys_vector v = {data, length};
  tell(fd, at_ns, &v, 1, length);
}

void shim_tell_unseen(int fd, uint64_t at_ns, size_t length) { tell(fd, at_ns, NULL, 0, length); }

/* --- the hooks
 * Which calls can write to a pipe, a terminal or a socket is the kernel's rule: pwrite and pwritev
 * give ESPIPE there and copy_file_range EINVAL, so they are not hooked. A stream is a socket where
 * the kernel cannot say who wrote, as on macOS; on Linux it is not in these modes. */

struct sys_message { /* struct msghdr; musl counts with an int and padding */
  void *name;
  uint32_t name_length;
  struct sys_vector *vector;
#ifdef __APPLE__
  int count;
#else
  uint32_t count, padding;
#endif
  void *control;
  size_t control_length;
  int flags;
};

/* Calls on, and tells what was written. */
#define WRITTEN(name, raw, tell_it, ...)                                                      \
  do {                                                                                        \
    __typeof__(&name) original = ORIGINAL(name);                                              \
    if (!shim_watching()) return CALL_ON(original, raw, __VA_ARGS__);                         \
    uint64_t at_ns = shim_clock_ns();                                                         \
    ssize_type done = CALL_ON(original, raw, __VA_ARGS__);                                    \
    if (done > 0) tell_it;                                                                    \
    return done;                                                                              \
  } while (0)

HOOK(ssize_type, write, (int fd, const void *data, size_t length)) {
  WRITTEN(write, sys_write(fd, data, length), shim_tell(fd, at_ns, data, (size_t)done), fd, data,
          length);
}

HOOK(ssize_type, writev, (int fd, const struct sys_vector *v, int count)) {
  WRITTEN(writev, sys_writev(fd, v, count),
          shim_tell_vector(fd, at_ns, v, (size_t)count, (size_t)done), fd, v, count);
}

HOOK(ssize_type, send, (int fd, const void *data, size_t length, int flags)) {
  WRITTEN(send, SYS6(SYS_sendto, fd, data, length, flags, 0, 0),
          shim_tell(fd, at_ns, data, (size_t)done), fd, data, length, flags);
}

HOOK(ssize_type, sendto,
     (int fd, const void *data, size_t length, int flags, const void *to, uint32_t to_length)) {
  WRITTEN(sendto, SYS6(SYS_sendto, fd, data, length, flags, to, to_length),
          shim_tell(fd, at_ns, data, (size_t)done), fd, data, length, flags, to, to_length);
}

HOOK(ssize_type, sendmsg, (int fd, const struct sys_message *m, int flags)) {
  WRITTEN(sendmsg, SYS3(SYS_sendmsg, fd, m, flags),
          shim_tell_vector(fd, at_ns, m->vector, m->count, (size_t)done), fd, m, flags);
}

/* Ways to die by one's own hand: what was written before is told before. Each ends in a jump, so
 * that no backtrace shows it; abort is declared to return for that. */

HOOK(int, abort, (void)) {
  shim_flush();
  __typeof__(&abort) original = ORIGINAL(abort);
  return CALL_ON(original, SYS2(SYS_kill, sys_getpid(), SIGABRT));
}

HOOK(int, raise, (int signal)) {
  shim_flush();
  __typeof__(&raise) original = ORIGINAL(raise);
  return CALL_ON(original, SYS2(SYS_kill, sys_getpid(), signal), signal);
}

HOOK(int, kill, (int pid, int signal)) {
  shim_flush();
  __typeof__(&kill) original = ORIGINAL(kill);
  return CALL_ON(original, SYS2(SYS_kill, pid, signal), pid, signal);
}

#ifdef __linux__

ALIAS(ssize_type, __write, write, (int fd, const void *data, size_t length));
ALIAS(ssize_type, __send, send, (int fd, const void *data, size_t length, int flags));

/* At the file's own position (-1) it is writev. */
HOOK(ssize_type, pwritev2,
     (int fd, const struct sys_vector *v, int count, int64_t at, int flags)) {
  WRITTEN(pwritev2, SYS6(SYS_pwritev2, fd, v, count, at, 0, flags),
          shim_tell_vector(fd, at_ns, v, (size_t)count, (size_t)done), fd, v, count, at, flags);
}

HOOK(ssize_type, pwritev64v2,
     (int fd, const struct sys_vector *v, int count, int64_t at, int flags)) {
  WRITTEN(pwritev64v2, SYS6(SYS_pwritev2, fd, v, count, at, 0, flags),
          shim_tell_vector(fd, at_ns, v, (size_t)count, (size_t)done), fd, v, count, at, flags);
}

HOOK(ssize_type, vmsplice,
     (int fd, const struct sys_vector *v, size_t count, unsigned flags)) {
  WRITTEN(vmsplice, SYS4(SYS_vmsplice, fd, v, count, flags),
          shim_tell_vector(fd, at_ns, v, count, (size_t)done), fd, v, count, flags);
}

HOOK(ssize_type, sendfile, (int to, int from, int64_t *offset, size_t length)) {
  WRITTEN(sendfile, SYS4(SYS_sendfile, to, from, offset, length),
          shim_tell_unseen(to, at_ns, (size_t)done), to, from, offset, length);
}

HOOK(ssize_type, sendfile64, (int to, int from, int64_t *offset, size_t length)) {
  WRITTEN(sendfile64, SYS4(SYS_sendfile, to, from, offset, length),
          shim_tell_unseen(to, at_ns, (size_t)done), to, from, offset, length);
}

HOOK(ssize_type, splice,
     (int from, int64_t *at, int to, int64_t *to_at, size_t length, unsigned flags)) {
  WRITTEN(splice, SYS6(SYS_splice, from, at, to, to_at, length, flags),
          shim_tell_unseen(to, at_ns, (size_t)done), from, at, to, to_at, length, flags);
}

HOOK(ssize_type, tee, (int from, int to, size_t length, unsigned flags)) {
  WRITTEN(tee, SYS4(SYS_tee, from, to, length, flags), shim_tell_unseen(to, at_ns, (size_t)done),
          from, to, length, flags);
}

#endif
