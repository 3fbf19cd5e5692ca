/* trace.bin: made with its header before the command starts, and the runner's own frames in it.
 * The format is described in trace.h. Trouble with it never stops a run: without the file the run
 * goes on untraced and events.jsonl says why; a frame that cannot be written is counted, and the
 * next one that can is preceded by their number. */
#include "runner.h"
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
  int fd; /* 0 while there is none */
  struct trace_header header;
  char path[PATH_MAX];
  const char *shim; /* the directory where it is */
  char reason[256]; /* why it is not traced although it was to be */
  uint32_t dropped;
  int drop_error;
  /* the frame being built */
  union {
    struct trace_frame head;
    unsigned char bytes[TRACE_FRAME_MAX];
  } frame;
  size_t length;
  bool full;
} trace;

bool trace_on(void) { return trace.fd > 0; }

int trace_file(void) { return trace.fd; }

const char *trace_path(void) { return trace.path; }

const char *trace_shim(void) { return trace.shim; }

const struct trace_header *trace_header(void) { return &trace.header; }

bool trace_follows(void) { return trace.fd > 0 && (trace.header.flags & TRACE_FOLLOWS) != 0; }

static uint64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t trace_now(void) { return clock_ns(CLOCK_MONOTONIC); }

/* --- frames */

void trace_frame(int type, int flags, uint64_t at_ns, pid_t pid) {
  memset(&trace.frame.head, 0, sizeof trace.frame.head);
  trace.frame.head.magic = TRACE_FRAME_MAGIC;
  trace.frame.head.type = (uint16_t)type;
  trace.frame.head.flags = (uint16_t)flags;
  trace.frame.head.at_ns = at_ns;
  trace.frame.head.pid = (uint32_t)pid;
  trace.length = sizeof trace.frame.head;
  trace.full = false;
}

void trace_put(const void *data, size_t length) {
  trace.full = trace.full || length > sizeof trace.frame.bytes - trace.length;
  if (trace.full) return;
  memcpy(trace.frame.bytes + trace.length, data, length);
  trace.length += length;
}

/* 0, or an errno. `last` may go beyond the limit of the file. */
static int write_frame(void *frame, size_t length, bool last) {
  struct trace_frame *head = frame;
  off_t size = lseek(trace.fd, 0, SEEK_END);
  if (!last && size >= (off_t)trace.header.file_max) return EFBIG;
  head->bytes = (uint32_t)length;
  head->check = 0;
  head->check = trace_check(frame, head->bytes);
  ssize_t n = write(trace.fd, frame, length);
  return n == (ssize_t)length ? 0 : n < 0 ? errno : ENOSPC;
}

static bool write_drops(bool last) {
  struct {
    struct trace_frame head;
    struct trace_drop drop;
  } told = {.head = {.magic = TRACE_FRAME_MAGIC,
                     .type = TRACE_DROP,
                     .flags = FROM_RUNNER,
                     .at_ns = trace_now(),
                     .pid = (uint32_t)getpid()},
            .drop = {.frames = trace.dropped, .error = trace.drop_error}};
  if (write_frame(&told, sizeof told, last) != 0) return false;
  trace.dropped = 0;
  return true;
}

void trace_write(void) {
  if (!trace_on()) return;
  while (trace.length % 8 != 0 && !trace.full) trace_put("", 1);
  int error = trace.full ? E2BIG : 0;
  if (error == 0 && trace.dropped > 0 && !write_drops(false)) error = trace.drop_error;
  if (error == 0) error = write_frame(&trace.frame, trace.length, false);
  if (error == 0) return;
  trace.dropped++;
  trace.drop_error = error;
}

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A frame of a process that sees trace.bin on a read-only mount, as it made it. */
void trace_relay(const char *hex) {
  struct trace_frame *head = &trace.frame.head;
  size_t length = strlen(hex) / 2;
  if (!trace_on() || length < sizeof *head || length > sizeof trace.frame.bytes) return;
  for (size_t i = 0; i < length; i++) {
    int high = hex_value(hex[2 * i]), low = hex_value(hex[2 * i + 1]);
    if (high < 0 || low < 0) return;
    trace.frame.bytes[i] = (unsigned char)(high << 4 | low);
  }
  if (head->magic != TRACE_FRAME_MAGIC || head->bytes != length || length % 8 != 0) return;
  trace.length = length;
  trace.full = false;
  trace_write();
}

static uint64_t nanoseconds(struct timeval t) {
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

/* `used` NULL: not known. */
void trace_reap(pid_t child, int status, int from, const struct rusage *used) {
  if (!trace_on()) return;
  struct trace_reap told = {.child = (uint32_t)child, .status = status};
  trace_frame(TRACE_REAP, from, trace_now(), from == FROM_RUNNER ? getpid() : child);
  trace_put(&told, sizeof told);
  if (used != NULL) {
    struct trace_usage usage = {.user_ns = nanoseconds(used->ru_utime),
                                .system_ns = nanoseconds(used->ru_stime),
                                .peak_bytes = (uint64_t)used->ru_maxrss * 1024u};
    trace_put(&usage, sizeof usage);
  }
  trace_write();
}

/* --- the file */

static void give_up(const char *format, const char *about) {
  snprintf(trace.reason, sizeof trace.reason, format, about);
  if (trace.fd > 0) close(trace.fd);
  trace.fd = 0;
}

/* Whether the value of this NAME=value may be kept. */
bool trace_keeps(const char *variable) {
  const char *end = strchr(variable, '=');
  size_t length = end == NULL ? 0 : (size_t)(end - variable);
  const char *name = trace.header.env;
  for (uint32_t i = 0; length > 0 && i < trace.header.env_count; i++, name += strlen(name) + 1)
    if (strncmp(name, variable, length) == 0 && name[length] == 0) return true;
  return false;
}

/* Names of secrets are left out here already, so that no process can keep their values. */
static void fill_names(struct trace_header *h, const char *names) {
  size_t used = 0;
  while (names != NULL && *names) {
    size_t length = strcspn(names, ",");
    if (length > 0 && used + length + 1 <= sizeof h->env && !secret_name(names, length)) {
      memcpy(h->env + used, names, length); /* the page is zero: its NUL is there */
      used += length + 1;
      h->env_count++;
    }
    names += length + (names[length] == ',');
  }
}

static void fill_header(struct trace_header *h, const struct options *o) {
  struct stat st;
  memcpy(h->magic, TRACE_MAGIC, sizeof h->magic);
  h->version = TRACE_VERSION;
  h->header_bytes = TRACE_HEADER_BYTES;
  h->wall_ns = clock_ns(CLOCK_REALTIME);
  h->mono_ns = trace_now();
  h->mode = o->transport == T_PTY ? MODE_PTY : MODE_SOCKET;
  h->runner_pid = (uint32_t)getpid();
  h->file_max = o->trace_frames ? TRACE_FILE_MAX : TRACE_HEADER_BYTES;
  h->argv_max = TRACE_ARGV_MAX;
  h->args_max = TRACE_ARGS_MAX;
  h->pid_namespace = stat("/proc/self/ns/pid", &st) == 0 ? (uint32_t)st.st_ino : 0;
  h->proc_device = stat("/proc", &st) == 0 ? (uint32_t)st.st_dev : 0;
  if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0) h->flags |= TRACE_FILTERED;
  snprintf(h->id, sizeof h->id, "%.127s", o->id);
  fill_names(h, o->trace_env);
  if (o->gate != NULL) {
    h->flags |= TRACE_GATED | (o->gate_strict ? TRACE_GATE_STRICT : 0);
    snprintf(h->gate, sizeof h->gate, "%.111s", o->gate);
  }
}

/* The loader says on stderr what it cannot preload, and splits what it is told at `:` and ` `. */
static bool shim_usable(const char *dir) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s%s", dir, TRACE_SHIM_TAIL);
  if (*dir != '/' || length >= (int)sizeof path) errno = EINVAL;
  else if (strpbrk(dir, ": $") != NULL) errno = EINVAL;
  else if (access(path, R_OK) == 0) return true;
  return false;
}

static char *absolute_path(const struct options *o) {
  char here[PATH_MAX] = "";
  if (*o->dir != '/' && getcwd(here, sizeof here) == NULL) return NULL;
  int length = snprintf(trace.path, sizeof trace.path, "%s%s%s/trace.bin", here, *here ? "/" : "",
                        o->dir);
  return length < (int)sizeof trace.path ? trace.path : NULL;
}

/* Before the transport is made, which depends on it: a stream that names its writers needs the shim
 * for /dev/stdout. Without a trace it is a pipe again. */
void trace_begin(struct run *r) {
  struct options *o = r->o;
  if (o->trace == NULL) return;
  trace.shim = o->trace;
  if (o->dir == NULL) give_up("%s", "there is no capture");
  else if (o->cap == 0 && o->trace_frames) give_up("%s", "this run leaves no bytes behind");
  else if (!shim_usable(o->trace)) give_up("the shim cannot be preloaded: %s", errno_name(errno));
  else if (absolute_path(o) == NULL) give_up("%s", "the path of the capture is too long");
  else {
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    orders_begin(r); /* also for processes that cannot write to trace.bin themselves */
    trace.fd = open(trace.path, flags, 0600);
    if (trace.fd < 0) give_up("trace.bin cannot be made: %s", errno_name(errno));
  }
  struct trace_header *h = &trace.header;
  if (trace.fd > 0) {
    shim_learn();
    fill_header(h, o);
    ssize_t n = pwrite(trace.fd, h, sizeof *h, 0);
    if (n != (ssize_t)sizeof *h) {
      give_up("trace.bin cannot be written: %s", errno_name(n < 0 ? errno : ENOSPC));
      unlink(trace.path);
    }
  }
  bool reachable = orders_begun(r);
  if (trace.fd > 0 && reachable && o->follow && follow_possible()) h->flags |= TRACE_FOLLOWS;
  if (trace.fd == 0 && o->transport == T_SOCKET) o->transport = T_PIPE;
}

/* The transport is made: whose streams it is about, then frames may follow. */
void trace_ready(struct run *r, const struct ends *e) {
  struct trace_header *h = &trace.header;
  struct stat st;
  if (!trace_on()) return;
  if (fstat(e->out, &st) == 0) {
    h->out_device = st.st_dev;
    h->out_inode = st.st_ino;
  }
  if (fstat(e->err, &st) == 0) {
    h->err_device = st.st_dev;
    h->err_inode = st.st_ino;
  }
  /* If one stream does not name its writers, the shim reports writes to both. */
  for (int i = 0; i < r->stream_count && h->mode == MODE_SOCKET; i++)
    if (!r->streams[i].stamped) h->mode = MODE_PIPE;
  ssize_t n = pwrite(trace.fd, h, sizeof *h, 0);
  if (n != (ssize_t)sizeof *h || fcntl(trace.fd, F_SETFL, O_APPEND) != 0)
    give_up("trace.bin cannot be written: %s", errno_name(n < 0 ? errno : ENOSPC));
}

/* The capture is open, or could not be opened: then there is no reader of orders, either. */
void trace_recorded(struct run *r) {
  if (r->o->trace == NULL) return;
  if (!trace_on() && *trace.reason)
    record_event(r, "trace", "\"enabled\":false,\"reason\":\"%s\"", trace.reason);
  if (r->capture.on || r->orders < 0) return;
  char control[PATH_MAX];
  snprintf(control, sizeof control, "%.*s/control", (int)(strlen(trace.path) - 10), trace.path);
  unlink(control);
  close(r->orders);
  r->orders = -1;
}

/* On its way to the disk, or there when this returns. */
void trace_sync(bool wait) {
  if (!trace_on()) return;
  if (wait) fdatasync(trace.fd);
  else sync_file_range(trace.fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

void trace_end(void) {
  bool told = trace.header.file_max > TRACE_HEADER_BYTES; /* else there is nothing to miss */
  if (trace_on() && trace.dropped > 0 && told) write_drops(true);
}
