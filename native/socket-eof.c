/* The reader of a socket has left. Its writers must notice as with a pipe, by SIGPIPE. After
 * shutdown(2) the kernel sends that to a process that begins to write; a writer that sleeps in the
 * middle of a write gets EPIPE alone, and most programs then complain on stderr. Such a writer
 * sleeps until we read, so we can find it in /proc and send the signal ourselves. */
#include "runner.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES 10 /* milliseconds, in which a busy writer fills the socket and goes to sleep */

static bool is_stream(const struct stream *s, pid_t pid, unsigned long long fd) {
  char number[32], name[FILE_NAME_MAX];
  snprintf(number, sizeof number, "%llu", fd);
  return file_name(pid, number, name, sizeof name) && strcmp(name, s->name) == 0;
}

/* Whether this thread sleeps in a system call that writes to the stream. */
static bool waits_for_room(const struct stream *s, pid_t pid, const char *thread) {
  static const long WRITES[] = {SYS_write, SYS_writev, SYS_sendto, SYS_sendmsg, SYS_sendfile};
  char path[96], data[256];
  long number;
  unsigned long long first, second, third;
  snprintf(path, sizeof path, "/proc/%d/task/%.20s/syscall", (int)pid, thread);
  if (read_file(path, data, sizeof data) <= 0) return false;
  if (sscanf(data, "%ld %llx %llx %llx", &number, &first, &second, &third) != 4) return false;
  if (number == SYS_splice) return is_stream(s, pid, third);
  for (size_t i = 0; i < sizeof WRITES / sizeof *WRITES; i++)
    if (number == WRITES[i]) return is_stream(s, pid, first);
  return false;
}

static void signal_waiting(const struct stream *s, pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *threads = opendir(path);
  if (threads == NULL) return; /* it has ended meanwhile */
  struct dirent *entry;
  while ((entry = readdir(threads)) != NULL)
    if (entry->d_name[0] != '.' && waits_for_room(s, pid, entry->d_name))
      syscall(SYS_tgkill, pid, atoi(entry->d_name), SIGPIPE);
  closedir(threads);
}

/* Whether a process that wrote lately is running: it may be about to sleep in a write. */
static bool writer_runs(const struct stream *s) {
  pid_t last = 0;
  for (int i = s->share_count - 1; i >= 0; i--) {
    pid_t writer = s->shares[i].writer, parent;
    char state = 0;
    unsigned long long start;
    if (writer == last) continue;
    last = writer;
    if (process_stat(writer, &state, &parent, &start) && state == 'R') return true;
  }
  return false;
}

void refuse_writers(struct stream *s) {
  static struct process list[PROCESSES_MAX];
  for (int i = 0; i < TRIES && writer_runs(s); i++) poll(NULL, 0, 1);
  int count = descendants(getpid(), list, PROCESSES_MAX);
  for (int i = 0; i < count; i++) signal_waiting(s, list[i].pid);
  shutdown(s->fd, SHUT_RD);
}
