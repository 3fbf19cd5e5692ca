/* The world of a call: what must be equal between it and a helper that stays from an earlier call.
 * The helper's own environment is part of it, so that nothing of the call that started the helper
 * can reach a later one. Everything else is told with each call. */
#include "sh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_MAX 8192

extern char **environ;

/* What programs of ours read from their own environment: places, the search path, the time zone.
 * Options of Node are for the agent's programs, and certificates triple the time of its start. */
static const char *const CARRIED[] = {
    "PATH",   "HOME", "TMPDIR", "TMP",    "TEMP",  "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME", "TZ",     "LANG",   "LC_ALL", "LD_LIBRARY_PATH",
    "LD_PRELOAD",
};

static bool is_carried(const char *variable) {
  if (strncmp(variable, "CUFF_", 5) == 0 || strncmp(variable, "DERUN_", 6) == 0) return true;
  size_t length = strcspn(variable, "=");
  for (size_t i = 0; i < sizeof CARRIED / sizeof *CARRIED; i++)
    if (strlen(CARRIED[i]) == length && strncmp(variable, CARRIED[i], length) == 0) return true;
  return false;
}

/* NULL without memory. */
char **helper_environment(void) {
  size_t count = 0, kept = 0;
  while (environ[count] != NULL) count++;
  char **made = calloc(count + 1, sizeof *made);
  for (size_t i = 0; made != NULL && i < count; i++)
    if (is_carried(environ[i])) made[kept++] = environ[i];
  return made;
}

void add_bytes(struct growing *to, const void *bytes, size_t length) {
  if (to->failed) return;
  if (to->length + length > to->size) {
    size_t size = (to->length + length) * 2;
    char *grown = realloc(to->bytes, size);
    to->failed = grown == NULL;
    if (to->failed) return;
    to->bytes = grown;
    to->size = size;
  }
  memcpy(to->bytes + to->length, bytes, length);
  to->length += length;
}

/* With its NUL. */
void add_word(struct growing *to, const char *word) { add_bytes(to, word, strlen(word) + 1); }

static void add_line(struct growing *to, const char *line) {
  add_bytes(to, line, strlen(line));
  add_bytes(to, "\n", 1);
}

/* An upgrade puts another file there, with whatever times its package has. */
static bool add_file(struct growing *to, const char *path) {
  struct stat s;
  char line[160];
  if (stat(path, &s) != 0) return false;
  snprintf(line, sizeof line, "%llu %llu %lld %lld.%09ld", (unsigned long long)s.st_dev,
           (unsigned long long)s.st_ino, (long long)s.st_size, (long long)s.st_ctim.tv_sec,
           s.st_ctim.tv_nsec);
  add_line(to, path);
  add_line(to, line);
  return true;
}

static bool add_root(struct growing *to) {
  struct stat s;
  char line[64];
  if (stat("/", &s) != 0) return false;
  snprintf(line, sizeof line, "%llu %llu", (unsigned long long)s.st_dev,
           (unsigned long long)s.st_ino);
  add_line(to, line);
  return true;
}

static bool add_namespaces(struct growing *to) {
  static const char *const NAMES[] = {"mnt", "user", "pid"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    char path[64], link[64];
    snprintf(path, sizeof path, "/proc/self/ns/%s", NAMES[i]);
    ssize_t n = readlink(path, link, sizeof link - 1);
    if (n <= 0) return false;
    link[n] = '\0';
    add_line(to, link);
  }
  return true;
}

/* False also for a process that gets no new privileges: Landlock could hold it back, which cannot
 * be seen from outside, and two such processes may be held back from different things. */
static bool add_status(struct growing *to) {
  static const char *const LINES[] = {"Umask:",  "Uid:",     "Gid:",            "Groups:",
                                      "CapEff:", "Seccomp:", "Seccomp_filters:"};
  char text[STATUS_MAX], *rest = text;
  bool free = false;
  if (read_file("/proc/self/status", text, sizeof text) <= 0) return false;
  for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
    if (strcmp(line, "NoNewPrivs:\t0") == 0) free = true;
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++)
      if (strncmp(line, LINES[i], strlen(LINES[i])) == 0) add_line(to, line);
  }
  return free;
}

/* Lines with a NUL behind them. False where no helper may stay: each call has its own then. */
bool add_world(struct growing *to, const struct installation *here) {
  bool known = add_file(to, here->node) && add_file(to, here->cuff) && add_root(to) &&
               add_namespaces(to) && add_status(to);
  for (char **variable = environ; known && *variable != NULL; variable++)
    if (is_carried(*variable)) add_line(to, *variable);
  add_bytes(to, "", 1);
  return known && !to->failed;
}

/* FNV-1a: it tells worlds apart, and the helper compares the whole text. */
uint64_t hash_of(const char *bytes, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
  return hash;
}
