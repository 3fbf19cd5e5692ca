/* Frames: built in the caller's memory, appended to trace.bin with one write to a file opened
 * O_APPEND, so that frames of many processes do not mix (write(2)). The file is opened for each
 * frame: a descriptor that is kept would be found by programs that close unknown ones, and by those
 * that count. With other threads it is opened where their dup2 cannot reach it (apart.c). Nothing
 * here raises a signal or reports an error to the program. */
#include "shim.h"

struct shim_state shim;

enum { F_DUPFD_CLOEXEC = 1030, FIRST_FREE_FD = 10, STREAM_FDS = 3 };

void shim_quiet(void) { __atomic_store_n(&shim.on, 0, __ATOMIC_RELAXED); }

int shim_may_speak(void) {
  if (!shim_on()) return 0;
  if (LIKELY(sys_filter_mode() == shim.filter_mode)) return 1;
  shim_quiet();
  return 0;
}

void frame_begin(struct frame *frame, void *memory, uint32_t room, int type, int flags) {
  *frame = (struct frame){memory, sizeof(struct trace_frame), room, 0};
  struct trace_frame *head = memory;
  *head = (struct trace_frame){.type = (uint16_t)type, .flags = (uint16_t)flags};
}

void *frame_put(struct frame *frame, const void *data, uint32_t length) {
  unsigned char *at = frame->base + frame->length;
  /* 7 bytes are kept for the padding. */
  if (frame->full || frame->length + 7 > frame->room || length > frame->room - 7 - frame->length) {
    frame->full = 1;
    return NULL;
  }
  if (data == NULL) memset(at, 0, length);
  else memcpy(at, data, length);
  frame->length += length;
  return at;
}

void *frame_string(struct frame *frame, const char *text) {
  return frame_put(frame, text, (uint32_t)text_length(text) + 1);
}

static void close_frame(struct trace_frame *head, uint32_t length) {
  uint32_t bytes = (length + 7) & ~7u;
  memset((unsigned char *)head + length, 0, bytes - length);
  if (head->pid == 0) {
    struct identity self;
    shim_identity(&self);
    head->pid = self.pid, head->space = self.space;
  }
  if (head->at_ns == 0) head->at_ns = sys_now_ns();
  head->magic = TRACE_FRAME_MAGIC, head->bytes = bytes, head->check = 0;
  head->check = trace_check(head, bytes);
}

/* A process may have closed its streams. Our file must not become its stdin, stdout or stderr. */
int away_from_streams(int fd) {
  if (LIKELY(fd < 0 || fd >= STREAM_FDS)) return fd;
  int higher = (int)sys_fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  sys_close(fd);
  return higher;
}

static int is_trace(const struct sys_stat *st) {
  return st->device == shim.trace_device && st->inode == shim.trace_inode;
}

static int still_trace(int fd) {
  struct sys_stat st;
  return sys_fstat(fd, &st) == 0 && is_trace(&st);
}

static int put_in(int fd, const struct trace_frame *head) {
  struct sys_stat st;
  int error = sys_fstat(fd, &st);
  if (error < 0) return error;
  if (!is_trace(&st)) return -EBADF;
  if ((uint64_t)st.size + head->bytes > shim.file_max) return -EFBIG;
  ssize_type written = sys_write(fd, head, head->bytes);
  if (written < 0) return (int)written;
  return (uint32_t)written == head->bytes ? 0 : -EIO;
}

static NOINLINE void tell_dropped(int fd) {
  uint32_t frames = __atomic_exchange_n(&shim.dropped, 0, __ATOMIC_RELAXED);
  if (frames == 0) return;
  struct {
    struct trace_frame head;
    struct trace_drop drop;
  } frame = {.head = {.type = TRACE_DROP}, .drop = {frames, shim.drop_error}};
  close_frame(&frame.head, sizeof frame);
  if (put_in(fd, &frame.head) < 0)
    __atomic_fetch_add(&shim.dropped, frames, __ATOMIC_RELAXED);
}

int frame_open(void) {
  int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
  return away_from_streams(sys_open(shim.trace_path, flags));
}

/* The program may have put a file of its own under that number. */
static int kept_or(int error) {
  return shim.kept_fd != 0 && still_trace(shim.kept_fd) ? shim.kept_fd : error;
}

static int put_at_end(void *about) {
  int fd = frame_open();
  if (UNLIKELY(fd < 0)) fd = kept_or(fd);
  if (fd < 0) return fd;
  int result = put_in(fd, about);
  if (result == 0 && UNLIKELY(shim.dropped != 0)) tell_dropped(fd);
  if (fd != shim.kept_fd) sys_close(fd);
  return result;
}

/* In a process that goes on, signals are blocked meanwhile: a handler that calls longjmp would
 * leave the descriptor open. */
static int append(struct trace_frame *head) {
  if (sys_file_size_limited()) return -EFBIG;
  int goes_on = head->type == TRACE_REAP || head->type == TRACE_WRITE;
  uint64_t before;
  if (goes_on) sys_block_signals(&before);
  int kept = shim.kept_fd != 0 ? shim.kept_fd : -1;
  int result = shim.relays ? -EROFS : shim_apart(put_at_end, head, kept);
  if (result == -EROFS) result = order_relay(head);
  if (goes_on) sys_restore_signals(&before);
  return result;
}

/* `fd` < 0: the file is opened for it. */
int frame_send_to(int fd, struct trace_frame *head, uint32_t length) {
  if (!shim_on()) return -ENXIO;
  close_frame(head, length);
  int result = fd >= 0 && !shim.relays ? put_in(fd, head) : append(head);
  if (result < 0) {
    shim.drop_error = -result;
    __atomic_fetch_add(&shim.dropped, 1, __ATOMIC_RELAXED);
    shim_log("a frame was not written, error", NULL, -result);
  }
  return result;
}

int frame_send_ready(struct trace_frame *head, uint32_t length, int type, int flags) {
  head->type = (uint16_t)type, head->flags = (uint16_t)flags;
  return frame_send_to(-1, head, length);
}

int frame_send(struct frame *frame) {
  if (frame->full) return -E2BIG;
  return frame_send_to(-1, (struct trace_frame *)frame->base, frame->length);
}

void *scratch_take(size_t bytes) { return sys_map(bytes); }

void scratch_give(void *memory, size_t bytes) {
  if (memory != NULL) sys_unmap(memory, bytes);
}
