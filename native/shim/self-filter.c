/* Whether the program itself contains code that installs a seccomp filter past its libc. No hook
 * sees such a filter come, and the next system call of ours may be one that it kills for. So the
 * constructor looks once through the code of the executable (not of libraries), before main: for
 * the number of seccomp, or of prctl with PR_SET_SECCOMP, as a constant, and an instruction behind
 * it that enters the kernel. Where it finds both, the shim says START and is silent from then on.
 *
 * It is a search for bytes, not a disassembler: it must be cheap and may miss. What it knows is
 * what gcc, clang and rustc make of an inline system call with a constant number, with and without
 * optimisation, directly or through one or two functions that get the number as an argument. It
 * does not see numbers that are computed or kept in data. A large program is not looked at: every
 * page of it would have to be read. */
#include "shim.h"

#ifdef __linux__

typedef unsigned char byte;

enum { PT_LOAD = 1, PF_X = 1, PF_R = 4, PR_SET_SECCOMP = 22, PAGE = 4096 };
/* Bytes. How far behind a constant its use may be: in the same function, or a call of another one;
 * how long a function is that does nothing but enter the kernel; and one that only hands on its
 * arguments. With longer ones, programs of Go that start others would be found, too. */
enum { NEAR = 160, CALL_NEAR = 96, BODY = 256, THIN = 32 };
/* No code may keep the search busy. */
enum { CODE_MAX = 512 << 10, NUMBERS_MAX = 64, ARGUMENTS_MAX = 1024 };

struct segment { /* Elf64_Phdr */
  uint32_t type, flags;
  uint64_t offset, address, physical, file_bytes, memory_bytes, align;
};
struct object { /* struct dl_phdr_info, as far as it is needed */
  uintptr_t base;
  const char *name;
  const struct segment *segments;
  uint16_t count;
};

WEAK int dl_iterate_phdr(int (*call)(struct object *, size_t, void *), void *data);

/* --- instructions
 * `at` is in code of which the bytes from MARGIN in front of it to MARGIN behind it can be read. */

enum { MARGIN = 8 };

struct span { /* as much of the code as can be searched, without MARGIN at both ends */
  const byte *start, *end;
};

#ifdef __x86_64__
enum { STEP = 1, BLOCK = 16 };

/* The next place of two bytes, or the end. Every x86-64 can compare 16 bytes at once, and this is
 * what all of the code is searched with. */
static NOINLINE const byte *next_pair(struct span span, byte first, byte second) {
  typedef byte block __attribute__((vector_size(BLOCK), aligned(1)));
  typedef uint64_t halves __attribute__((vector_size(BLOCK)));
  const byte *at = span.start;
  for (; span.end - at >= BLOCK; at += BLOCK) {
    halves both = (halves)((*(const block *)at == first) & (*(const block *)(at + 1) == second));
    if (UNLIKELY((both[0] | both[1]) != 0)) break;
  }
  while (at < span.end && (at[0] != first || at[1] != second)) at++;
  return at;
}

/* `syscall`. The same two bytes are often the low half of an offset: then the high half follows,
 * which is small, or -1. */
static int enters_kernel(const byte *at) {
  int offset = at[2] == 0 || (at[2] <= CODE_MAX >> 16 && at[3] == 0);
  return !offset && !(at[2] == 0xff && at[3] == 0xff);
}

static const byte *next_entry(struct span span) {
  for (; (span.start = next_pair(span, 0x0f, 0x05)) < span.end; span.start++)
    if (enters_kernel(span.start)) break;
  return span.start;
}

/* mov $number to a register, push $number, or mov $number to memory: that one has up to five bytes
 * of address between its first byte and the number. */
static int loads(const byte *at, uint32_t number) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  if (value != number) return 0;
  if ((at[-1] & 0xf8) == 0xb8 || at[-1] == 0x68) return 1;
  for (int i = 2; i <= 7; i++)
    if (at[-i] == 0xc7) return 1;
  return 0;
}

static const byte *next_load(struct span span, uint32_t number) {
  for (; (span.start = next_pair(span, (byte)number, (byte)(number >> 8))) < span.end; span.start++)
    if (loads(span.start, number)) break;
  return span.start;
}

/* Programs that are to be small push small numbers as one byte. */
static const byte *next_push(struct span span, uint32_t number) { 
  return next_pair(span, 0x6a, (byte)number);
}

/* call, and jmp, which is the last call of a function: how far it goes from `at`, or 0. */
static intptr_t call_distance(const byte *at) {
  int32_t distance;
  if (at[0] == 0xeb) return (intptr_t)(signed char)at[1] + 2;
  if (LIKELY(at[0] != 0xe8 && at[0] != 0xe9)) return 0;
  memcpy(&distance, at + 1, sizeof distance);
  return (intptr_t)distance + 5;
}

/* A stub of the linker, which goes on to a library: endbr64, bnd jmp *OFFSET(%rip), both optional
 * but for the jmp. */
static int is_import(const byte *at) {
  if (at[0] == 0xf3 && at[1] == 0x0f && at[2] == 0x1e) at += 4;
  if (at[0] == 0xf2) at++;
  return at[0] == 0xff && at[1] == 0x25;
}
#else
enum { STEP = 4 };

static uint32_t word_at(const byte *at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

static const byte *next_word(struct span span, uint32_t mask, uint32_t word) {
  while (span.start < span.end && (word_at(span.start) & mask) != word) span.start += STEP;
  return span.start;
}

static const byte *next_entry(struct span span) { /* svc #0 */
  return next_word(span, ~0u, 0xd4000001);
}

static const byte *next_load(struct span span, uint32_t number) { /* movz to any register */
  return next_word(span, 0x7fffffe0, 0x52800000 | number << 5);
}

static const byte *next_push(struct span span, uint32_t number) { return (void)number, span.end; }

static intptr_t call_distance(const byte *at) { /* bl and b */
  uint32_t word = word_at(at);
  if ((word >> 26 & 0x1f) != 5) return 0;
  return (intptr_t)((int32_t)(word << 6) >> 6) * 4;
}

/* A stub of the linker, which goes on to a library: bti c, which is optional, adrp x16. */
static int is_import(const byte *at) {
  if (word_at(at) == 0xd503245f) at += STEP;
  return (word_at(at) & 0x9f00001f) == 0x90000010;
}
#endif

/* --- the search */

static struct span part(const struct span *code, const byte *from, intptr_t bytes) {
  return (struct span){from, code->end - from < bytes ? code->end : from + bytes};
}

static int has_entry(struct span span) { return next_entry(span) < span.end; }

/* The function of the program that is called at `at`, or NULL. */
static const byte *called(const struct span *code, const byte *at) {
  intptr_t distance = call_distance(at), place = at - code->start + distance;
  if (distance == 0 || place < 0 || place >= code->end - code->start) return NULL;
  return is_import(at + distance) ? NULL : at + distance;
}

/* Whether a function that is called in `from` has `place` in it, or calls one that has. NULL: any
 * instruction that enters the kernel. `depth` 1: only the function itself. */
static int calls(const struct span *code, struct span from, const byte *place, int depth) {
  for (const byte *at = from.start; at < from.end; at += STEP) {
    const byte *function = called(code, at);
    if (function == NULL) continue;
    struct span body = part(code, function, BODY);
    if (place == NULL ? has_entry(body) : body.start <= place && place < body.end) return 1;
    struct span first = place == NULL ? body : part(code, function, THIN);
    if (depth > 1 && calls(code, first, place, depth - 1)) return 1;
  }
  return 0;
}

static int leads_to_entry(const struct span *code, const byte *from) {
  return has_entry(part(code, from, NEAR)) || calls(code, part(code, from, CALL_NEAR), NULL, 2);
}

typedef const byte *search(struct span span, uint32_t number);

/* Whether PR_SET_SECCOMP is an argument of the function that `place` is in. */
static int hands_over(const struct span *code, search *next, const byte *place) {
  struct span left = *code;
  for (int i = 0; i < ARGUMENTS_MAX && (left.start = next(left, PR_SET_SECCOMP)) < left.end; i++) {
    if (calls(code, part(code, left.start, CALL_NEAR), place, 2)) return 1;
    left.start += STEP;
  }
  return 0;
}

/* Whether the prctl at `at` is PR_SET_SECCOMP. Other calls of prctl are no reason to be silent, and
 * every program that was built with a sanitizer has some. */
static int sets_seccomp(const struct span *code, const byte *at) {
  const byte *before = at - code->start < NEAR ? code->start : at - NEAR;
  struct span around = part(code, before, at - before + NEAR);
  return next_load(around, PR_SET_SECCOMP) < around.end ||
         next_push(around, PR_SET_SECCOMP) < around.end ||
         hands_over(code, next_load, at) || hands_over(code, next_push, at);
}

static int installs_by(const struct span *code, uint32_t number) {
  struct span left = *code;
  for (int i = 0; i < NUMBERS_MAX && (left.start = next_load(left, number)) < left.end; i++) {
    if (leads_to_entry(code, left.start) &&
        (number == SYS_seccomp || sets_seccomp(code, left.start)))
      return 1;
    left.start += STEP;
  }
  return 0;
}

/* Almost no program enters the kernel by itself: most are searched for that alone. */
static int span_installs(const struct span *code) {
  if (LIKELY(!has_entry(*code))) return 0;
  return installs_by(code, SYS_seccomp) || installs_by(code, SYS_prctl);
}

/* --- the code of the program */

static int note_code(struct object *object, size_t bytes, void *about) {
  struct program_code *code = about;
  uint64_t all = 0;
  for (uint16_t i = 0; i < object->count; i++) {
    const struct segment *segment = &object->segments[i];
    if (segment->type != PT_LOAD || !(segment->flags & PF_X)) continue;
    if (segment->file_bytes > CODE_MAX || (all += segment->file_bytes) > CODE_MAX) {
      code->count = 0;
      return 1;
    }
    /* Code that may only be executed cannot be read. */
    if (!(segment->flags & PF_R) || code->count == CODE_PARTS) continue;
    code->parts[code->count].start = (const byte *)(object->base + segment->address);
    code->parts[code->count++].bytes = (size_t)segment->file_bytes;
  }
  return (void)bytes, 1; /* the first object is the program */
}

void self_filter_find(struct program_code *code) {
  code->count = 0;
  if (dl_iterate_phdr) dl_iterate_phdr(note_code, code);
}

/* futex(2) compares the word before it moves those who wait for it, here none, and says EFAULT
 * where there is no word. The calls that readable.c asks with would read across pages, or make
 * valgrind complain. */
static int page_readable(uintptr_t page) {
  enum { FUTEX_CMP_REQUEUE_PRIVATE = 4 | 128 };
  uint32_t word = 0;
  page &= ~(uintptr_t)3;
  return SYS6(SYS_futex, page, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, &word, 0) != -EFAULT;
}

/* A header may promise more than the file has, and a page may be gone by now. */
static size_t readable_bytes(const byte *start, size_t bytes) {
  uintptr_t end = (uintptr_t)start + bytes, page = (uintptr_t)start;
  if (sys_impossible(start) || end < page) return 0;
  for (; page < end; page = (page | (PAGE - 1)) + 1)
    if (!page_readable(page)) return page - (uintptr_t)start;
  return bytes;
}

int self_filter_installs(const struct program_code *code) {
  for (int i = 0; i < code->count; i++) {
    const byte *start = code->parts[i].start;
    size_t bytes = readable_bytes(start, code->parts[i].bytes);
    if (bytes < 4 * MARGIN) continue;
    struct span span = {start + MARGIN, start + bytes - MARGIN};
    if (span_installs(&span)) return 1;
  }
  return 0;
}

#else /* there are no such filters */

void self_filter_find(struct program_code *code) { code->count = 0; }
int self_filter_installs(const struct program_code *code) { return (void)code, 0; }

#endif
