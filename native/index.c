/* index.jsonl: which bytes came from where, and when. A record follows its data. It covers more and
 * more while bytes of the same kind keep coming, and is written when they pause, when it is long
 * enough, or after INDEX_DELAY_MS; several that are due at once are one write. */
#include "runner.h"

#include <fcntl.h>
#include <stdlib.h>

static uint64_t count_newlines(const unsigned char *p, size_t n) {
  uint64_t total = 0;
  while (n > 0) {
    /* Bytes of counters, at most 255 rounds each: compilers turn this into vector code. */
    size_t block = n < 255 * 32 ? n : 255 * 32;
    unsigned char sums[32] = {0};
    size_t i = 0;
    for (; i + 32 <= block; i += 32)
      for (int k = 0; k < 32; k++) sums[k] = (unsigned char)(sums[k] + (p[i + k] == '\n'));
    for (int k = 0; k < 32; k++) total += sums[k];
    for (; i < block; i++) total += p[i] == '\n';
    p += block;
    n -= block;
  }
  return total;
}

static const char *channel_name(enum channel channel) {
  return channel == C_PTY ? "pty" : channel == C_ERR ? "stderr" : "stdout";
}

static void write_due(struct capture *c) {
  if (c->due_length == 0) return;
  if (c->index < 0) c->index = open_in(c, "index.jsonl", O_WRONLY | O_APPEND);
  if (c->index >= 0 && !write_line(c->index, &c->index_torn, c->due, c->due_length)) {
    /* The bytes are there and readable; only their channel and time are lost. */
  }
  c->due_length = 0;
}

/* The record being gathered is complete: its line waits to be written. */
static void end_record(struct capture *c) {
  if (c->length == 0) return;
  if (sizeof c->due - c->due_length < LINE_MAX_BYTES) write_due(c);
  hole_mark(c, c->at_offset, c->length);
  struct text t;
  text_init(&t, c->due + c->due_length, LINE_MAX_BYTES);
  text_add(&t, "{\"offset\":%llu,\"length\":%llu,\"channel\":\"%s\",\"timestamp\":",
           (unsigned long long)c->at_offset, (unsigned long long)c->length,
           channel_name(c->channel));
  text_time(&t, c->stamp_ms);
  text_add(&t, ",\"lines\":%llu,\"total_bytes\":[%llu,%llu],\"total_lines\":[%llu,%llu]",
           (unsigned long long)c->newlines, (unsigned long long)c->bytes[0],
           (unsigned long long)c->bytes[1], (unsigned long long)c->lines[0],
           (unsigned long long)c->lines[1]);
  text_add(&t, ",\"t\":%lld", (long long)c->t_ms);
  if (c->writer > 0) text_add(&t, ",\"pid\":%d", (int)c->writer);
  text_add(&t, "}\n");
  c->due_length += t.length;
  c->length = 0;
  c->newlines = 0;
}

void capture_flush_index(struct capture *c) {
  end_record(c);
  write_due(c);
}

/* Milliseconds until the gathered index records must be written, -1 when there are none. */
int capture_index_wait(const struct capture *c, int64_t now) {
  if (c->length == 0 && c->due_length == 0) return -1;
  int64_t left = c->since_ms + INDEX_DELAY_MS - now;
  return left < 0 ? 0 : (int)left;
}

static void gather(struct capture *c, enum channel channel, pid_t writer, const unsigned char *data,
                   size_t length) {
  if (c->length > 0 && (c->channel != channel || c->writer != writer ||
                        c->length + length > READ_MAX))
    end_record(c);
  if (c->length == 0) {
    c->at_offset = c->offset;
    c->channel = channel;
    c->writer = writer;
    int64_t now = now_ms();
    if (c->due_length == 0) c->since_ms = now;
    c->stamp_ms = wall_ms();
    c->t_ms = now - c->zero_ms;
  }
  uint64_t lines = count_newlines(data, length);
  int slot = channel == C_ERR ? 1 : 0;
  c->length += length;
  c->newlines += lines;
  c->bytes[slot] += length;
  c->lines[slot] += lines;
  c->offset += length;
}

/* `length` bytes from `from` on of what the stream has just brought are in output.bin. */
void index_gather(struct capture *c, const struct stream *s, size_t from, size_t length) {
  size_t at = 0;
  for (int i = 0; i < s->share_count && length > 0; at += s->shares[i++].length) {
    size_t end = at + s->shares[i].length;
    if (end <= from) continue;
    size_t part = end - from < length ? end - from : length;
    gather(c, s->channel, s->shares[i].writer, s->buffer + from, part);
    from += part;
    length -= part;
  }
}
