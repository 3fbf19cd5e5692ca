/* One way to write a hook for two loaders.
 *
 *   HOOK(ssize_type, write, (int fd, const void *data, size_t length)) { ... }
 *
 * Linux: a function of that name, exported from a preloaded library, is found before the libc's.
 * macOS: names are bound to a library, so a function of another name is put in its place by a
 * record in __DATA,__interpose. `used` keeps the linker's -dead_strip away from records that
 * nothing refers to. Calls from inside this library are not redirected there: the original is
 * called by its own name. A function with a variable number of arguments cannot be handed on
 * there (arm64 passes them on the stack, unlike named ones), so none is hooked.
 *
 * macOS is compiled, not run: test/native/shim/streams-darwin.test.ts looks into the object. */
#ifndef CUFF_SHIM_INTERPOSE_H
#define CUFF_SHIM_INTERPOSE_H

#include "shim.h"

#ifdef __APPLE__

struct interpose_record {
  const void *replacement, *original;
};

#define HOOK(type, name, parameters)                                                          \
  extern type name parameters;                                                                \
  static type hook_##name parameters;                                                         \
  __attribute__((used, section("__DATA,__interpose"))) static const struct interpose_record   \
      record_##name = {(const void *)hook_##name, (const void *)name};                        \
  static type hook_##name parameters

#define ALIAS(type, name, target, parameters) extern type name parameters
#define ORIGINAL(name) (&name)
#define CALL_ON(original, raw, ...) (original)(__VA_ARGS__)

#else

#define HOOK(type, name, parameters)                                                          \
  EXPORTED type name parameters;                                                              \
  EXPORTED type name parameters

/* The same function under another name of the libc's; macOS has no such names. */
#define ALIAS(type, name, target, parameters)                                                 \
  EXPORTED type name parameters __attribute__((alias(#target)))

/* What would have been called without us; NULL before the loader can tell, and where there is no
 * such function. */
#define ORIGINAL(name)                                                                        \
  (__extension__({                                                                            \
    static void *slot_;                                                                       \
    void *next_ = __atomic_load_n(&slot_, __ATOMIC_RELAXED);                                  \
    if (UNLIKELY(next_ == NULL)) next_ = shim_next(&slot_, #name);                            \
    (__typeof__(&name))next_;                                                                 \
  }))

/* Calls it, or where it is NULL the system call `raw` itself. */
#define CALL_ON(original, raw, ...)                                                           \
  (LIKELY((original) != NULL) ? (original)(__VA_ARGS__)                                       \
                              : (__typeof__((original)(__VA_ARGS__)))shim_answer(raw))

#endif
#endif
