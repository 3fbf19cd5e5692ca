/* output.bin of one capture, its gaps, and when all of it is on the disk. Trouble with the disk
 * never stops a run: bytes that cannot be kept are counted, the gap is marked in events.jsonl when
 * there is room again, and every further byte is tried anew. The format is described in
 * src/capture/format.ts. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define RESERVE 4096 /* room kept for final.json and the first events, for when the disk is full */

/* O_NONBLOCK: opening a FIFO in the place of a file must not make us wait (open(2)). */
int open_in(struct capture *c, const char *name, int flags) {
  return openat(c->dir, name, flags | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Blocks taken now, so that how the run ended can be said on a disk that has filled up since. */
static void reserve(int fd) {
#ifdef __linux__
  if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, RESERVE) != 0) {
    /* Not every file system can; then a full disk may also lose the end of the story. */
  }
#else
  (void)fd;
#endif
}

/* A new file. One that has its name already is removed: another process may have it open. */
static int open_fresh(struct capture *c, const char *name) {
  int fd = open_in(c, name, O_WRONLY | O_EXCL);
  if (fd >= 0 || errno != EEXIST) return fd;
  if (unlinkat(c->dir, name, 0) != 0) return -1;
  return open_in(c, name, O_WRONLY | O_EXCL);
}

/* 0, or the errno that makes recording impossible. `c` must be all zero. */
int capture_open(struct capture *c, const struct options *o) {
  c->dir = c->output = c->index = c->events = c->lock = c->final = -1;
  c->id = o->id;
  c->cap = o->cap;
  if (o->dir == NULL) return 0;
  c->dir = open(o->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (c->dir < 0) return errno;
  c->lock = open_in(c, "append.lock", O_RDWR);
  if (c->lock < 0) return errno;
  struct stat st;
  /* A second link may lead to a file of another program: that one is not ours to lock. */
  if (fstat(c->lock, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1) return EMLINK;
  if (flock(c->lock, LOCK_EX | LOCK_NB) != 0) return EBUSY;
  c->output = open_in(c, "output.bin", O_WRONLY | O_APPEND);
  if (c->output < 0) return errno;
  c->events = open_in(c, "events.jsonl", O_WRONLY | O_APPEND);
  if (c->events < 0) return errno;
  reserve(c->events);
  c->final = open_fresh(c, "final.json.tmp");
  if (c->final >= 0) reserve(c->final);
  if (fstat(c->output, &st) != 0) return errno;
  if (!S_ISREG(st.st_mode) || st.st_size != 0) return EEXIST;
  c->on = true;
  return 0;
}

/* A line that a full disk tore off gets its end with the next one, which so stays intact. */
bool write_line(int fd, bool *torn, const char *line, size_t length) {
  const struct iovec both[2] = {{(void *)"\n", 1}, {(void *)line, length}};
  size_t end = *torn ? 1 : 0;
  ssize_t n = writev(fd, both + 1 - end, 1 + (int)end);
  if (n <= 0) return false;
  size_t written = (size_t)n - end;
  *torn = written > 0 && written < length && line[written - 1] != '\n';
  return written == length;
}

static void lose(struct capture *c, const char *reason, size_t length) {
  c->reason = reason;
  if (c->lost == 0) c->lost_at = c->offset;
  c->lost += length;
  c->lost_total += length;
  c->paused = true;
}

/* Marks what was lost, once. Stays pending while even that cannot be written. */
void capture_retry_gap(struct capture *c) {
  if (!c->on || c->lost == 0) return;
  char line[256];
  struct text t;
  text_init(&t, line, sizeof line);
  event_begin(&t, "gap", c->lost_at);
  text_add(&t, ",\"lost_bytes\":%llu,\"reason\":\"%s\"}\n", (unsigned long long)c->lost,
           c->reason);
  if (write_line(c->events, &c->events_torn, line, t.length)) c->lost = 0;
}

/* Keeps what was just read from this stream. */
void capture_append(struct capture *c, const struct stream *s) {
  if (!c->on) return;
  const unsigned char *data = s->buffer;
  size_t length = s->filled;
  size_t take = capture_room(c, length);
  size_t kept = 0;
  const char *reason = "cap";
  while (kept < take) {
    ssize_t n = write(c->output, data + kept, take - kept);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      reason = n == 0 ? "EIO" : errno_name(errno);
      break;
    }
    /* There is room again: what was lost lies before these bytes. */
    if (c->paused) {
      capture_retry_gap(c);
      c->paused = false;
    }
    index_gather(c, s, kept, (size_t)n);
    kept += (size_t)n;
  }
  if (c->unsynced == 0 && kept > 0) c->unsynced_since = now_ms();
  c->unsynced += kept;
  if (kept < length) {
    capture_flush_index(c);
    lose(c, reason, length - kept);
  }
}

static void sync_name(struct capture *c, const char *name) {
  int fd = openat(c->dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return; /* gone: nothing to keep */
  fdatasync(fd);
  close(fd);
}

static void *sync_thread(void *argument) {
  struct capture *c = argument;
  if (c->sync_output) fdatasync(c->output);
  else {
    sync_name(c, "meta.json");
    __atomic_store_n(&c->meta_synced, 1, __ATOMIC_RELEASE);
  }
  if (c->sync_index >= 0) fdatasync(c->sync_index);
  trace_sync(true);
  __atomic_store_n(&c->syncing, 0, __ATOMIC_RELEASE);
  return NULL;
}

/* Starts a sync beside the run: waiting for a disk must not stall the command. */
void capture_sync_begin(struct capture *c) {
  if (!c->on || __atomic_exchange_n(&c->syncing, 1, __ATOMIC_ACQUIRE) != 0) return;
  c->sync_output = c->offset > 0;
  c->sync_index = c->index;
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 65536);
  if (pthread_create(&thread, &attributes, sync_thread, c) == 0) c->unsynced = 0;
  else __atomic_store_n(&c->syncing, 0, __ATOMIC_RELEASE);
  pthread_attr_destroy(&attributes);
}

void capture_sync_tick(struct capture *c, int64_t now) {
  if (c->unsynced == 0 || (c->unsynced < SYNC_BYTES && now - c->unsynced_since < SYNC_MS)) return;
  capture_sync_begin(c);
}

/* Everything captured so far is on the disk when this returns (as far as the disk allows). */
void capture_sync(struct capture *c) {
  if (!c->on) return;
  if (!__atomic_load_n(&c->meta_synced, __ATOMIC_ACQUIRE)) sync_name(c, "meta.json");
  if (c->offset > 0) fdatasync(c->output);
  if (c->index >= 0) fdatasync(c->index);
  /* On its way now; capture_replace waits for it together with final.json. */
  sync_file_range(c->events, 0, 0, SYNC_FILE_RANGE_WRITE);
  trace_sync(false);
  c->unsynced = 0;
}

/* The same after the answer, for a run whose answer did not wait for it. */
void capture_sync_late(struct capture *c) {
  if (!c->on) return;
  capture_sync(c);
  sync_name(c, "final.json");
  fdatasync(c->events);
  trace_sync(true);
  fsync(c->dir);
}

/* `offset`: the byte of output.bin before which it happened. The clock may jump, this cannot. */
void event_begin(struct text *t, const char *type, uint64_t offset) {
  text_add(t, "{\"type\":\"%s\",\"timestamp\":", type);
  text_time(t, wall_ms());
  text_add(t, ",\"offset\":%llu", (unsigned long long)offset);
}

void capture_event(struct capture *c, const struct text *line) {
  if (!c->on || line->cut) return;
  capture_retry_gap(c);
  if (!write_line(c->events, &c->events_torn, line->data, line->length)) {
    /* There is no other place to report it: events are on the disk that has just failed. */
  }
}

/* Replaces a small file as a whole. With sync, file and name are on disk afterwards: the rename
 * comes first so that one journal commit carries both. Should the power fail in between, the file
 * is empty, readers take it for missing, and nothing had been announced yet. */
int capture_replace(struct capture *c, int *reserved, const char *name, const char *temp,
                    const char *data, size_t length, bool sync) {
  if (!c->on) return 0;
  int fd = reserved == NULL ? -1 : *reserved;
  if (reserved != NULL) *reserved = -1; /* it is used once */
  if (fd < 0) fd = open_fresh(c, temp);
  if (fd < 0) return errno;
  int error = 0;
  if (!write_all(fd, data, length)) error = errno;
  if (error == 0 && renameat(c->dir, temp, c->dir, name) != 0) error = errno;
  if (error == 0 && sync && (fsync(fd) != 0 || fdatasync(c->events) != 0 || fsync(c->dir) != 0))
    error = errno;
  close(fd);
  return error;
}
