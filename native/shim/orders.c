/* What is asked of the runner: orders in the FIFO `control` beside trace.bin. The runner answers by
 * writing into the memory of the process that asked, as a debugger does. */
#include "shim.h"

#ifdef __linux__

enum { FUTEX_WAIT_PRIVATE = 128, FOLLOWED = 1 };
enum { FOLLOW_SLICE_NS = 2000000, FOLLOW_SLICES = 50, MEET_SLICE_NS = 200000, MEET_SLICES = 100 };

struct order {
  const char *text;
  size_t length;
};

static int write_order(void *about) {
  const struct order *order = about;
  char path[512];
  size_t slash = text_length(shim.trace_path);
  while (slash > 0 && shim.trace_path[slash] != '/') slash--;
  if (slash + sizeof "/control" > sizeof path) return -ENAMETOOLONG;
  memcpy(path, shim.trace_path, slash);
  memcpy(path + slash, "/control", sizeof "/control");
  int fd = sys_open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
  if (fd < 0) return fd;
  uint64_t before;
  sys_block_signals(&before);
  ssize_type written = sys_write(fd, order->text, order->length);
  if (written == -EPIPE) sys_take_sigpipe(); /* the runner was killed just now */
  sys_restore_signals(&before);
  sys_close(fd);
  return written < 0 ? (int)written : written == (ssize_type)order->length ? 0 : -EIO;
}

/* 0, or -errno. */
static int try_order(const char *text, size_t length) {
  struct order order = {text, length};
  return shim_apart(write_order, &order, -1);
}

static int send_order(const char *order, size_t length) { return try_order(order, length) == 0; }

static void put_hex(char *to, const unsigned char *bytes, uint32_t length) {
  static const char digits[] = "0123456789abcdef";
  for (uint32_t i = 0; i < length; i++) {
    *to++ = digits[bytes[i] >> 4];
    *to++ = digits[bytes[i] & 15];
  }
}

/* The FIFO is full for as long as the runner has other things to do. */
int order_relay(const struct trace_frame *frame) {
  enum { ORDER_BYTES = 4096, TRIES = 20, NAP_NS = 500000 };
  static const char verb[] = "frame ";
  if (frame->bytes > RELAYED_MAX) return -EMSGSIZE;
  char *order = scratch_take(ORDER_BYTES);
  if (order == NULL) return -ENOMEM;
  size_t length = sizeof verb - 1;
  memcpy(order, verb, length);
  put_hex(order + length, (const unsigned char *)frame, frame->bytes);
  length += 2 * (size_t)frame->bytes;
  order[length++] = '\n';
  int result = try_order(order, length);
  for (int i = 0; i < TRIES && result == -EAGAIN; i++) {
    uint32_t word = 0;
    struct sys_time nap = {0, NAP_NS};
    SYS4(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &nap);
    result = try_order(order, length);
  }
  scratch_give(order, ORDER_BYTES);
  return result;
}

static size_t add_number(char *order, size_t at, uint64_t value, char behind) {
  at += text_number(order + at, value);
  order[at++] = behind;
  return at;
}

/* Waits for the answer in slices. The runner writes it into the low half of a word, and only if the
 * high half still holds the cookie of the order: a late answer could meet memory that is in use for
 * something else. A stop by ptrace ends a futex wait (EINTR), a write into the word does not: hence
 * slices. */
static NOINLINE int ask(const char *what, int64_t slice_ns, int slices) {
  uint32_t cookie = (uint32_t)sys_now_ns() | 1;
  uint64_t word = (uint64_t)cookie << 32;
  char order[80];
  size_t length = text_length(what);
  memcpy(order, what, length);
  order[length++] = ' ';
  length = add_number(order, length, shim_thread(), ' ');
  length = add_number(order, length, (uint64_t)(uintptr_t)&word, ' ');
  length = add_number(order, length, cookie, '\n');
  uint32_t *answer = (uint32_t *)&word; /* little-endian: the low half */
  if (send_order(order, length)) {
    struct sys_time slice = {0, slice_ns};
    for (int i = 0; i < slices && __atomic_load_n(answer, __ATOMIC_RELAXED) == 0; i++)
      SYS4(SYS_futex, answer, FUTEX_WAIT_PRIVATE, 0, &slice);
  }
  int followed = __atomic_load_n(answer, __ATOMIC_RELAXED) == FOLLOWED;
  __atomic_store_n((volatile uint64_t *)&word, 0, __ATOMIC_RELAXED);
  return followed;
}

int order_follow(void) {
  return (shim.flags & TRACE_FOLLOWS) && ask("seize", FOLLOW_SLICE_NS, FOLLOW_SLICES);
}

void order_meet(void) {
  if (shim.space == 0 || !(shim.flags & TRACE_FOLLOWS)) return;
  ask("meet", MEET_SLICE_NS, MEET_SLICES);
}

int order_release(uint32_t thread) {
  char order[32] = "release ";
  if (!(shim.flags & TRACE_FOLLOWS)) return 0;
  return send_order(order, add_number(order, sizeof "release", thread, '\n'));
}

#else /* there is no runner that could follow */

int order_follow(void) { return 0; }
void order_meet(void) {}
int order_release(uint32_t thread) { return (void)thread, 0; }
int order_relay(const struct trace_frame *frame) { return (void)frame, -ENOSYS; }

#endif
