/* Words of a command line in a frame, within bounds, without secrets (secrets.c). */
#include "../secret-words.h"
#include "shim.h"

static int has_secret(const char *text, int is_script) {
  struct secret_found found;
  for (size_t i = 0; text[i] != 0; i++)
    if (secret_begins(text, i, is_script, &found)) return 1;
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

/* Whether the value is that of a known variable, whose name says more than the option's. */
static int is_known(const char *text, const struct secret_found *found,
                    const struct secrets *secrets) {
  const struct secret *secret = secret_at(secrets, text + found->value_at);
  return secret != NULL && secret->length == found->value;
}

static void put_cleared(struct copy *copy, const char *text, const struct secrets *secrets,
                        int *flags) {
  for (size_t i = 0; text[i] != 0 && copy->whole;) {
    const struct secret *secret = secret_at(secrets, text + i);
    struct secret_found found;
    if (secret != NULL) {
      put_name(copy, secret->entry, secret->name);
      i += secret->length;
      *flags |= TRACE_REDACTED;
    } else if (secret_begins(text, i, copy->is_script, &found) &&
               !is_known(text, &found, secrets)) {
      put(copy, text + i, found.value_at - i);
      put_name(copy, found.name, found.name_length);
      i = found.value_at + found.value;
      *flags |= TRACE_REDACTED;
    } else {
      put(copy, text + i, 1);
      i++;
    }
  }
}

static void put_text(struct copy *copy, const char *text, const struct secrets *secrets,
                     int *flags) {
  if (secrets->count > 0 || has_secret(text, copy->is_script)) {
    put_cleared(copy, text, secrets, flags);
  } else {
    size_t length = text_length(text);
    put(copy, text, length > copy->room ? copy->room : length);
    copy->whole = length <= copy->room;
  }
  frame_put(copy->frame, "", 1);
}

/* In the place of a whole word. */
static void put_secret(struct copy *copy, const char *name, int *flags) {
  put_name(copy, name, text_length(name));
  frame_put(copy->frame, "", 1);
  *flags |= TRACE_REDACTED;
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
  /* Secrets that did not fit the list could be in any word but the name of the program. */
  int whole = 1;
  for (uint32_t i = 0; i < facts->args; i++) {
    facts->argv_bytes += (uint32_t)text_length(argv[i]) + 1;
    if (i >= shim.args_max || room < 2 || (secrets->more && i > 0)) whole = 0;
    if (!whole) continue;
    const char *before = i > 0 ? argv[i - 1] : "";
    struct copy copy = {frame, room - 1, 0, 1, before_script(before)};
    int is_value = i > 1 && argv[i][0] != 0 && argv[i][0] != '-';
    const char *name = is_value ? secret_announced(before) : NULL;
    if (name != NULL) put_secret(&copy, name, flags);
    else put_text(&copy, argv[i], secrets, flags);
    room -= copy.put + 1;
    whole = copy.whole;
    facts->kept_args++;
  }
  if (!whole) *flags |= TRACE_CUT;
}
