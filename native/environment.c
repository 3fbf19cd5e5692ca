/* The environment of a traced command: LD_PRELOAD names the shim, CUFF_TRACE the file for its
 * frames, and ASAN_OPTIONS lets the address sanitizer start. Each takes the place of the user's own
 * variable of that name. The shim removes them before main, so the program does not see them. */
#include "runner.h"
#include "trace.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ASAN_WORD "verify_asan_link_order=0" /* else its runtime refuses to come second */

extern char **environ;

/* Keeps the user's value to the byte, without the shim of a run around this one and the separator
 * behind it. */
static void add_preloads(struct text *t, const char *had) {
  const size_t tail = strlen(TRACE_SHIM_TAIL);
  bool only_ours = *had != 0;
  size_t before = t->length;
  text_add(t, ":");
  while (*had) {
    size_t length = strcspn(had, ": "), whole = length + (had[length] != 0);
    bool ours = length >= tail && memcmp(had + length - tail, TRACE_SHIM_TAIL, tail) == 0;
    only_ours = only_ours && ours && whole == length;
    if (!ours) text_add(t, "%.*s", (int)whole, had);
    had += whole;
  }
  if (!only_ours) return;
  t->length = before;
  t->data[before] = 0;
}

static const char *const NAMES[VARIABLES_ADDED] = {"LD_PRELOAD", "ASAN_OPTIONS", TRACE_VARIABLE};

/* Whether this is the variable `which` of those that are added. */
bool is_added(int which, const char *variable) {
  size_t length = strlen(NAMES[which]);
  return strncmp(variable, NAMES[which], length) == 0 && variable[length] == '=';
}

/* That variable as NAME=value; `had` is the user's own value, or NULL. NULL without memory. */
char *added_variable(int which, const char *had) {
  const char *dir = trace_shim(), *path = trace_path();
  size_t size = strlen(dir) + strlen(path) + (had == NULL ? 0 : strlen(had)) + 128;
  char *data = malloc(size);
  if (data == NULL) return NULL;
  struct text t;
  text_init(&t, data, size);
  text_add(&t, "%s=", NAMES[which]);
  if (strcmp(NAMES[which], "LD_PRELOAD") == 0) {
    text_add(&t, "%s%s", dir, TRACE_SHIM_TAIL);
    if (had != NULL) add_preloads(&t, had);
  } else if (strcmp(NAMES[which], TRACE_VARIABLE) == 0) {
    text_add(&t, "%s", path);
  } else {
    text_add(&t, "%s%s%s", had == NULL ? "" : had, had == NULL ? "" : ":", ASAN_WORD);
  }
  return data;
}

/* The library is there once for each directory that a loader may put for $LIB (ld.so(8)). */
static const char *const FOLDERS[] = {"/$LIB", "/lib64", "/lib/x86_64-linux-gnu",
                                      "/lib/aarch64-linux-gnu"};
#define FOLDER_COUNT (sizeof FOLDERS / sizeof *FOLDERS)
static struct stat shims[FOLDER_COUNT];

static bool stat_shim(const char *root, size_t which, struct stat *st) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s%s%s/libcuff-shim.so", root, trace_shim(),
                        FOLDERS[which]);
  return length < (int)sizeof path && stat(path, st) == 0;
}

void shim_learn(void) {
  for (size_t i = 0; i < FOLDER_COUNT; i++)
    if (!stat_shim("", i, &shims[i])) shims[i].st_ino = 0;
}

/* Whether the files are as they were when the run began: a loader complains on stderr about a file
 * that it cannot preload, and dies of a damaged one. */
bool shim_intact(const char *root) {
  struct stat st;
  for (size_t i = 0; i < FOLDER_COUNT; i++) {
    if (shims[i].st_ino == 0) continue;
    if (!stat_shim(root, i, &st) || st.st_dev != shims[i].st_dev) return false;
    if (st.st_ino != shims[i].st_ino || st.st_size != shims[i].st_size) return false;
    if (st.st_mtim.tv_sec != shims[i].st_mtim.tv_sec) return false;
    if (st.st_mtim.tv_nsec != shims[i].st_mtim.tv_nsec) return false;
  }
  return true;
}

/* NULL without memory: then the command gets the user's environment. */
char **traced_environment(void) {
  static char **list; /* ours until the end */
  size_t count = 0;
  while (environ[count] != NULL) count++;
  list = malloc((count + VARIABLES_ADDED + 1) * sizeof *list);
  if (list == NULL) return NULL;
  memcpy(list, environ, (count + 1) * sizeof *list);
  for (int which = 0; which < VARIABLES_ADDED; which++) {
    size_t at = 0;
    while (at < count && !is_added(which, list[at])) at++;
    list[at] = added_variable(which, at < count ? strchr(list[at], '=') + 1 : NULL);
    if (list[at] == NULL) return NULL;
    if (at == count) list[++count] = NULL;
  }
  return list;
}
