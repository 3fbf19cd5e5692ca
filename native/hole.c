/* Above the cap a capture keeps its head and its tail: output.bin goes on growing at its true
 * offsets, and the oldest part behind the head is given back to the disk, an eighth of the cap at a
 * time, with the records of the index that describe it. Half of the cap is the head's.
 *
 * The order makes it safe: the event that names the range is written first, so that a reader who
 * sees no such event after reading has read bytes and not the hole. A runner that is killed in
 * between leaves bytes that are announced as missing, never a hole that is taken for bytes. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 4096 /* what file systems give back is whole blocks */

static uint64_t step_of(const struct capture *c) { return c->cap / HOLE_STEPS / BLOCK * BLOCK; }

static uint64_t head_of(const struct capture *c) { return c->cap / 2 / BLOCK * BLOCK; }

static bool give_back(int fd, uint64_t from, uint64_t to) {
#ifdef FALLOC_FL_PUNCH_HOLE
  if (to <= from) return true;
  return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                   (off_t)(to - from)) == 0;
#else
  (void)fd, (void)from, (void)to;
  errno = EOPNOTSUPP;
  return false;
#endif
}

/* Tried behind the end of the file, where there is nothing to lose. */
static bool works(struct capture *c) {
  if (c->holes == HOLE_UNTRIED) {
    uint64_t behind = (c->offset / BLOCK + 1) * BLOCK;
    bool can = c->cap >= HOLE_CAP_MIN;
    c->holes = can && give_back(c->output, behind, behind + BLOCK) ? HOLE_WORKS : HOLE_CANNOT;
    c->hole_from = c->hole_to = head_of(c);
  }
  return c->holes == HOLE_WORKS;
}

/* Which record of the index holds the first byte of a step of the tail. */
void hole_mark(struct capture *c, uint64_t offset, uint64_t length) {
  if (c->cap < HOLE_CAP_MIN || offset + length <= head_of(c)) return;
  uint64_t head = head_of(c), step = step_of(c);
  struct stat st = {.st_size = 0};
  uint64_t k = offset <= head ? 0 : (offset - head + step - 1) / step;
  for (; head + k * step < offset + length; k++) {
    if (c->index >= 0 && fstat(c->index, &st) != 0) return; /* then less of it is given back */
    c->marks[k % MARKS_MAX] = (uint64_t)st.st_size + c->due_length;
  }
}

static uint64_t mark_at(const struct capture *c, uint64_t offset) {
  return c->marks[(offset - head_of(c)) / step_of(c) % MARKS_MAX];
}

static bool announce(struct capture *c, uint64_t from, uint64_t to, uint64_t index_to) {
  char line[384];
  struct text t;
  text_init(&t, line, sizeof line);
  event_begin(&t, "gap", from);
  text_add(&t, ",\"lost_bytes\":%llu,\"reason\":\"cap\"", (unsigned long long)(to - from));
  text_add(&t, ",\"hole\":[%llu,%llu],\"index_hole\":[%llu,%llu]}\n",
           (unsigned long long)c->hole_from, (unsigned long long)to,
           (unsigned long long)c->index_hole_from, (unsigned long long)index_to);
  return write_line(c->events, &c->events_torn, line, t.length);
}

/* False when the disk does not take its blocks back; then what comes is lost, as without holes. */
static bool grow_hole(struct capture *c) {
  uint64_t from = c->hole_to, to = from + step_of(c);
  if (to > c->offset) return false;
  uint64_t index_to = mark_at(c, to) / BLOCK * BLOCK;
  /* The records of the first byte on either side of the hole stay whole. */
  if (from == c->hole_from)
    c->index_hole_from = c->index_hole_to =
        (mark_at(c, from) + LINE_MAX_BYTES + BLOCK - 1) / BLOCK * BLOCK;
  if (index_to < c->index_hole_to) index_to = c->index_hole_to;
  if (!announce(c, from, to, index_to)) return false;
  c->hole_to = to;
  c->lost_total += to - from;
  bool given = give_back(c->output, from, to);
  if (given && c->index >= 0 && give_back(c->index, c->index_hole_to, index_to))
    c->index_hole_to = index_to;
  if (!given) c->holes = HOLE_CANNOT;
  return given;
}

/* How many of the next bytes may be kept. */
size_t capture_room(struct capture *c, size_t length) {
  uint64_t stored = c->offset - (c->hole_to - c->hole_from);
  if (stored + length <= c->cap) return length;
  if (works(c)) {
    capture_flush_index(c);
    while (c->offset - (c->hole_to - c->hole_from) + length > c->cap)
      if (!grow_hole(c)) break;
    stored = c->offset - (c->hole_to - c->hole_from);
    if (stored + length <= c->cap) return length;
  }
  return stored >= c->cap ? 0 : (size_t)(c->cap - stored);
}
