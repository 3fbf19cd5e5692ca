/* Arguments and variables as they are written down, without secrets: neither known values
 * (secrets.c) nor values that the words before them call a secret (secret-words.h), such as
 * `API_TOKEN=...` in a script. The shim's words.c does the same; both must give the same words. */
#include "runner.h"
#include "secret-words.h"
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

/* Whether secrets.c knows this value: then the name of its variable says more. */
static bool is_known(const char *word, const struct secret_found *found) {
  const struct secret *secret = secret_at(word + found->value_at);
  return secret != NULL && secret->length == found->value;
}

void keep_word(struct kept *k, const char *word, bool is_script) {
  size_t from = 0, at = 0;
  while (word[at] != 0) {
    const struct secret *secret = secret_at(word + at);
    struct secret_found found;
    if (secret != NULL) {
      keep(k, word + from, at - from);
      keep_name(k, secret->name, secret->name_length);
      from = at += secret->length;
    } else if (secret_begins(word, at, is_script, &found) && !is_known(word, &found)) {
      keep(k, word + from, found.value_at - from);
      keep_name(k, found.name, found.name_length);
      from = at = found.value_at + found.value;
    } else {
      at++;
    }
  }
  keep(k, word + from, at - from);
  k->data[k->length++] = 0;
  k->words++;
}

/* The name of a secret in the place of a whole word. */
static void keep_secret(struct kept *k, const char *name) {
  keep_name(k, name, strlen(name));
  k->data[k->length++] = 0;
  k->words++;
}

/* `-c`, `-ec`, `-lc`: the next word is the text of a shell. */
static bool before_script(const char *word) {
  size_t length = strlen(word);
  return length > 1 && word[0] == '-' && word[1] != '-' && word[length - 1] == 'c';
}

void keep_words(struct kept *k, const struct words *argv) {
  kept_init(k);
  k->cut = secrets_unknown();
  for (uint32_t i = 0; i < argv->count && !k->cut; i++) {
    const char *word = argv->list[i], *before = i > 0 ? argv->list[i - 1] : "";
    const char *name = i > 1 && *word != 0 && *word != '-' ? secret_announced(before) : NULL;
    if (k->words == TRACE_ARGS_MAX || k->length == sizeof k->data) k->cut = true;
    else if (name != NULL) keep_secret(k, name);
    else keep_word(k, word, before_script(before));
  }
  k->cut = k->cut || argv->cut;
}

/* The variables that the header names, each as a whole or not at all. */
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
