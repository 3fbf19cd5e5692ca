/* Which words of a command line are secrets by what stands in front of them: `PGPASSWORD=V`,
 * `--password V`, `--api-key=V`, `scheme://user:V@host`. The runner and the shim share it, so that
 * both write down the same words; src/text/secret-words.ts has the same rules for the journal. It
 * needs no library. */
#ifndef CUFF_SECRET_WORDS_H
#define CUFF_SECRET_WORDS_H

#include <stddef.h>

static inline char secret_lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c == '-' ? '_' : c;
}

static inline int secret_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static inline int secret_in_name(char c) {
  char lower = secret_lower(c);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || lower == '_';
}

/* Whether `text` is one of the words of `list`, which a space ends each; or ends in one. */
static inline int secret_listed(const char *list, const char *text, size_t length, int at_end) {
  while (*list != 0) {
    size_t word = 0;
    while (list[word] != ' ') word++;
    if (at_end ? word <= length : word == length) {
      size_t i = 0;
      while (i < word && secret_lower(text[length - word + i]) == list[i]) i++;
      if (i == word) return 1;
    }
    list += word + 1;
  }
  return 0;
}

/* Whether a name ends as one of the words below does. Every process looks at all names of its
 * environment, and nearly all of them end otherwise. */
static inline int secret_may_end(const char *name, size_t length) {
  if (length < sizeof "_key" - 1) return 0;
  char last = secret_lower(name[length - 1]), before = secret_lower(name[length - 2]);
  if (before == 'e') return last == 'y' || last == 't' || last == 'n'; /* key, secret, token */
  if (before == 's') return last == 's' || last == 'e'; /* pass, passphrase */
  return last == 'd' && (before == 'r' || before == 'w'); /* password, passwd, pwd */
}

/* The name of a variable whose value is a secret. */
static inline int secret_variable(const char *name, size_t length) {
  static const char ends[] =
      "_key _secret _token _pass password passwd passphrase authtoken ";
  static const char names[] = "mysql_pwd sshpass token secret apikey ";
  if (!secret_may_end(name, length)) return 0;
  for (size_t i = 0; i < length; i++)
    if (name[i] == '-') return 0; /* that is an option */
  return secret_listed(ends, name, length, 1) || secret_listed(names, name, length, 0);
}

/* The name of an option, without its dashes, whose value is a secret. */
static inline int secret_option(const char *name, size_t length) {
  static const char sure[] = "password passwd passphrase token apikey authtoken accesskey "
                             "secretkey authkey accountkey masterkey ";
  static const char keys[] = "api access secret auth account master ";
  static const char flags[] = "no with without ask use prompt show skip reset generate require "
                              "allow enable disable hide save store is has ";
  size_t first = 0, last = length;
  while (first < length && secret_lower(name[first]) != '_') first++;
  while (last > 0 && secret_lower(name[last - 1]) != '_') last--;
  if (first < length && secret_listed(flags, name, first, 0)) return 0;
  if (secret_listed(sure, name + last, length - last, 0)) return 1;
  if (last == 0) return 0;
  if (secret_listed("secret ", name + last, length - last, 0)) return 1;
  if (!secret_listed("key ", name + last, length - last, 0)) return 0;
  size_t end = last - 1, from;
  while (end > 0 && secret_lower(name[end - 1]) == '_') end--;
  for (from = end; from > 0 && secret_lower(name[from - 1]) != '_';) from--;
  return secret_listed(keys, name + from, end - from, 0);
}

static inline int secret_is_one_of(const char *signs, char c) {
  while (*signs != 0 && *signs != c) signs++;
  return *signs != 0;
}

/* The quotes that a place of a text stands in, 0 for none. Far behind, nothing is known. */
static inline char secret_quotes(const char *text, size_t at) {
  char quote = 0;
  if (at > 8192) return 0;
  for (size_t i = 0; i < at; i++) {
    if (text[i] == '\\' && quote != '\'') i++;
    else if (quote == 0 && secret_is_one_of("'\"", text[i])) quote = text[i];
    else if (text[i] == quote) quote = 0;
  }
  return quote;
}

/* Behind what is quoted or escaped at `at`; `outer` ends it, too. */
static inline size_t secret_part_end(const char *text, size_t at, char outer) {
  char quote = text[at];
  size_t i = at + 1;
  if (quote == '\\' && (outer != '"' || text[i] != '"')) return i + (text[i] != 0);
  if (quote == '\\') { /* a quote inside of quotes, up to the next of its kind */
    for (i++; text[i] != 0 && text[i] != '"' && (text[i] != '\\' || text[i + 1] != '"');) i++;
    return i + (text[i] == '\\' ? 2 : 0);
  }
  while (text[i] != 0 && text[i] != quote && text[i] != outer)
    i += text[i] == '\\' && quote == '"' && text[i + 1] != 0 ? 2 : 1;
  return i + (text[i] == quote);
}

/* How long a value is in the text of a shell: to the end of the word, which may have several
 * quoted parts, or of the quotes around it. */
static inline size_t secret_value_length(const char *text, size_t at) {
  size_t end = at;
  char outer = 0;
  int known = 0;
  while (text[end] != 0 && !secret_is_space(text[end]) &&
         !secret_is_one_of(";&|<>()`", text[end])) {
    if (!secret_is_one_of("'\"\\", text[end])) {
      end++;
      continue;
    }
    if (!known) outer = secret_quotes(text, at), known = 1;
    if (text[at] == outer) outer = 0; /* it was an apostrophe, or is `'"'"'` */
    if (text[end] == outer) break;
    end = secret_part_end(text, end, outer);
  }
  return end - at;
}

/* `[NAME]`, and no more. */
static inline int secret_is_placeholder(const char *value) {
  size_t i = 1;
  if (*value != '[') return 0;
  while (secret_in_name(value[i]) || value[i] == ':' || value[i] == '.') i++;
  return value[i] == ']' && (value[i + 1] == 0 || secret_is_space(value[i + 1]) ||
                             secret_is_one_of(";&|<>()`'\"@", value[i + 1]));
}

/* A reference, a placeholder, another option or an operator: no value. */
static inline int secret_is_none(const char *value) {
  if (*value == '"') value++;
  if (*value == '$') return !secret_is_one_of("'\"", value[1]);
  return *value == 0 || secret_is_one_of("`-<>|&;", *value) || secret_is_placeholder(value);
}

struct secret_found { /* `value` bytes at `value_at` are to be replaced by the name */
  size_t value_at, value, name_length;
  const char *name;
};

/* `NAME=V` and `--name=V`, where `at` is the sign: all of a word that begins with the name. */
static inline int secret_assigned(const char *text, size_t at, int is_script,
                                  struct secret_found *found) {
  size_t from = at, word, dashes;
  if (at > 0 && text[at - 1] == '+') from = --at;
  while (from > 0 && secret_in_name(text[from - 1])) from--;
  dashes = from;
  while (from < at && text[from] == '-') from++;
  for (word = at; word > from && text[word - 1] != '-';) word--; /* behind its last dash */
  if (from > dashes && secret_option(text + from, at - from)) word = from;
  else if (!secret_variable(text + word, at - word)) {
    /* `-eNAME=V` */
    if (from != dashes + 1 || word != from || word == at) return 0;
    word++;
    if (!secret_variable(text + word, at - word)) return 0;
  }
  found->name = text + word, found->name_length = at - word;
  found->value_at = at + 1 + (text[at] == '+');
  found->value = 0;
  if (is_script || (dashes > 0 && *text != '-'))
    found->value = secret_value_length(text, found->value_at);
  else while (text[found->value_at + found->value] != 0) found->value++;
  return 1;
}

/* `--password V` in a text, where `at` is its first dash. */
static inline int secret_separated(const char *text, size_t at, struct secret_found *found) {
  size_t from = at, end;
  if (at > 0 && secret_in_name(text[at - 1])) return 0;
  while (text[from] == '-' && from < at + 2) from++;
  for (end = from; secret_in_name(text[end]);) end++;
  found->name = text + from, found->name_length = end - from;
  if (at > 0 && text[end] == text[at - 1] && secret_is_one_of("'\"", text[end])) end++;
  if (!secret_is_space(text[end]) || !secret_option(text + from, found->name_length)) return 0;
  while (secret_is_space(text[end]) || (text[end] == '\\' && text[end + 1] == '\n')) end++;
  if (secret_is_none(text + end)) return 0;
  found->value_at = end;
  found->value = secret_value_length(text, end);
  return found->value > 0;
}

/* `scheme://user:V@host`, where `at` is the first colon. In a word that is no script, `$` is a
 * character like others, and quotes are, where the word begins with the scheme. */
static inline int secret_in_address(const char *text, size_t at, int is_script,
                                    struct secret_found *found) {
  size_t colon = 0, last = 0, i = at + 3, scheme = at;
  if (at == 0 || text[at + 1] != '/' || text[at + 2] != '/' || !secret_in_name(text[at - 1]))
    return 0;
  while (scheme > 0 && (secret_in_name(text[scheme - 1]) || text[scheme - 1] == '+')) scheme--;
  int quotes = is_script || scheme > 0;
  for (; text[i] != 0 && !secret_is_space(text[i]); i++) {
    if (text[i] == '/' || text[i] == '?' || text[i] == '#') break;
    if (quotes && secret_is_one_of("'\"", text[i])) break;
    if (text[i] == ':' && colon == 0) colon = i;
    if (text[i] == '@') last = i;
  }
  if (colon == 0 || last <= colon + 1 || secret_is_placeholder(text + colon + 1)) return 0;
  if (is_script && secret_is_one_of("$`", text[colon + 1])) return 0;
  found->name = "password", found->name_length = sizeof "password" - 1;
  found->value_at = colon + 1, found->value = last - colon - 1;
  return 1;
}

/* Whether something begins at `at` that ends in a secret. */
static inline int secret_begins(const char *text, size_t at, int is_script,
                                struct secret_found *found) {
  if (text[at] == '=') return secret_assigned(text, at, is_script, found);
  if (text[at] == ':') return secret_in_address(text, at, is_script, found);
  return text[at] == '-' && secret_separated(text, at, found);
}

/* Whether the next word of a program is a secret: `--password`, and no more. The name without its
 * dashes is given, or NULL. */
static inline const char *secret_announced(const char *word) {
  size_t from = 0, length = 0;
  while (word[from] == '-' && from < 2) from++;
  while (secret_in_name(word[from + length])) length++;
  if (from == 0 || word[from + length] != 0) return NULL;
  return secret_option(word + from, length) ? word + from : NULL;
}

#endif
