/* The processes of a run. We are the subreaper, so every descendant is below us in the process
 * tree, also one that called setsid or whose parents are gone. */
#include "runner.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t read_file(const char *path, char *data, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, data, size - 1);
  close(fd);
  if (n >= 0) data[n] = 0;
  return n;
}

/* State, parent and start time; false when the process is gone. */
bool process_stat(pid_t pid, char *state, pid_t *parent, unsigned long long *start) {
  char path[64], data[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  if (read_file(path, data, sizeof data) <= 0) return false;
  char *p = strrchr(data, ')'); /* the name before it may hold anything */
  int ppid = 0;
  if (p == NULL ||
      sscanf(p + 2,
             "%c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
             state, &ppid, start) != 3)
    return false;
  *parent = ppid;
  return true;
}

/* Whether a process that has ended waited for no child: every child has page faults, which are then
 * counted for the one that waited. A system that counts none, not even its own, does not say. */
bool waited_for_none(pid_t pid) {
  char path[64], data[1024];
  unsigned long own = 0, minor = 1, major = 1;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  if (read_file(path, data, sizeof data) <= 0) return false;
  char *p = strrchr(data, ')');
  return p != NULL &&
         sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %lu %lu %*u %lu",
                &own, &minor, &major) == 3 &&
         own > 0 && minor == 0 && major == 0;
}

/* How much memory we have had at most, in KiB; 0: not known. */
uint32_t own_peak(void) {
  char status[4096];
  if (read_file("/proc/self/status", status, sizeof status) <= 0) return 0;
  const char *line = strstr(status, "\nVmHWM:");
  return line == NULL ? 0 : (uint32_t)strtoul(line + 7, NULL, 10);
}

unsigned long long process_start(pid_t pid) {
  char state;
  pid_t parent;
  unsigned long long start = 0;
  return process_stat(pid, &state, &parent, &start) ? start : 0;
}

#define FOREBEARS_MAX 4096

/* Whether it is below us. A parent that ends on the way up hands its children to us or to another
 * below us, so the walk begins anew. */
bool is_descendant(pid_t pid) {
  pid_t at = pid, parent = 0;
  for (int i = 0; i < FOREBEARS_MAX; i++) {
    char state;
    unsigned long long start;
    if (process_stat(at, &state, &parent, &start)) at = parent;
    else if (at == pid) return false;
    else at = pid;
    if (at == getpid()) return true;
    if (at <= 1) return false;
  }
  return false;
}

static int add_pid(struct process *list, int count, int max, pid_t pid) {
  for (int i = 0; i < count; i++)
    if (list[i].pid == pid) return count;
  if (count < max) list[count++].pid = pid;
  return count;
}

/* A page at a time is all the kernel gives. A word that did not fit is no pid. */
static ssize_t read_whole(const char *path, char *data, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  size_t length = 0;
  ssize_t n;
  while (length < size - 1 && (n = read(fd, data + length, size - 1 - length)) > 0)
    length += (size_t)n;
  close(fd);
  while (length == size - 1 && length > 0 && data[length - 1] != ' ') length--;
  data[length] = 0;
  return (ssize_t)length;
}

/* The children of one process, each thread's; -1 when this kernel does not list them. */
static int add_children(struct process *list, int count, int max, pid_t pid) {
  static char data[65536];
  char path[96];
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(path);
  if (tasks == NULL) return count; /* it has ended meanwhile */
  bool listed = false;
  struct dirent *entry;
  while ((entry = readdir(tasks)) != NULL) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, entry->d_name);
    if (read_whole(path, data, sizeof data) < 0) continue;
    listed = true;
    for (char *word = strtok(data, " "); word != NULL; word = strtok(NULL, " "))
      count = add_pid(list, count, max, (pid_t)atoi(word));
  }
  closedir(tasks);
  return listed || pid != getpid() ? count : -1;
}

/* Without CONFIG_PROC_CHILDREN: go through all processes until no new one has a known parent. */
static int scan_children(struct process *list, int max, pid_t root) {
  int count = 0, before = -1;
  while (before != count) {
    before = count;
    DIR *all = opendir("/proc");
    if (all == NULL) return count;
    struct dirent *entry;
    while ((entry = readdir(all)) != NULL) {
      pid_t pid = (pid_t)atoi(entry->d_name), parent;
      char state;
      unsigned long long start;
      if (pid <= 0 || !process_stat(pid, &state, &parent, &start)) continue;
      bool ours = parent == root;
      for (int i = 0; i < count && !ours; i++) ours = list[i].pid == parent;
      if (ours) count = add_pid(list, count, max, pid);
    }
    closedir(all);
  }
  return count;
}

/* Every live descendant of root, with its start time. Zombies do not count. */
int descendants(pid_t root, struct process *list, int max) {
  int count = add_children(list, 0, max, root);
  if (count < 0) count = scan_children(list, max, root);
  else
    for (int i = 0; i < count; i++) count = add_children(list, count, max, list[i].pid);
  int alive = 0;
  for (int i = 0; i < count; i++) {
    char state;
    pid_t parent;
    unsigned long long start;
    if (!process_stat(list[i].pid, &state, &parent, &start) || state == 'Z' || state == 'X')
      continue;
    list[alive].pid = list[i].pid;
    list[alive].start = start;
    list[alive].command[0] = 0;
    list[alive++].holds = false;
  }
  return alive;
}

/* What /proc calls an open file: `pipe:[123]`, `socket:[123]` or a path. Reading the link asks the
 * kernel alone. A stat would ask the file system, and a mount that no longer answers would hold us
 * for ever. */
bool file_name(pid_t pid, const char *fd, char *name, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%.20s", (int)pid, fd);
  ssize_t n = readlink(path, name, size - 1);
  name[n > 0 ? n : 0] = 0;
  return n > 0;
}

static bool holds_output(const struct run *r, pid_t pid) {
  char path[64], name[FILE_NAME_MAX];
  snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
  DIR *fds = opendir(path);
  if (fds == NULL) return false; /* another user's process: unknown */
  bool found = false;
  struct dirent *entry;
  while (!found && (entry = readdir(fds)) != NULL) {
    if (entry->d_name[0] == '.' || !file_name(pid, entry->d_name, name, sizeof name)) continue;
    for (int i = 0; i < r->stream_count; i++)
      found = found || strcmp(name, r->streams[i].name) == 0;
  }
  closedir(fds);
  return found;
}

/* Fills in the command line and whether the process can still write to the run's output. */
void describe(struct run *r, struct process *p) {
  char path[64];
  ssize_t n = 0;
  /* A run with a cap of 0 must leave nothing of its text behind, so no arguments either. */
  if (r->o->cap > 0) {
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)p->pid);
    n = read_file(path, p->command, sizeof p->command);
  }
  if (n <= 0) {
    snprintf(path, sizeof path, "/proc/%d/comm", (int)p->pid);
    n = read_file(path, p->command, sizeof p->command);
    if (n > 0 && p->command[n - 1] == '\n') n--;
  }
  while (n > 0 && p->command[n - 1] == 0) n--;
  for (ssize_t i = 0; i < n; i++)
    if (p->command[i] == 0) p->command[i] = ' ';
  p->command[n > 0 ? n : 0] = 0;
  p->holds = holds_output(r, p->pid);
}

int survivors(struct run *r, struct process *list, int max) {
  int count = descendants(getpid(), list, max);
  for (int i = 0; i < count; i++) describe(r, &list[i]);
  return count;
}
