/* START and FORK frames that the runner writes: about the command from its options, about others
 * from /proc. A fact that cannot be read is left out. Of the environment only the variables that
 * the header names are kept, and the values of secret ones are removed everywhere (words.c). */
#include "runner.h"
#include "trace.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_MAX (2u << 20) /* of a command line and of an environment: as much as there can be */
#define WORDS_MAX 65536
#define COPY_KIB 512u

extern char **environ;

static uint32_t count_of(char **list) {
  uint32_t count = 0;
  while (list[count] != NULL) count++;
  return count;
}

struct image {
  const char *exe, *cwd;
  struct words argv, env;
};

static void write_start(struct trace_start *start, const struct image *image, int flags,
                        uint64_t at_ns, pid_t pid) {
  static struct kept paths, words, variables;
  const struct words argv = {image->argv.list, image->argv.count, false};
  secrets_learn(&image->env);
  secrets_learn(&argv);
  kept_init(&paths);
  keep_word(&paths, image->exe, false);
  keep_word(&paths, secrets_unknown() ? "" : image->cwd, false);
  keep_words(&words, &image->argv);
  keep_variables(&variables, &image->env);
  start->args = image->argv.count;
  start->kept_args = words.words;
  start->env = image->env.count;
  start->kept_env = variables.words;
  if (words.cut) flags |= TRACE_CUT;
  if (paths.redacted || words.redacted || variables.redacted) flags |= TRACE_REDACTED;
  trace_frame(TRACE_START, flags, at_ns, pid);
  trace_put(start, sizeof *start);
  trace_put(paths.data, paths.length);
  trace_put(words.data, words.length);
  trace_put(variables.data, variables.length);
  trace_write();
}

static const char *link_of(pid_t pid, const char *name, char *data) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  ssize_t n = readlink(path, data, PATH_MAX - 1);
  data[n > 0 ? n : 0] = 0;
  return data;
}

/* START of the command, which we started at that moment. */
void facts_command(struct run *r, uint64_t at_ns) {
  if (!trace_on()) return;
  char exe[PATH_MAX], here[PATH_MAX] = "";
  const char *cwd = r->o->cwd;
  if (cwd == NULL) cwd = getcwd(here, sizeof here) == NULL ? "" : here;
  /* It began as a copy of us, and touched some pages more before it was the command. */
  uint32_t peak = own_peak();
  struct trace_start start = {.parent = (uint32_t)getpid(),
                              .uid = (uint32_t)getuid(),
                              .start_ticks = r->start,
                              .peak_before = peak == 0 ? 0 : peak + COPY_KIB};
  struct image image = {.exe = link_of(r->pid, "exe", exe),
                        .cwd = cwd,
                        .argv = {r->o->argv, count_of(r->o->argv), false},
                        .env = {environ, count_of(environ), false}};
  for (uint32_t i = 0; i < image.argv.count; i++)
    start.argv_bytes += (uint32_t)strlen(image.argv.list[i]) + 1;
  write_start(&start, &image, FROM_RUNNER, at_ns, r->pid);
}

/* --- from /proc */

struct block {
  char data[BLOCK_MAX + 1];
  char *list[WORDS_MAX];
};

/* Reads a file of strings, each ended by a NUL; gives its length. */
static uint32_t read_words(struct block *b, pid_t pid, const char *name, struct words *out) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  ssize_t n = read_file(path, b->data, sizeof b->data);
  *out = (struct words){b->list, 0, n == (ssize_t)BLOCK_MAX};
  ssize_t at = 0;
  for (; at < n && out->count < WORDS_MAX; at += (ssize_t)strlen(b->data + at) + 1)
    b->list[out->count++] = b->data + at;
  if (at < n) out->cut = true;
  return n > 0 ? (uint32_t)n : 0;
}

/* Both results hold until the next call. */
void environment_of(pid_t pid, struct words *out) {
  static struct block block;
  read_words(&block, pid, "environ", out);
}

void arguments_of(pid_t pid, struct words *out) {
  static struct block block;
  read_words(&block, pid, "cmdline", out);
}

/* The number behind this word in /proc/PID/status; the last one, where a line has several. */
static uint32_t status_number(const char *status, const char *word) {
  const char *line = strstr(status, word);
  if (line++ == NULL) return 0; /* each begins with the end of the line before */
  size_t end = strcspn(line, "\n");
  while (end > 0 && line[end - 1] >= '0' && line[end - 1] <= '9') end--;
  return (uint32_t)strtoul(line + end, NULL, 10);
}

/* The pid of a process in its own pid namespace, if that is not ours. */
static void find_inner(pid_t pid, const char *status, uint32_t *inner_pid, uint32_t *inner_space) {
  char path[64];
  struct stat st;
  uint32_t inner = status_number(status, "\nNSpid:");
  if (inner == 0 || inner == (uint32_t)pid) return;
  snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
  *inner_pid = inner;
  *inner_space = stat(path, &st) == 0 ? (uint32_t)st.st_ino : 0;
}

static bool read_status(pid_t pid, char *status, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  return read_file(path, status, size) > 0;
}

/* A zombie has no command line any more; its name is left. */
static void name_as_word(const char *status, struct words *argv, char *name, size_t size) {
  const char *line = strncmp(status, "Name:\t", 6) == 0 ? status + 6 : "";
  snprintf(name, size, "[%.*s]", (int)strcspn(line, "\n"), line);
  argv->list[0] = name;
  argv->count = 1;
}

/* START of a process, from /proc; false if it is gone. */
bool facts_start(pid_t pid, int flags, uint64_t *start_ticks) {
  static struct block line;
  static char status[4096];
  char state, exe[PATH_MAX], cwd[PATH_MAX], name[80];
  pid_t parent;
  unsigned long long ticks;
  uint64_t at_ns = trace_now(); /* before the reading: its end may be reported meanwhile */
  if (!process_stat(pid, &state, &parent, &ticks) || !read_status(pid, status, sizeof status))
    return false;
  struct trace_start start = {.parent = (uint32_t)parent, .start_ticks = ticks};
  const char *uid = strstr(status, "\nUid:");
  if (uid != NULL) start.uid = (uint32_t)strtoul(uid + 5, NULL, 10);
  find_inner(pid, status, &start.inner_pid, &start.inner_space);
  struct image image = {.exe = link_of(pid, "exe", exe), .cwd = link_of(pid, "cwd", cwd)};
  start.argv_bytes = read_words(&line, pid, "cmdline", &image.argv);
  environment_of(pid, &image.env);
  if (image.argv.count == 0) {
    name_as_word(status, &image.argv, name, sizeof name);
    flags |= TRACE_CUT;
  }
  *start_ticks = ticks;
  write_start(&start, &image, flags, at_ns, pid);
  return true;
}

/* The pid that a process has in its own pid namespace; 0 if it is gone. */
pid_t inner_pid(pid_t pid) {
  char status[4096];
  if (!read_status(pid, status, sizeof status)) return 0;
  return (pid_t)status_number(status, "\nNSpid:");
}

static bool says_thread(pid_t pid, const char *status) {
  return status_number(status, "\nTgid:") != (uint32_t)pid;
}

bool is_thread(pid_t pid) {
  char status[4096];
  return read_status(pid, status, sizeof status) && says_thread(pid, status);
}

/* FORK of a process that was just born; false for a thread. */
bool facts_fork(pid_t pid) {
  char status[4096], state;
  pid_t parent;
  unsigned long long ticks;
  if (!read_status(pid, status, sizeof status)) return true;
  if (says_thread(pid, status)) return false;
  if (!process_stat(pid, &state, &parent, &ticks)) return true;
  struct trace_fork told = {.start_ticks = ticks, .parent = (uint32_t)parent};
  find_inner(pid, status, &told.inner_pid, &told.inner_space);
  trace_frame(TRACE_FORK, FROM_PTRACE, trace_now(), pid);
  trace_put(&told, sizeof told);
  trace_write();
  return true;
}
