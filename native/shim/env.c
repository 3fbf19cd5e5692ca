/* Hides our variables from the program, so that it sees the environment that it would have without
 * us: CUFF_TRACE, our entry of LD_PRELOAD, and our option in ASAN_OPTIONS. The exec hooks put them
 * back for a child (env-child.c). */
#include "shim.h"

WEAK extern char **environ;

#define NATIVE_TAIL "/lib64/libcuff-shim.so" /* the longer one of both */

/* Room for the paths; longer ones get mapped memory. */
#define KEPT_BYTES 1024
static char kept[KEPT_BYTES];
static size_t kept_used;

char **env_now(void) { return &environ ? environ : NULL; }

static char *room_for(size_t bytes) {
  if (bytes > sizeof kept - kept_used) return sys_map(bytes);
  char *room = kept + kept_used;
  kept_used += bytes;
  return room;
}

/* Gives where the next part goes. */
static char *put(char *to, const char *text, size_t length) {
  memcpy(to, text, length);
  return to + length;
}

/* A copy of both parts, joined, that stays. */
static const char *keep(const char *start, const char *text) {
  size_t before = text_length(start), length = text_length(text) + 1;
  char *room = room_for(before + length);
  if (room != NULL) put(put(room, start, before), text, length);
  return room;
}

const char *env_keep(const char *name, size_t length, const char *value, size_t bytes) {
  char *room = room_for(length + bytes + 2);
  if (room != NULL) put(put(put(put(room, name, length), "=", 1), value, bytes), "", 1);
  return room;
}

static void keep_trace(const char *value) {
  if (shim.trace_variable != NULL || value[0] != '/') return;
  shim.trace_variable = keep(TRACE_VARIABLE "=", value);
  if (shim.trace_variable == NULL) return;
  shim.trace_path = shim.trace_variable + sizeof TRACE_VARIABLE;
}

/* Both spellings, from the directory that the entry begins with. */
static void keep_entry(const char *entry, size_t directory) {
  if (shim.preload_variable != NULL) return;
  char *both = room_for(2 * (sizeof "LD_PRELOAD=" + directory + sizeof NATIVE_TAIL));
  if (both == NULL) return;
  shim.preload_variable = both;
  both = put(put(put(both, "LD_PRELOAD=", sizeof "LD_PRELOAD"), entry, directory),
             TRACE_SHIM_TAIL, sizeof TRACE_SHIM_TAIL);
  shim.preload_native = both;
  put(put(put(both, "LD_PRELOAD=", sizeof "LD_PRELOAD"), entry, directory), NATIVE_TAIL,
      sizeof NATIVE_TAIL);
}

static void keep_log(const char *value) {
  if (shim.log_path != NULL || *value == 0) return;
  int is_stderr = text_same(value, "1") || text_same(value, "stderr");
  shim.log_path = is_stderr ? "" : keep("", value);
}

static int is_separator(char c) { return c == ':' || c == ' '; }

/* How long the directory is that our entry begins with; 0 when it is not ours. */
static size_t our_directory(const char *entry, size_t length) {
  const char *tails[] = {TRACE_SHIM_TAIL, NATIVE_TAIL};
  for (int i = 0; i < 2; i++) {
    size_t tail = text_length(tails[i]);
    if (length > tail && memcmp(entry + length - tail, tails[i], tail) == 0) return length - tail;
  }
  return 0;
}

/* Removes our entries from `list`, each with the separator behind it. Gives 1 if the list had no
 * others: then the user had no LD_PRELOAD at all. */
static int hide_entries(char *list) {
  char *to = list;
  int others = 0, hidden = 0;
  for (const char *at = list; *at != 0;) {
    size_t length = 0;
    while (at[length] != 0 && !is_separator(at[length])) length++;
    size_t whole = length + (at[length] != 0);
    size_t directory = our_directory(at, length);
    if (directory > 0) {
      keep_entry(at, directory);
      hidden = 1;
      if (whole > length) others = 1; /* the user's list began here, even if it is empty */
    } else {
      for (size_t i = 0; i < whole; i++) to[i] = at[i];
      to += whole;
      others = 1;
    }
    at += whole;
  }
  *to = 0;
  return hidden && !others;
}

/* 1 when the value was ours alone. */
static int hide_option(char *value) {
  size_t length = text_length(value), option = sizeof ASAN_OPTION - 1;
  if (text_same(value, ASAN_OPTION)) return 1;
  if (length > option && text_same(value + length - option, ASAN_OPTION) &&
      value[length - option - 1] == ':')
    value[length - option - 1] = 0;
  return 0;
}

static uint32_t number_at(const char **text) {
  uint32_t value = 0;
  while (**text >= '0' && **text <= '9') value = value * 10 + (uint32_t)(*(*text)++ - '0');
  return value;
}

static int is_ours(char *entry) {
  if (text_starts(entry, SELF_VARIABLE "=")) {
    const char *at = entry + sizeof SELF_VARIABLE;
    shim.told_pid = number_at(&at);
    if (*at++ == ',') shim.told_space = number_at(&at);
    if (*at++ == ',') shim.told_direct = number_at(&at);
    shim.told_words = *at == ';' ? at + 1 : at;
    return 1;
  }
  if (text_starts(entry, TRACE_VARIABLE "=")) {
    keep_trace(entry + sizeof TRACE_VARIABLE);
    return 1;
  }
  if (text_starts(entry, "LD_PRELOAD=")) return hide_entries(entry + sizeof "LD_PRELOAD");
  return 0;
}

void env_hide(char **env) {
  char **asan = NULL, **to = env;
  for (char **from = env; *from != NULL; from++) {
    char first = (*from)[0];
    if ((first == 'C' || first == 'L') && is_ours(*from)) continue;
    if (first == 'C' && text_starts(*from, "CUFF_TRACE_LOG="))
      keep_log(*from + sizeof "CUFF_TRACE_LOG");
    if (first == 'A' && text_starts(*from, "AH_CMDTRACE_LOG="))
      keep_log(*from + sizeof "AH_CMDTRACE_LOG");
    if (first == 'A' && text_starts(*from, "ASAN_OPTIONS=")) asan = to;
    *to++ = *from;
  }
  *to = NULL;
  /* Without our other variables the option is the user's. */
  if (asan == NULL || shim.trace_variable == NULL) return;
  if (!hide_option(*asan + sizeof "ASAN_OPTIONS")) return;
  for (char **at = asan; *at != NULL; at++) at[0] = at[1];
}
