/* stdio in pipe and pty mode. The libc's printf and friends write by functions of its own, which
 * no hook replaces. What they do go through is a pointer in memory: that is exchanged.
 *
 * glibc: the slot for writing in the table of functions that all files share. It is found by what
 * is in it, the address of _IO_file_write; a table that does not have it exactly once is not
 * touched. The table's own address is checked by glibc, what is in it is not.
 * musl: every FILE has its own pointer. Those of stdout and stderr are exchanged if everything
 * around them looks as in musl 1.2, and those of files that are opened later like them. */
#include "streams.h"

#ifdef __linux__

enum { PT_LOAD = 1, PT_GNU_RELRO = 0x6474e552, PF_X = 1, PF_W = 2, AT_PAGESZ = 6 };

struct elf_segment { /* Elf64_Phdr */
  uint32_t type, flags;
  uint64_t offset, address, physical, file_bytes, memory_bytes, align;
};

struct loaded { /* the head of struct dl_phdr_info */
  uintptr_t base;
  const char *name;
  const struct elf_segment *segments;
  uint16_t count;
};

WEAK extern int dl_iterate_phdr(int (*each)(struct loaded *, size_t, void *), void *with);
WEAK extern unsigned long getauxval(unsigned long name);
WEAK extern const char *gnu_get_libc_version(void);

/* --- where an address lies */

enum place { PLACE_UNKNOWN, PLACE_CODE, PLACE_WRITABLE, PLACE_PROTECTED };

/* One loaded file. */
struct image {
  uintptr_t at, page; /* an address in it; how large pages are */
  uintptr_t base;
  const struct elf_segment *segments;
  int count; /* 0: none was found */
};

static enum place place_in(const struct image *image, const void *address) {
  uintptr_t at = (uintptr_t)address;
  enum place place = PLACE_UNKNOWN;
  for (int i = 0; i < image->count; i++) {
    const struct elf_segment *s = &image->segments[i];
    uintptr_t from = image->base + s->address, to = from + s->memory_bytes;
    if (s->type == PT_LOAD && at >= from && at < to) {
      if (s->flags & PF_X) place = PLACE_CODE;
      else if ((s->flags & PF_W) && place == PLACE_UNKNOWN) place = PLACE_WRITABLE;
    }
    /* Protected after relocation, in whole pages: what the loader did, not what the file says. */
    from &= ~(image->page - 1), to &= ~(image->page - 1);
    if (s->type == PT_GNU_RELRO && at >= from && at < to) place = PLACE_PROTECTED;
  }
  return place;
}

static int is_image(struct loaded *object, size_t size, void *with) {
  struct image *image = with;
  (void)size;
  image->base = object->base, image->segments = object->segments, image->count = object->count;
  if (place_in(image, (const void *)image->at) != PLACE_UNKNOWN) return 1;
  image->count = 0;
  return 0;
}

static struct image image_with(const void *at) {
  struct image image = {.at = (uintptr_t)at, .page = getauxval ? getauxval(AT_PAGESZ) : 0};
  if (dl_iterate_phdr && image.page != 0 && at != NULL) dl_iterate_phdr(is_image, &image);
  return image;
}

/* --- glibc */

#define JUMPS 21 /* functions in struct _IO_jump_t, of every glibc since 2.1 */

typedef ssize_type file_write(void *file, const void *data, ssize_type length);

static file_write *glibc_write;
WEAK extern int fileno_unlocked(void *file);
WEAK extern char _IO_2_1_stdout_[];
WEAK extern void *_IO_file_jumps[], *_IO_wfile_jumps[];

static ssize_type told_write(void *file, const void *data, ssize_type length) {
  if (!shim_watching()) return glibc_write(file, data, length);
  uint64_t at_ns = shim_clock_ns();
  ssize_type done = glibc_write(file, data, length);
  if (done <= 0) return done;
  int error = shim_errno(); /* done may be less than all, with errno for the rest */
  int fd = fileno_unlocked(file);
  shim_set_errno(error);
  shim_tell(fd, at_ns, data, (size_t)done);
  return done;
}

/* Where the table has it; NULL unless exactly once, also where it has been exchanged already. */
static void **slot_in(const struct image *libc, void **table) {
  void **slot = NULL;
  if (!place_in(libc, table) || !place_in(libc, table + JUMPS - 1)) return NULL;
  for (int i = 0; i < JUMPS; i++) {
    if (table[i] != (void *)glibc_write) continue;
    if (slot != NULL) return NULL;
    slot = &table[i];
  }
  return slot;
}

static void exchange(void **slot) {
  if (slot != NULL) __atomic_store_n(slot, (void *)told_write, __ATOMIC_RELEASE);
}

/* What is protected is opened as one, as the loader closed it: a part of it would be cut out of the
 * mapping and put back. */
static void exchange_all(const struct image *libc, void **const *slots, int count) {
  uintptr_t from = 0, bytes = 0;
  for (int i = 0; i < libc->count; i++) {
    const struct elf_segment *s = &libc->segments[i];
    if (s->type != PT_GNU_RELRO) continue;
    from = (libc->base + s->address) & ~(libc->page - 1);
    bytes = ((libc->base + s->address + s->memory_bytes) & ~(libc->page - 1)) - from;
  }
  int closed = 0;
  for (int i = 0; i < count; i++)
    closed |= slots[i] != NULL && place_in(libc, slots[i]) == PLACE_PROTECTED;
  if (closed && SYS3(SYS_mprotect, from, bytes, PROT_READ | PROT_WRITE) < 0) return;
  for (int i = 0; i < count; i++) exchange(slots[i]);
  if (closed) SYS3(SYS_mprotect, from, bytes, PROT_READ);
}

/* The tables by their names, and those that stdout really has: since 2.37 they are members of an
 * array, and the names are there for old programs. */
static void patch_glibc(void) {
  enum { VTABLE = 0xd8, WIDE_DATA = 0xa0, WIDE_VTABLE = 0xe0 }; /* in struct _IO_FILE_plus */
  void *original = NEXT(_IO_file_write);
  char *out = _IO_2_1_stdout_, *wide = NULL;
  struct image libc = image_with(original);
  if (libc.count == 0 || place_in(&libc, original) != PLACE_CODE || !fileno_unlocked) return;
  glibc_write = (file_write *)original;
  void **slots[4] = {slot_in(&libc, _IO_file_jumps), slot_in(&libc, _IO_wfile_jumps)};
  if (place_in(&libc, out)) {
    memcpy(&wide, out + WIDE_DATA, sizeof wide);
    slots[2] = slot_in(&libc, *(void ***)(out + VTABLE));
    if (place_in(&libc, wide)) slots[3] = slot_in(&libc, *(void ***)(wide + WIDE_VTABLE));
  }
  exchange_all(&libc, slots, 4);
}

/* --- musl */

struct musl_file {
  unsigned flags;
  unsigned char *read_at, *read_end;
  int (*close)(struct musl_file *);
  unsigned char *write_end, *write_at, *zero, *write_base;
  size_t (*read)(struct musl_file *, unsigned char *, size_t);
  size_t (*write)(struct musl_file *, const unsigned char *, size_t);
  int64_t (*seek)(struct musl_file *, int64_t, int);
  unsigned char *buffer;
  size_t buffer_bytes;
  struct musl_file *previous, *next;
  int fd;
};

typedef size_t musl_write(struct musl_file *file, const unsigned char *data, size_t length);

WEAK extern struct musl_file *stdout, *stderr;

static musl_write *musl_usual; /* __stdio_write */
static musl_write *musl_first; /* __stdout_write, which puts the other one in its place */
static struct musl_file *musl_out;

/* Writes what is in the buffer, then `data`. Less than all is told as an error, without how much:
 * then nothing is told here either. */
static size_t told_musl_write(struct musl_file *file, const unsigned char *data, size_t length) {
  musl_write *original = file == musl_out && musl_first != NULL ? musl_first : musl_usual;
  struct sys_vector v[2] = {{file->write_base, (size_t)(file->write_at - file->write_base)},
                            {data, length}};
  int watching = shim_watching();
  uint64_t at_ns = watching ? shim_clock_ns() : 0;
  size_t done = original(file, data, length);
  if (original == musl_first) musl_first = NULL;
  if (file->write == musl_usual) file->write = told_musl_write;
  size_t all = v[0].length + length;
  if (watching && done == length && all > 0) shim_tell_vector(file->fd, at_ns, v, 2, all);
  return done;
}

void shim_stdio_opened(void *file) {
  struct musl_file *f = file;
  if (f != NULL && musl_usual != NULL && f->write == musl_usual) f->write = told_musl_write;
}

static int looks_like_musl(const struct image *libc, const struct musl_file *f, int fd) {
  enum { PERMANENT = 1, NOT_READ = 4 };
  if (place_in(libc, f) != PLACE_WRITABLE) return 0;
  if (f->fd != fd || (f->flags & (PERMANENT | NOT_READ)) != (PERMANENT | NOT_READ)) return 0;
  const void *functions[] = {(const void *)f->write, (const void *)f->seek,
                             (const void *)f->close};
  for (int i = 0; i < 3; i++)
    if (place_in(libc, functions[i]) != PLACE_CODE) return 0;
  return 1;
}

static void patch_musl(void) {
  if (!&stdout || !&stderr) return;
  struct musl_file *out = stdout, *err = stderr;
  struct image libc = image_with(out);
  if (!looks_like_musl(&libc, out, 1) || !looks_like_musl(&libc, err, 2)) return;
  musl_usual = err->write;
  musl_first = out->write == musl_usual ? NULL : out->write;
  musl_out = out;
  out->write = told_musl_write;
  err->write = told_musl_write;
}

/* --- dprintf, which has no FILE in musl and in glibc since 2.37: how much is known, not what */

static int dprintf_is_direct(void) {
  unsigned number = 0;
  if (!gnu_get_libc_version) return 1;
  const char *version = gnu_get_libc_version();
  if (!text_starts(version, "2.")) return 0;
  for (version += 2; *version >= '0' && *version <= '9'; version++)
    number = number * 10 + (unsigned)(*version - '0');
  return number >= 37;
}

typedef __builtin_va_list arguments;
extern int vdprintf(int fd, const char *format, arguments list);
extern int __vdprintf_chk(int fd, int flag, const char *format, arguments list);

static int told_dprintf(int fd, const char *format, arguments list) {
  __typeof__(&vdprintf) original = ORIGINAL(vdprintf);
  int told = shim_watching() && dprintf_is_direct();
  uint64_t at_ns = told ? shim_clock_ns() : 0;
  int done = CALL_ON(original, -ENOSYS, fd, format, list);
  if (told && done > 0) shim_tell_unseen(fd, at_ns, (size_t)done);
  return done;
}

static int told_dprintf_chk(int fd, int flag, const char *format, arguments list) {
  __typeof__(&__vdprintf_chk) original = ORIGINAL(__vdprintf_chk);
  int told = shim_watching() && dprintf_is_direct();
  uint64_t at_ns = told ? shim_clock_ns() : 0;
  int done = CALL_ON(original, -ENOSYS, fd, flag, format, list);
  if (told && done > 0) shim_tell_unseen(fd, at_ns, (size_t)done);
  return done;
}

HOOK(int, vdprintf, (int fd, const char *format, arguments list)) {
  return told_dprintf(fd, format, list);
}

HOOK(int, __vdprintf_chk, (int fd, int flag, const char *format, arguments list)) {
  return told_dprintf_chk(fd, flag, format, list);
}

HOOK(int, dprintf, (int fd, const char *format, ...)) {
  arguments list;
  __builtin_va_start(list, format);
  int done = told_dprintf(fd, format, list);
  __builtin_va_end(list);
  return done;
}

HOOK(int, __dprintf_chk, (int fd, int flag, const char *format, ...)) {
  arguments list;
  __builtin_va_start(list, format);
  int done = told_dprintf_chk(fd, flag, format, list);
  __builtin_va_end(list);
  return done;
}

void shim_stdio_init(void) {
  if (gnu_get_libc_version) patch_glibc();
  else patch_musl();
}

#else

void shim_stdio_init(void) {}
void shim_stdio_opened(void *file) { (void)file; }

#endif
