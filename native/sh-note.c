/* The note of a command that ran unrecorded: a line `MILLISECONDS WHY` in the file `unrecorded` of
 * the state root, for `cuff doctor` and `cuff status`. Its streams are the agent's and say nothing
 * of it. The text of the command is left out: nothing here could take the secrets out of it. */
#include "sh.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NOTES_BYTES_MAX 65536 /* and as much again in the older file */

static int open_notes(const char *path, struct stat *s) {
  int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (fd >= 0 && fstat(fd, s) == 0 && S_ISREG(s->st_mode)) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

/* Where it cannot be written it is left out: the command runs in any case. */
void note_unrecorded(const struct installation *here, const char *why) {
  char path[PATH_MAX + 16], older[PATH_MAX + 24], line[1024];
  struct timespec now;
  struct stat s;
  snprintf(path, sizeof path, "%s/unrecorded", here->root);
  int fd = open_notes(path, &s);
  if (fd >= 0 && s.st_size >= NOTES_BYTES_MAX) {
    close(fd);
    snprintf(older, sizeof older, "%s.1", path);
    fd = rename(path, older) == 0 ? open_notes(path, &s) : -1;
  }
  if (fd < 0) return;
  clock_gettime(CLOCK_REALTIME, &now);
  int n = snprintf(line, sizeof line, "%lld%03ld %.*s\n", (long long)now.tv_sec,
                   now.tv_nsec / 1000000, (int)strcspn(why, "\n"), why);
  if (n > 0 && n < (int)sizeof line && write(fd, line, (size_t)n) < 0) { /* a full disk */
  }
  close(fd);
}
