/* The function that would have been called without us: the first of that name in the libraries
 * behind this one, read from the loader's list. dlsym would do, but takes the loader's lock and may
 * allocate: neither is allowed in a signal handler or between fork and exec, and before glibc 2.34
 * it is not even there. The libraries in question are never unloaded. */
#include "shim.h"

struct dynamic {
  int64_t tag;
  uintptr_t value;
};
struct library { /* struct link_map; musl's begins alike */
  uintptr_t base;
  const char *name;
  const struct dynamic *dynamic;
  struct library *next, *previous;
};
struct loader { /* struct r_debug */
  int version;
  struct library *first;
};
struct symbol { /* Elf64_Sym */
  uint32_t name;
  uint8_t info, other;
  uint16_t section;
  uint64_t value, size;
};
struct tables {
  uintptr_t base;
  const struct symbol *symbols;
  const char *names;
  const uint32_t *gnu_hash, *hash;
  const uint16_t *versions;
};

enum {
  DT_HASH = 4, DT_STRTAB = 5, DT_SYMTAB = 6, DT_GNU_HASH = 0x6ffffef5, DT_VERSYM = 0x6ffffff0,
  STT_FUNC = 2, VERSION_HIDDEN = 0x8000
};

WEAK extern struct loader _r_debug;         /* glibc */
WEAK extern struct loader *_dl_debug_addr;  /* musl */
WEAK void *dlsym(void *where, const char *name);
__attribute__((visibility("hidden"))) extern const struct dynamic _DYNAMIC[];

static struct library *behind_us(void) {
  struct loader *loader = &_r_debug ? &_r_debug : &_dl_debug_addr ? _dl_debug_addr : NULL;
  struct library *at = loader == NULL ? NULL : loader->first;
  while (at != NULL && at->dynamic != _DYNAMIC) at = at->next;
  return at == NULL ? NULL : at->next;
}

/* glibc has turned the entries into addresses, musl and the vDSO have not. */
static const void *address(const struct library *of, uintptr_t value) {
  return (const void *)(value < of->base ? of->base + value : value);
}

static int read_tables(struct tables *t, const struct library *from) {
  *t = (struct tables){.base = from->base};
  if (from->dynamic == NULL) return 0;
  for (const struct dynamic *d = from->dynamic; d->tag != 0; d++) {
    if (d->tag == DT_SYMTAB) t->symbols = address(from, d->value);
    if (d->tag == DT_STRTAB) t->names = address(from, d->value);
    if (d->tag == DT_GNU_HASH) t->gnu_hash = address(from, d->value);
    if (d->tag == DT_HASH) t->hash = address(from, d->value);
    if (d->tag == DT_VERSYM) t->versions = address(from, d->value);
  }
  return t->symbols != NULL && t->names != NULL;
}

/* Only plain functions, and the version a program linked today would get. */
static void *matching(const struct tables *t, uint32_t index, const char *name) {
  const struct symbol *symbol = &t->symbols[index];
  if (symbol->section == 0 || (symbol->info & 15) != STT_FUNC) return NULL;
  if (t->versions != NULL && (t->versions[index] & VERSION_HIDDEN)) return NULL;
  if (!text_same(t->names + symbol->name, name)) return NULL;
  return (void *)(t->base + symbol->value);
}

static void *find_gnu(const struct tables *t, const char *name) {
  uint32_t hash = 5381;
  for (const char *c = name; *c != 0; c++) hash = hash * 33 + (unsigned char)*c;
  uint32_t buckets = t->gnu_hash[0], first = t->gnu_hash[1], words = t->gnu_hash[2];
  const uint64_t *bloom = (const uint64_t *)(t->gnu_hash + 4);
  const uint32_t *bucket = (const uint32_t *)(bloom + words), *chain = bucket + buckets;
  uint64_t bits = 1ull << (hash & 63) | 1ull << ((hash >> (t->gnu_hash[3] & 31)) & 63);
  if (buckets == 0 || (bloom[hash / 64 & (words - 1)] & bits) != bits) return NULL;
  uint32_t i = bucket[hash % buckets];
  if (i < first) return NULL;
  for (;; i++) {
    uint32_t other = chain[i - first];
    void *found = (other | 1) == (hash | 1) ? matching(t, i, name) : NULL;
    if (found != NULL || (other & 1)) return found;
  }
}

static void *find_plain(const struct tables *t, const char *name) {
  uint32_t hash = 0;
  for (const char *c = name; *c != 0; c++) {
    hash = (hash << 4) + (unsigned char)*c;
    hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
  }
  uint32_t buckets = t->hash[0];
  const uint32_t *bucket = t->hash + 2, *chain = bucket + buckets;
  if (buckets == 0) return NULL;
  for (uint32_t i = bucket[hash % buckets]; i != 0; i = chain[i]) {
    void *found = matching(t, i, name);
    if (found != NULL) return found;
  }
  return NULL;
}

static NOINLINE void *look_up(const char *name) {
  struct library *library = behind_us();
  if (library == NULL && dlsym) {
    int error = shim_errno();
    void *found = dlsym((void *)-1l, name); /* RTLD_NEXT */
    shim_set_errno(error);
    return found;
  }
  for (; library != NULL; library = library->next) {
    struct tables tables;
    if (!read_tables(&tables, library)) continue;
    void *found = tables.gnu_hash != NULL ? find_gnu(&tables, name)
                  : tables.hash != NULL   ? find_plain(&tables, name)
                                          : NULL;
    if (found != NULL) return found;
  }
  return NULL;
}

void *shim_next(void **slot, const char *name) {
  void *found = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (LIKELY(found != NULL)) return found;
  found = look_up(name);
  __atomic_store_n(slot, found, __ATOMIC_RELAXED);
  return found;
}

/* --- errno */

WEAK int *__errno_location(void);

int shim_errno(void) { return __errno_location ? *__errno_location() : 0; }

void shim_set_errno(int error) {
  if (__errno_location) *__errno_location() = error;
}

long shim_answer(long result) {
  if (!sys_failed(result)) return result;
  shim_set_errno((int)-result);
  return -1;
}
