/* What the runner writes about a run: its pids (meta.json), what happened on the way (events.jsonl)
 * and how it ended (final.json). */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The starter wrote meta.json. We add the pids before its closing brace, and leave the rest. */
void record_started(struct run *r) {
  struct capture *c = &r->capture;
  if (!c->on) return;
  int fd = openat(c->dir, "meta.json", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  struct stat st;
  size_t size = fstat(fd, &st) == 0 && st.st_size < (16 << 20) ? (size_t)st.st_size : 0;
  char *data = malloc(size + 512);
  ssize_t got = data ? read(fd, data, size) : -1;
  close(fd);
  size_t end = got > 0 ? (size_t)got : 0;
  while (end > 0 && data[end - 1] != '}') end--;
  if (end > 1) {
    struct text t;
    text_init(&t, data + end - 1, 512);
    if (!r->named)
      text_add(&t, ",\"runner_pid\":%d,\"runner_start\":%llu", (int)getpid(),
               process_start(getpid()));
    r->named = true;
    if (!r->starting) {
      text_add(&t, ",\"pid\":%d,\"pid_start\":%llu", (int)r->pid, r->start);
      text_add(&t, ",\"started_at\":");
      text_time(&t, wall_ms());
    }
    text_add(&t, "}\n");
    capture_replace(c, NULL, "meta.json", "meta.json.tmp", data, end - 1 + t.length, false);
  }
  free(data);
}

void record_event(struct run *r, const char *type, const char *format, ...) {
  if (!r->capture.on) return;
  char line[1024], rest[768];
  va_list list;
  va_start(list, format);
  vsnprintf(rest, sizeof rest, format, list);
  va_end(list);
  struct text t;
  text_init(&t, line, sizeof line);
  event_begin(&t, type, r->capture.offset);
  text_add(&t, "%s%s}\n", *rest ? "," : "", rest);
  capture_event(&r->capture, &t);
}

static void add_processes(struct text *t, const struct process *list, int count) {
  for (int i = 0; i < count; i++) {
    text_add(t, "%s{\"pid\":%d,\"start_time\":%llu,\"command\":", i ? "," : "", (int)list[i].pid,
             list[i].start);
    text_json(t, list[i].command, strlen(list[i].command));
    text_add(t, ",\"holds_output\":%s}", list[i].holds ? "true" : "false");
  }
}

void record_survivors(struct run *r, const struct process *list, int count) {
  if (!r->capture.on) return;
  size_t size = 256 + (size_t)count * 2048;
  char *data = malloc(size);
  if (data == NULL) return;
  struct text t;
  text_init(&t, data, size);
  event_begin(&t, "survivors", r->capture.offset);
  text_add(&t, ",\"processes\":[");
  add_processes(&t, list, count);
  text_add(&t, "]}\n");
  capture_event(&r->capture, &t);
  free(data);
}

const char *cause_name(enum cause cause) {
  static const char *const NAMES[] = {"itself", "timeout", "kill", "shutdown", "cancelled",
                                      "capture"};
  return NAMES[cause];
}

/* error 0: the command ran and r->status says how it ended; else it never started. */
void record_final(struct run *r, const struct process *list, int count, bool closed, int error,
                  const char *message) {
  struct capture *c = &r->capture;
  if (!c->on) return;
  size_t size = 4096 + (size_t)count * 2048 + (message ? strlen(message) * 6 : 0);
  char *data = malloc(size);
  if (data == NULL) return;
  bool exited = error == 0 && WIFEXITED(r->status);
  bool signaled = error == 0 && WIFSIGNALED(r->status);
  struct text t;
  text_init(&t, data, size);
  text_add(&t, "{\"schema_version\":\"v1alpha1\",\"session_id\":");
  text_json(&t, r->o->id, strlen(r->o->id));
  text_add(&t, ",\"state\":\"%s\"", exited ? "exited" : signaled ? "signaled" : "failed");
  if (exited) text_add(&t, ",\"exit_code\":%d", WEXITSTATUS(r->status));
  else text_add(&t, ",\"exit_code\":null");
  if (signaled) text_add(&t, ",\"signal\":\"%s\"", signal_name(WTERMSIG(r->status)));
  else text_add(&t, ",\"signal\":null");
  if (error) {
    text_add(&t, ",\"error\":\"%s\",\"message\":", errno_name(error));
    text_json(&t, message, strlen(message));
  } else {
    text_add(&t, ",\"error\":null,\"message\":null");
  }
  text_add(&t, ",\"ended_by\":\"%s\",\"ended_at\":", cause_name(r->cause));
  text_time(&t, r->exit_at);
  text_add(&t, ",\"output_bytes\":%llu,\"lost_bytes\":%llu,\"output_closed\":%s,\"survivors\":[",
           (unsigned long long)c->offset, (unsigned long long)c->lost_total,
           closed ? "true" : "false");
  add_processes(&t, list, count);
  text_add(&t, "]");
  if (c->hole_to > c->hole_from)
    text_add(&t, ",\"hole\":[%llu,%llu]", (unsigned long long)c->hole_from,
             (unsigned long long)c->hole_to);
  text_add(&t, "}\n");
  /* final.json.tmp has its blocks already, so this works on a full disk too. */
  if (!t.cut)
    capture_replace(c, &c->final, "final.json", "final.json.tmp", data, t.length, r->sync);
  free(data);
}
