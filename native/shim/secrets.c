/* What must never be read in a trace: values of variables whose name says that they are secret, in
 * whatever word they turn up. Known are those of the environment, of the one the program began
 * with, of the one a child gets, and of words that are assignments themselves. */
#include "shim.h"

#define SECRET_BYTES_MIN 6 /* shorter values are in everything */
#define REMEMBERED_MAX 12

/* Strings of the environment the program began with: they stay where they are when a program takes
 * them out of it. One that writes over them is not misled by what it finds, the name is looked at
 * every time. */
static const char *remembered[REMEMBERED_MAX];

static char upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 32) : c; }

static int ends_in(const char *text, size_t length, const char *end) {
  size_t n = text_length(end);
  if (length < n) return 0;
  for (size_t i = 0; i < n; i++)
    if (upper(text[length - n + i]) != end[i]) return 0;
  return 1;
}

int secret_ends(const char *name, size_t length) {
  char last = length == 0 ? 0 : upper(name[length - 1]); /* most names are done with here */
  if (last != 'Y' && last != 'T' && last != 'N' && last != 'D') return 0;
  return ends_in(name, length, "_KEY") || ends_in(name, length, "_SECRET") ||
         ends_in(name, length, "_TOKEN") || ends_in(name, length, "_PASSWORD");
}

int secret_name(const char *entry) {
  size_t n = 0;
  while (entry[n] != 0 && entry[n] != '=') n++;
  return entry[n] == '=' && secret_ends(entry, n);
}

const char *secret_value(const char *entry) {
  while (*entry != 0 && *entry != '=') entry++;
  return *entry == '=' ? entry + 1 : entry;
}

static void add(struct secrets *secrets, const char *entry) {
  if (!secret_name(entry) || text_length(secret_value(entry)) < SECRET_BYTES_MIN) return;
  for (uint32_t i = 0; i < secrets->count; i++)
    if (secrets->entry[i] == entry) return;
  if (secrets->count < SECRETS_MAX) secrets->entry[secrets->count++] = entry;
  else secrets->more = 1;
}

void secrets_find(struct secrets *secrets, char *const *entries) {
  if (sys_impossible(entries)) return;
  for (; *entries != NULL && !sys_impossible(*entries); entries++) add(secrets, *entries);
}

void secrets_without(struct secrets *secrets, char *const *entries) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < secrets->count; i++) {
    char *const *at = sys_impossible(entries) ? NULL : entries;
    while (at != NULL && *at != NULL && !text_same(*at, secrets->entry[i])) at++;
    if (at == NULL || *at == NULL) secrets->entry[kept++] = secrets->entry[i];
  }
  secrets->count = kept;
}

void secrets_remember(const struct secrets *secrets) {
  for (uint32_t i = 0; i < secrets->count && i < REMEMBERED_MAX; i++)
    remembered[i] = secrets->entry[i];
}

void secrets_recall(struct secrets *secrets) {
  for (int i = 0; i < REMEMBERED_MAX && remembered[i] != NULL; i++) add(secrets, remembered[i]);
}

/* The longest secret that `text` begins with, or NULL; `length` gets how much of it that is. */
const char *secret_at(const struct secrets *secrets, const char *text, size_t *length) {
  const char *found = NULL;
  *length = 0;
  for (uint32_t i = 0; i < secrets->count; i++) {
    const char *value = secret_value(secrets->entry[i]);
    size_t n = text_length(value);
    if (n > *length && text_starts(text, value)) found = secrets->entry[i], *length = n;
  }
  return found;
}

/* --- what a program is told about its own words */

/* Where the value of `entry` is in the words: 0 when it is in none. */
static int find_word(const char *entry, char *const *argv, size_t *word, size_t *offset) {
  const char *value = secret_value(entry);
  for (*word = 0; argv[*word] != NULL && !sys_impossible(argv[*word]); ++*word)
    for (*offset = 0; argv[*word][*offset] != 0; ++*offset)
      if (text_starts(argv[*word] + *offset, value)) return 1;
  return 0;
}

static size_t count_words(char *const *argv) {
  size_t count = 0;
  while (argv[count] != NULL && !sys_impossible(argv[count])) count++;
  return count;
}

static size_t add_number(char *to, size_t at, size_t number, char behind) {
  at += text_number(to + at, number);
  to[at++] = behind;
  return at;
}

/* `WORD,OFFSET,LENGTH,NAME;` for each secret; words count from the end, because in front of those
 * of a script the kernel puts others. Where there is no more room: `*`, any word may hold one. */
size_t secrets_tell(const struct secrets *secrets, char *const *argv, char *to, size_t room) {
  size_t at = 0, word, offset;
  to[0] = 0;
  if (secrets->count == 0 || sys_impossible(argv)) return 0;
  size_t args = count_words(argv);
  for (uint32_t i = 0; i < secrets->count; i++) {
    const char *entry = secrets->entry[i], *value = secret_value(entry);
    size_t name = (size_t)(value - entry) - 1;
    if (!find_word(entry, argv, &word, &offset)) continue;
    if (at + name + 3 * 21 + 2 > room) {
      to[0] = '*', to[1] = 0;
      return 1;
    }
    at = add_number(to, at, args - word, ',');
    at = add_number(to, at, offset, ',');
    at = add_number(to, at, text_length(value), ',');
    memcpy(to + at, entry, name);
    at += name;
    to[at++] = ';';
  }
  to[at] = 0;
  return at;
}

static size_t number_at(const char **text) {
  size_t value = 0;
  while (**text >= '0' && **text <= '9') value = value * 10 + (size_t)(*(*text)++ - '0');
  if (**text == ',') ++*text;
  return value;
}

void secrets_told(struct secrets *secrets, char *const *argv, const char *told) {
  if (told == NULL || sys_impossible(argv)) return;
  if (*told == '*') secrets->more = 1;
  size_t args = count_words(argv);
  while (*told >= '0' && *told <= '9') {
    size_t from_end = number_at(&told), offset = number_at(&told), length = number_at(&told);
    size_t name = 0;
    while (told[name] != 0 && told[name] != ';') name++;
    const char *word = from_end > 0 && from_end <= args ? argv[args - from_end] : "";
    if (offset + length <= text_length(word)) {
      const char *entry = env_keep(told, name, word + offset, length);
      if (entry != NULL) add(secrets, entry);
    }
    told += name + (told[name] == ';');
  }
}
