/* Processes that wrote to a stamped stream and did not report themselves are looked up in /proc:
 * static programs that are not followed, programs started without our variables, processes in
 * another pid namespace. Which processes have reported is read from trace.bin. */
#include "runner.h"
#include "trace.h"

#include <string.h>
#include <unistd.h>

#define CHECK_MS 1000      /* how often we check that a pid still has its start time */
#define KNOWN_MAX 65536    /* beyond it we forget all, and look some of them up again */
#define GONE UINT64_MAX    /* no start time */
#define BLOCK (256u << 10) /* at least two frames */
#define MAGIC_BYTE (TRACE_FRAME_MAGIC & 0xff)
#define DAMAGED_MAX 16     /* frames with a wrong check, in one reading */

static struct pid_map reported;
static uint64_t read_to = TRACE_HEADER_BYTES;

static void note(pid_t pid, uint64_t start) {
  if (reported.count >= KNOWN_MAX) pids_clear(&reported);
  struct known *k = pids_add(&reported, pid);
  if (k == NULL) return;
  k->start = start;
  k->checked = now_ms();
}

static void take_frame(const unsigned char *frame, const struct trace_frame *head) {
  const unsigned char *body = frame + sizeof *head;
  size_t length = head->bytes - sizeof *head;
  union {
    struct trace_start start;
    struct trace_fork fork;
    struct trace_reap reap;
  } told = {0};
  memcpy(&told, body, length < sizeof told ? length : sizeof told);
  if (head->space != 0) return; /* counted elsewhere: the kernel gives us another pid for it */
  if (head->type == TRACE_START) note((pid_t)head->pid, told.start.start_ticks);
  if (head->type == TRACE_FORK) note((pid_t)head->pid, told.fork.start_ticks);
  /* Its bytes may still be on their way. The next process with this pid is checked at once. */
  struct known *ended =
      head->type == TRACE_REAP ? pids_find(&reported, (pid_t)told.reap.child) : NULL;
  if (ended != NULL) ended->checked = 0;
}

static bool holds_check(const unsigned char *frame, const struct trace_frame *head) {
  uint32_t hash = 0x811c9dc5u;
  for (uint32_t i = 0; i < head->bytes; i++) {
    unsigned char byte = i >= 12 && i < 16 ? 0 : frame[i]; /* where the check itself is */
    hash = (hash ^ byte) * 0x01000193u;
  }
  return hash == head->check;
}

/* Takes the whole frames of a block and gives the bytes up to the first that is not complete yet,
 * damage between them included. To check a frame that only looks like one costs time, and a program
 * could fill the file with such: after DAMAGED_MAX of them this reading takes no more, and
 * processes that reported behind them are looked up. */
static size_t take_block(const unsigned char *block, size_t length, int *damaged) {
  size_t at = 0;
  while (length - at >= sizeof(struct trace_frame)) {
    struct trace_frame head;
    memcpy(&head, block + at, sizeof head);
    bool possible = head.magic == TRACE_FRAME_MAGIC && head.bytes >= sizeof head &&
                    head.bytes <= TRACE_FRAME_MAX && *damaged < DAMAGED_MAX;
    if (possible && head.bytes > length - at) break;
    if (possible && holds_check(block + at, &head)) {
      take_frame(block + at, &head);
      at += head.bytes;
    } else {
      const unsigned char *next = memchr(block + at + 1, MAGIC_BYTE, length - at - 1);
      at = next == NULL ? length : (size_t)(next - block);
      *damaged += possible;
    }
  }
  return at;
}

static void read_reports(void) {
  static unsigned char block[BLOCK];
  int damaged = 0;
  while (read_to < TRACE_FILE_MAX) { /* there are no frames beyond it */
    ssize_t n = pread(trace_file(), block, sizeof block, (off_t)read_to);
    size_t taken = n > 0 ? take_block(block, (size_t)n, &damaged) : 0;
    read_to += taken;
    if (taken == 0 || n < (ssize_t)sizeof block) return;
  }
}

/* A pid with another start time is another process. */
static void note_writer(pid_t pid) {
  struct known *k = pids_find(&reported, pid);
  if (k == NULL) {
    read_reports();
    k = pids_find(&reported, pid);
    if (k != NULL) return;
  } else {
    int64_t now = now_ms();
    if (now - k->checked < CHECK_MS) return;
    k->checked = now;
    uint64_t start = process_start(pid);
    if (k->start == 0) k->start = start; /* its frame did not say */
    if (start == 0 || start == k->start) return;
  }
  uint64_t start = GONE; /* kept if it has ended: then we do not look again soon */
  facts_start(pid, FROM_PROC, &start);
  note(pid, start);
}

void writers_note(const struct stream *s) {
  static pid_t last;
  static int64_t last_at;
  if (!trace_on()) return;
  for (int i = 0; i < s->share_count; i++) {
    pid_t writer = s->shares[i].writer;
    int64_t now = now_ms();
    if (writer <= 0 || (writer == last && now - last_at < CHECK_MS)) continue;
    note_writer(writer);
    last = writer;
    last_at = now;
  }
}
