/* Values that must never be in a trace: those of variables whose name says that they are secret, in
 * any word. They are looked for in the environment, in that which the program began with, in that
 * which a child gets, and in words that are assignments themselves. */
#include "../secret-words.h"
#include "shim.h"

#define SECRET_BYTES_MIN 6 /* shorter values are in everything */
#define REMEMBERED_FEW 8

/* Strings of the environment that the program began with: unsetenv leaves them in place. A program
 * may write over them (to change its title), so the name is checked each time. */
static struct {
  const char **entry; /* `few`, or mapped memory that stays */
  uint32_t count, lost;
  const char *few[REMEMBERED_FEW];
} remembered;

static size_t name_length(const char *entry) {
  size_t n = 0;
  while (entry[n] != 0 && entry[n] != '=') n++;
  return n;
}

int secret_name(const char *entry) {
  size_t n = name_length(entry);
  return entry[n] == '=' && secret_variable(entry, n);
}

static const char *value_of(const struct secret *secret) {
  return secret->entry + secret->name + 1;
}

void secrets_init(struct secrets *secrets) {
  secrets->list = secrets->few;
  secrets->room = SECRETS_FEW;
  secrets->count = secrets->more = 0;
}

void secrets_drop(struct secrets *secrets) {
  if (secrets->list != secrets->few)
    sys_unmap(secrets->list, secrets->room * sizeof *secrets->list);
  secrets_init(secrets);
}

static int have_room(struct secrets *secrets) {
  enum { PAGE_ENTRIES = 4096 / sizeof(struct secret), TIMES = 4 };
  if (LIKELY(secrets->count < secrets->room)) return 1;
  uint32_t room = secrets->room < PAGE_ENTRIES ? PAGE_ENTRIES : secrets->room * TIMES;
  struct secret *larger = sys_map(room * sizeof *larger);
  if (larger == NULL) return 0;
  memcpy(larger, secrets->list, secrets->count * sizeof *larger);
  uint32_t count = secrets->count, more = secrets->more;
  secrets_drop(secrets);
  secrets->list = larger, secrets->room = room, secrets->count = count, secrets->more = more;
  return 1;
}

static void add(struct secrets *secrets, const char *entry) {
  if (!secret_name(entry)) return;
  uint32_t name = (uint32_t)name_length(entry), length = (uint32_t)text_length(entry + name + 1);
  if (length < SECRET_BYTES_MIN) return;
  for (uint32_t i = 0; i < secrets->count; i++)
    if (secrets->list[i].entry == entry) return;
  if (have_room(secrets)) secrets->list[secrets->count++] = (struct secret){entry, name, length};
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
    while (at != NULL && *at != NULL && !text_same(*at, secrets->list[i].entry)) at++;
    if (at == NULL || *at == NULL) secrets->list[kept++] = secrets->list[i];
  }
  secrets->count = kept;
}

void secrets_remember(const struct secrets *secrets) {
  size_t bytes = secrets->count * sizeof *remembered.entry;
  remembered.entry = secrets->count <= REMEMBERED_FEW ? remembered.few : sys_map(bytes);
  remembered.lost = secrets->more || remembered.entry == NULL;
  if (remembered.entry == NULL) return;
  for (uint32_t i = 0; i < secrets->count; i++) remembered.entry[i] = secrets->list[i].entry;
  remembered.count = secrets->count;
}

void secrets_recall(struct secrets *secrets) {
  for (uint32_t i = 0; i < remembered.count; i++) add(secrets, remembered.entry[i]);
  if (remembered.lost) secrets->more = 1;
}

/* Whether there is all of it: the program may have written over it since. */
static int begins_with(const char *text, const struct secret *secret) {
  const char *value = value_of(secret);
  for (uint32_t i = 0; i < secret->length; i++)
    if (text[i] != value[i] || text[i] == 0) return 0;
  return 1;
}

const struct secret *secret_at(const struct secrets *secrets, const char *text) {
  const struct secret *found = NULL;
  for (uint32_t i = 0; i < secrets->count; i++) {
    const struct secret *one = &secrets->list[i];
    if ((found == NULL || one->length > found->length) && begins_with(text, one)) found = one;
  }
  return found;
}

/* --- what a program is told about its own words */

/* Where the secret is in the words: 0 when it is in none. */
static int find_word(const struct secret *secret, char *const *argv, size_t *word,
                     size_t *offset) {
  for (*word = 0; argv[*word] != NULL && !sys_impossible(argv[*word]); ++*word)
    for (*offset = 0; argv[*word][*offset] != 0; ++*offset)
      if (begins_with(argv[*word] + *offset, secret)) return 1;
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
    const struct secret *secret = &secrets->list[i];
    if (!find_word(secret, argv, &word, &offset)) continue;
    if (at + secret->name + 3 * 21 + 2 > room) {
      to[0] = '*', to[1] = 0;
      return 1;
    }
    at = add_number(to, at, args - word, ',');
    at = add_number(to, at, offset, ',');
    at = add_number(to, at, secret->length, ',');
    memcpy(to + at, secret->entry, secret->name);
    at += secret->name;
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
