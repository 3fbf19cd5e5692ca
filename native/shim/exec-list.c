/* execl, execle and execlp: the words are arguments. They are put into an array on the stack, or
 * where there are many into mapped memory. */
#include <stdarg.h>

#include "interpose.h"

enum { LIST_WORDS = 64 };

/* The words from `first` on, with the NULL; `rest` stays where it is. */
static size_t count_words(const char *first, va_list rest) {
  va_list again;
  size_t count = 1;
  va_copy(again, rest);
  for (const char *word = first; word != NULL; count++) word = va_arg(again, const char *);
  va_end(again);
  return count;
}

/* Leaves `rest` behind the NULL, where execle has the environment. */
static void take_words(const char **words, const char *first, va_list rest) {
  words[0] = first;
  while (*words != NULL) *++words = va_arg(rest, const char *);
}

static const char **room_for(const char **small, size_t count) {
  return count <= LIST_WORDS ? small : sys_map(count * sizeof *small);
}

static void leave_room(const char **words, const char **small, size_t count) {
  int error = shim_errno();
  if (words != small) sys_unmap(words, count * sizeof *words);
  shim_set_errno(error);
}

#define RUN_LIST(...)                                                                         \
  const char *small[LIST_WORDS];                                                              \
  va_list rest;                                                                               \
  va_start(rest, word);                                                                       \
  size_t count = count_words(word, rest);                                                     \
  const char **words = room_for(small, count);                                                \
  if (words == NULL) {                                                                        \
    va_end(rest);                                                                             \
    return (int)shim_answer(-ENOMEM);                                                         \
  }                                                                                           \
  take_words(words, word, rest);                                                              \
  char *const *argv = (char *const *)(uintptr_t)words;                                        \
  int result = __VA_ARGS__;                                                                   \
  va_end(rest);                                                                               \
  leave_room(words, small, count);                                                            \
  return result

HOOK(int, execl, (const char *file, const char *word, ...)) {
  RUN_LIST(exec_own_by_path(file, argv));
}

HOOK(int, execlp, (const char *file, const char *word, ...)) {
  RUN_LIST(exec_own_by_name(file, argv));
}

HOOK(int, execle, (const char *file, const char *word, ...)) {
  RUN_LIST(exec_by_path(file, argv, va_arg(rest, char *const *)));
}
