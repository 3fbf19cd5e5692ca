/* What must never appear in a trace: the values of variables whose name says that they are secret.
 * The runner collects them from every environment that it sees, and from arguments that are
 * assignments, and leaves them out of all that it writes afterwards. */
#include "runner.h"
#include "secret-words.h"

#include <stdlib.h>
#include <string.h>

#define SECRET_BYTES_MIN 6 /* shorter values are part of too many other words */

static struct secret *known;
static int count, room;
static bool more; /* there are secrets that could not be read or kept */

/* The value of such a variable is not written down, nor an argument that equals it. */
bool secret_name(const char *name, size_t length) { return secret_variable(name, length); }

static bool have_room(void) {
  if (count < room) return true;
  int larger = room == 0 ? 64 : room * 4;
  struct secret *list = realloc(known, (size_t)larger * sizeof *list);
  if (list == NULL) return false;
  known = list;
  room = larger;
  return true;
}

static void learn(const char *entry) {
  size_t name = strcspn(entry, "=");
  if (entry[name] != '=' || !secret_name(entry, name)) return;
  const char *value = entry + name + 1;
  if (strlen(value) < SECRET_BYTES_MIN) return;
  for (int i = 0; i < count; i++)
    if (strcmp(known[i].value, value) == 0) return;
  char *copy = have_room() ? strdup(entry) : NULL;
  if (copy == NULL) more = true;
  else known[count++] = (struct secret){copy, copy + name + 1, name, strlen(value)};
}

void secrets_learn(const struct words *entries) {
  for (uint32_t i = 0; i < entries->count; i++) learn(entries->list[i]);
  more = more || entries->cut;
}

/* Then no word may be written down that could hold one. */
bool secrets_unknown(void) { return more; }

/* The longest secret that the text begins with, or NULL. */
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
