/* Words that are written down, without secrets: neither the values that are known (secrets.c) nor
 * what is assigned to a name that says so, as `API_TOKEN=...` in the text of a shell. The shim's
 * words.c does the same, and both must come to the same words. */
#include "runner.h"
#include "trace.h"

#include <string.h>

_Static_assert(KEPT_MAX == TRACE_ARGV_MAX, "as much as the header says");

static void keep(struct kept *k, const char *bytes, size_t length) {
  size_t room = sizeof k->data - 1 - k->length;
  if (length > room) k->cut = true;
  if (length > room) length = room;
  memcpy(k->data + k->length, bytes, length);
  k->length += length;
}

static void keep_name(struct kept *k, const char *name, size_t length) {
  keep(k, "[", 1);
  keep(k, name, length);
  keep(k, "]", 1);
  k->redacted = true;
}

static bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* How long the name is that ends before the `=` at `at` and says that what follows is secret. */
static size_t assigned_name(const char *text, size_t at) {
  size_t from = at;
  while (from > 0 && in_name(text[from - 1])) from--;
  return secret_name(text + from, at - from) ? at - from : 0;
}

/* How long the value is behind the `=` at `at`: all of a word that begins with the name; in the
 * text of a shell to the end of the word there, or of what is quoted. */
static size_t assigned_value(const char *text, size_t at, size_t name, bool is_script) {
  size_t before = at - name;
  const char *value = text + at + 1;
  while (before > 0 && text[before - 1] == '-') before--;
  if (before == 0 && !is_script) return strlen(value);
  if (*value == '"' || *value == '\'') {
    const char *end = strchr(value + 1, *value);
    return end == NULL ? strlen(value) : (size_t)(end - value) + 1;
  }
  size_t length = 0;
  while ((unsigned char)value[length] > ' ' && strchr(";&|<>()'\"`", value[length]) == NULL)
    length++;
  return length;
}

void keep_word(struct kept *k, const char *word, bool is_script) {
  size_t from = 0, at = 0;
  while (word[at] != 0) {
    const struct secret *secret = secret_at(word + at);
    size_t name = secret == NULL && word[at] == '=' ? assigned_name(word, at) : 0;
    if (secret != NULL) {
      keep(k, word + from, at - from);
      keep_name(k, secret->name, secret->name_length);
      from = at += secret->length;
    } else if (name > 0) {
      keep(k, word + from, at + 1 - from);
      keep_name(k, word + at - name, name);
      from = at += 1 + assigned_value(word, at, name, is_script);
    } else {
      at++;
    }
  }
  keep(k, word + from, at - from);
  k->data[k->length++] = 0;
  k->words++;
}

/* `-c`, `-ec`, `-lc`: what follows is the text of a shell. */
static bool before_script(const char *word) {
  size_t length = strlen(word);
  return length > 1 && word[0] == '-' && word[1] != '-' && word[length - 1] == 'c';
}

void keep_words(struct kept *k, const struct words *argv) {
  kept_init(k);
  k->cut = secrets_unknown();
  for (uint32_t i = 0; i < argv->count && !k->cut; i++) {
    if (k->words == TRACE_ARGS_MAX || k->length == sizeof k->data) k->cut = true;
    else keep_word(k, argv->list[i], i > 0 && before_script(argv->list[i - 1]));
  }
  k->cut = k->cut || argv->cut;
}

/* Those whose names the header lists; never half of one. */
void keep_variables(struct kept *k, const struct words *env) {
  kept_init(k);
  for (uint32_t i = 0; i < env->count && !secrets_unknown(); i++) {
    size_t before = k->length;
    if (before == sizeof k->data || !trace_keeps(env->list[i])) continue;
    keep_word(k, env->list[i], false);
    if (!k->cut) continue;
    k->cut = false;
    k->length = before;
    k->words--;
  }
}

void kept_init(struct kept *k) {
  k->length = 0;
  k->words = 0;
  k->cut = k->redacted = false;
}
