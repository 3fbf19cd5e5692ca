/* Syncs the captures of runs whose end the server reported before they were on the disk. It syncs
 * them together, within a second of the first, in a process of its own, so that neither the next
 * run nor the server's own syncs wait for each of them in turn. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATE_MANY 256 /* with so many captures the sync begins at once */
#define AT_ONCE 32    /* runs whose files are open at the same time */

struct late {
  struct late *next;
  char dir[];
};

static struct late *waiting;
static int count;
static int64_t due_at;

static const char *const FILES[] = {"output.bin",   "index.jsonl", "trace.bin",
                                    "events.jsonl", "meta.json",   "final.json"};
#define FILE_COUNT (sizeof FILES / sizeof *FILES)

struct opened {
  int dir, files[FILE_COUNT];
};

/* Begins to write the files of one capture, without waiting: settle() waits for all together. */
static void send_off(struct opened *o, const char *path) {
  o->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  for (size_t i = 0; i < FILE_COUNT; i++) {
    const int flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
    o->files[i] = o->dir < 0 ? -1 : openat(o->dir, FILES[i], flags);
    if (o->files[i] >= 0) sync_file_range(o->files[i], 0, 0, SYNC_FILE_RANGE_WRITE);
  }
}

static void settle(struct opened *o) {
  for (size_t i = 0; i < FILE_COUNT; i++) {
    if (o->files[i] < 0) continue; /* never made, or swept */
    fdatasync(o->files[i]);
    close(o->files[i]);
  }
  if (o->dir < 0) return;
  fsync(o->dir);
  close(o->dir);
}

static void sync_list(const struct late *at) {
  struct opened opened[AT_ONCE];
  while (at != NULL) {
    int n = 0;
    for (; at != NULL && n < AT_ONCE; at = at->next) send_off(&opened[n++], at->dir);
    for (int i = 0; i < n; i++) settle(&opened[i]);
  }
}

static void forget_all(void) {
  while (waiting != NULL) {
    struct late *next = waiting->next;
    free(waiting);
    waiting = next;
  }
  count = 0;
}

void deferred_add(const char *dir) {
  size_t length = strlen(dir) + 1;
  struct late *l = malloc(sizeof *l + length);
  if (l == NULL) return; /* then the kernel writes it back in its own time */
  memcpy(l->dir, dir, length);
  if (waiting == NULL) due_at = now_ms() + SYNC_MS;
  if (++count >= LATE_MANY) due_at = 0;
  l->next = waiting;
  waiting = l;
}

/* For poll: when there is something to do; -1 for never. */
int deferred_wait_ms(void) {
  if (waiting == NULL) return -1;
  int64_t left = due_at - now_ms();
  return left < 0 ? 0 : (int)left;
}

void deferred_tick(void) {
  if (waiting == NULL || now_ms() < due_at) return;
  pid_t pid = fork();
  if (pid == 0) {
    close(3); /* the server waits for the end of this socket, which must not wait for us */
    sync_list(waiting);
    _exit(0);
  }
  if (pid > 0) forget_all();
  else due_at = now_ms() + SYNC_MS;
}

/* The server ends, so this is the last chance. */
void deferred_end(void) {
  sync_list(waiting);
  forget_all();
}
