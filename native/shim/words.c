/* Words of a command line in a frame, within bounds, without secrets (secrets.c). */
#include "shim.h"

static int in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* How long the name is that ends before the `=` at `at` and says that what follows is secret. */
static size_t assigned_name(const char *text, size_t at) {
  size_t from = at;
  while (from > 0 && in_name(text[from - 1])) from--;
  return secret_ends(text + from, at - from) ? at - from : 0;
}

/* How long the value is behind the `=` at `at`: all of a word that begins with the name; in the
 * text of a shell to the end of the word there, or of what is quoted. */
static size_t assigned_value(const char *text, size_t at, size_t name, int is_script) {
  size_t before = at - name, length = 0;
  const char *value = text + at + 1;
  while (before > 0 && text[before - 1] == '-') before--;
  if (before == 0 && !is_script) return text_length(value);
  char quote = *value == '"' || *value == '\'' ? *value : 0;
  if (quote != 0) {
    for (length = 1; value[length] != 0 && value[length] != quote;) length++;
    return length + (value[length] == quote);
  }
  for (; (unsigned char)value[length] > ' '; length++)
    for (const char *end = ";&|<>()'\"`"; *end != 0; end++)
      if (value[length] == *end) return length;
  return length;
}

static int has_assignment(const char *text) {
  for (size_t i = 0; text[i] != 0; i++)
    if (text[i] == '=' && assigned_name(text, i) > 0) return 1;
  return 0;
}

struct copy { /* of a text into a frame, which may take `room` */
  struct frame *frame;
  uint32_t room, put;
  int whole, is_script;
};

static void put(struct copy *copy, const char *text, size_t length) {
  if (length > copy->room - copy->put) copy->whole = 0;
  if (!copy->whole) return;
  frame_put(copy->frame, text, (uint32_t)length);
  copy->put += (uint32_t)length;
}

static void put_name(struct copy *copy, const char *name, size_t length) {
  if (length + 2 > copy->room - copy->put) copy->whole = 0;
  put(copy, "[", 1), put(copy, name, length), put(copy, "]", 1);
}

static void put_cleared(struct copy *copy, const char *text, const struct secrets *secrets,
                        int *flags) {
  for (size_t i = 0; text[i] != 0 && copy->whole;) {
    size_t length = 0;
    const char *secret = secret_at(secrets, text + i, &length);
    size_t name = secret == NULL && text[i] == '=' ? assigned_name(text, i) : 0;
    if (secret != NULL) {
      put_name(copy, secret, (size_t)(secret_value(secret) - secret) - 1);
      i += length;
    } else {
      put(copy, text + i, 1);
      i++;
    }
    if (name > 0) {
      put_name(copy, text + i - 1 - name, name);
      i += assigned_value(text, i - 1, name, copy->is_script);
    }
    if (secret != NULL || name > 0) *flags |= TRACE_REDACTED;
  }
}

static void put_text(struct copy *copy, const char *text, const struct secrets *secrets,
                     int *flags) {
  if (secrets->count > 0 || has_assignment(text)) {
    put_cleared(copy, text, secrets, flags);
  } else {
    size_t length = text_length(text);
    put(copy, text, length > copy->room ? copy->room : length);
    copy->whole = length <= copy->room;
  }
  frame_put(copy->frame, "", 1);
}

int words_text(struct frame *frame, const char *text, uint32_t room, const struct secrets *secrets,
               int *flags) {
  struct copy copy = {frame, room, 0, 1, 0};
  put_text(&copy, text, secrets, flags);
  return copy.whole;
}

/* `-c`, `-ec`, `-lc`: what follows is the text of a shell. */
static int before_script(const char *word) {
  size_t length = text_length(word);
  return length > 1 && word[0] == '-' && word[1] != '-' && word[length - 1] == 'c';
}

static uint32_t count_words(char *const *argv) {
  uint32_t count = 0;
  while (argv[count] != NULL && !sys_impossible(argv[count])) count++;
  return count;
}

void words_put(struct frame *frame, char *const *argv, const struct secrets *secrets,
               struct words_facts *facts, int *flags) {
  uint32_t room = shim.argv_max;
  *facts = (struct words_facts){0, 0, 0};
  if (sys_impossible(argv)) return;
  facts->args = count_words(argv);
  /* Secrets there is no list of could be in any word but the name of the program. */
  int whole = 1;
  for (uint32_t i = 0; i < facts->args; i++) {
    facts->argv_bytes += (uint32_t)text_length(argv[i]) + 1;
    if (i >= shim.args_max || room < 2 || (secrets->more && i > 0)) whole = 0;
    if (!whole) continue;
    struct copy copy = {frame, room - 1, 0, 1, i > 0 && before_script(argv[i - 1])};
    put_text(&copy, argv[i], secrets, flags);
    room -= copy.put + 1;
    whole = copy.whole;
    facts->kept_args++;
  }
  if (!whole) *flags |= TRACE_CUT;
}
