/* What must never be read in a trace: the values of variables whose name says that they are secret.
 * Every environment that the runner comes to see adds to them, and so do arguments that are
 * assignments themselves; they are taken out of whatever it writes down later. */
#include "runner.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SECRETS_MAX 256
#define SECRET_BYTES_MIN 6 /* shorter values are part of too many other words */

static struct secret known[SECRETS_MAX];
static int count;
static bool more; /* than there is room for */

/* Such a variable is nobody's to keep, nor is its value in an argument. */
bool secret_name(const char *name, size_t length) {
  static const char *const TAILS[] = {"_KEY", "_SECRET", "_TOKEN", "_PASSWORD"};
  for (size_t i = 0; i < sizeof TAILS / sizeof *TAILS; i++) {
    size_t tail = strlen(TAILS[i]);
    if (length >= tail && strncasecmp(name + length - tail, TAILS[i], tail) == 0) return true;
  }
  return false;
}

static void learn(const char *entry) {
  size_t name = strcspn(entry, "=");
  if (entry[name] != '=' || !secret_name(entry, name)) return;
  const char *value = entry + name + 1;
  if (strlen(value) < SECRET_BYTES_MIN) return;
  for (int i = 0; i < count; i++)
    if (strcmp(known[i].value, value) == 0) return;
  char *copy = count < SECRETS_MAX ? strdup(entry) : NULL;
  if (copy == NULL) more = true;
  else known[count++] = (struct secret){copy, copy + name + 1, name, strlen(value)};
}

void secrets_learn(const struct words *entries) {
  for (uint32_t i = 0; i < entries->count; i++) learn(entries->list[i]);
  more = more || entries->cut;
}

/* Then nothing may be written down where one could be. */
bool secrets_unknown(void) { return more; }

/* The longest one that the text begins with. */
const struct secret *secret_at(const char *text) {
  const struct secret *found = NULL;
  for (int i = 0; i < count; i++)
    if (*text == *known[i].value && (found == NULL || known[i].length > found->length) &&
        strncmp(text, known[i].value, known[i].length) == 0)
      found = &known[i];
  return found;
}

/* `WORD,OFFSET,LENGTH,NAME;` for each place where one is, as the shim reads it (shim/secrets.c):
 * words count from the end. `*`: any word may hold one. */
void secrets_tell(const struct words *argv, struct text *to) {
  size_t before = to->length;
  for (uint32_t i = 0; i < argv->count && count > 0; i++) {
    const char *word = argv->list[i];
    const struct secret *found;
    for (size_t at = 0; word[at] != 0; at += found == NULL ? 1 : found->length) {
      found = secret_at(word + at);
      if (found == NULL) continue;
      text_add(to, "%u,%zu,%zu,", argv->count - i, at, found->length);
      text_add(to, "%.*s;", (int)found->name_length, found->name);
    }
  }
  if (!more && !argv->cut && !to->cut) return;
  to->length = before;
  text_add(to, "*");
}
