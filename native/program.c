/* What kind of program a file is: one without a loader, into which nothing can be preloaded (ELF
 * without PT_INTERP); one that traces others by ptrace, which fails for processes that we trace;
 * one with the address sanitizer. */
#include "runner.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADERS_MAX 256
#define CODE_MAX (8u << 20) /* a larger one is not looked through */
#define CALL_NEAR 24        /* bytes between the number of a system call and the call */
#define PROGRAMS_MAX 64
#define SCRIPTS_MAX 4 /* as many `#!` in a row as the kernel follows */
#define PATH_DEFAULT "/bin:/usr/bin"

/* The program headers of either word size; only where their type is differs. */
static bool has_loader(int fd, uint64_t offset, unsigned count, unsigned size) {
  unsigned char table[HEADERS_MAX * sizeof(Elf64_Phdr)];
  if (size < sizeof(uint32_t) || count * size > sizeof table) return true; /* not as it should be */
  if (pread(fd, table, count * size, (off_t)offset) != (ssize_t)(count * size)) return true;
  for (unsigned i = 0; i < count; i++) {
    uint32_t type;
    memcpy(&type, table + i * size, sizeof type); /* the first field in both */
    if (type == PT_INTERP) return true;
  }
  return false;
}

bool static_program(int fd) {
  union {
    unsigned char ident[EI_NIDENT];
    Elf32_Ehdr narrow;
    Elf64_Ehdr wide;
  } h;
  if (pread(fd, &h, sizeof h, 0) < (ssize_t)sizeof h.narrow) return false;
  if (memcmp(h.ident, ELFMAG, SELFMAG) != 0 || h.ident[EI_DATA] != ELFDATA2LSB) return false;
  if (h.ident[EI_CLASS] == ELFCLASS64)
    return !has_loader(fd, h.wide.e_phoff, h.wide.e_phnum, h.wide.e_phentsize);
  return h.ident[EI_CLASS] == ELFCLASS32 &&
         !has_loader(fd, h.narrow.e_phoff, h.narrow.e_phnum, h.narrow.e_phentsize);
}

/* The instructions that load the number of ptrace, and those that make a system call. */
#if defined __x86_64__
static const unsigned char NUMBER[] = {0xb8, 101, 0, 0, 0}, CALL[] = {0x0f, 0x05};
#elif defined __aarch64__
static const unsigned char NUMBER[] = {0xa8, 0x0e, 0x80, 0xd2}, CALL[] = {0x01, 0, 0, 0xd4};
#else
static const unsigned char NUMBER[] = {0, 0, 0, 0}, CALL[] = {0, 0, 0, 0};
#endif

/* Looks for the second byte, which is rare in code: memchr is many times as fast as memmem. */
static bool has_call(const unsigned char *code, size_t length) {
  const unsigned char *end = code + length - CALL_NEAR, *at = code;
  if (length < 2 * CALL_NEAR) return false;
  while ((at = memchr(at + 1, NUMBER[1], (size_t)(end - at - 1))) != NULL) {
    if (memcmp(at - 1, NUMBER, sizeof NUMBER) == 0 &&
        memmem(at + sizeof NUMBER - 1, CALL_NEAR - sizeof NUMBER, CALL, sizeof CALL) != NULL)
      return true;
  }
  return false;
}

static bool look_for_call(int fd, off_t size) {
  const unsigned char *file = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (file == MAP_FAILED) return false;
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)file;
  bool found = false;
  bool wide = h->e_ident[EI_CLASS] == ELFCLASS64;
  for (unsigned i = 0; wide && i < h->e_phnum && !found; i++) {
    uint64_t at = h->e_phoff + i * sizeof(Elf64_Phdr);
    if (at + sizeof(Elf64_Phdr) > (uint64_t)size) break;
    Elf64_Phdr p;
    memcpy(&p, file + at, sizeof p);
    bool there = p.p_offset <= (uint64_t)size && p.p_filesz <= (uint64_t)size - p.p_offset;
    /* Every program of Go carries a ptrace that it hardly ever calls, and calls it differently. */
    if (there && p.p_type == PT_NOTE && p.p_filesz >= 16 &&
        memcmp(file + p.p_offset + 12, "Go", 3) == 0)
      break;
    if (there && p.p_type == PT_LOAD && (p.p_flags & PF_X) && p.p_filesz <= CODE_MAX)
      found = has_call(file + p.p_offset, p.p_filesz);
  }
  munmap((void *)file, (size_t)size);
  return found;
}

/* Whether this static program has the system call by which others are traced. Looked for once. */
bool traces_others(int fd) {
  static struct {
    dev_t device;
    ino_t inode;
    time_t changed;
    bool found;
  } seen[PROGRAMS_MAX];
  static int next;
  struct stat st;
  if (fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(Elf64_Ehdr)) return false;
  for (int i = 0; i < PROGRAMS_MAX; i++)
    if (seen[i].inode == st.st_ino && seen[i].device == st.st_dev &&
        seen[i].changed == st.st_ctime)
      return seen[i].found;
  bool found = look_for_call(fd, st.st_size);
  seen[next].device = st.st_dev;
  seen[next].inode = st.st_ino;
  seen[next].changed = st.st_ctime;
  seen[next].found = found;
  next = (next + 1) % PROGRAMS_MAX;
  return found;
}

/* Where in the file this address of the program is. */
static uint64_t offset_of(const unsigned char *file, uint64_t size, uint64_t address) {
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)file;
  for (unsigned i = 0; i < h->e_phnum; i++) {
    Elf64_Phdr p;
    memcpy(&p, file + h->e_phoff + i * sizeof p, sizeof p);
    if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz)
      return p.p_offset + (address - p.p_vaddr);
  }
  return size;
}

/* The names of what it is linked with, as one piece of bytes; NULL when there is none. */
static const unsigned char *linked_names(const unsigned char *file, uint64_t size,
                                         uint64_t *length) {
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)file;
  uint64_t table = 0;
  *length = 0;
  for (unsigned i = 0; i < h->e_phnum; i++) {
    Elf64_Phdr p;
    memcpy(&p, file + h->e_phoff + i * sizeof p, sizeof p);
    if (p.p_type != PT_DYNAMIC || p.p_offset > size || p.p_filesz > size - p.p_offset) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= p.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn d;
      memcpy(&d, file + p.p_offset + at, sizeof d);
      if (d.d_tag == DT_STRTAB) table = offset_of(file, size, d.d_un.d_ptr);
      if (d.d_tag == DT_STRSZ) *length = d.d_un.d_val;
    }
  }
  return table == 0 || table > size || *length > size - table ? NULL : file + table;
}

/* Whether it is linked with the address sanitizer. Its runtime must be loaded first, unless
 * ASAN_OPTIONS says otherwise, and it reads that variable from /proc/self/environ, which does not
 * show what inject.c adds. */
bool linked_with_asan(int fd) {
  struct stat st;
  if (fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(Elf64_Ehdr)) return false;
  const unsigned char *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (file == MAP_FAILED) return false;
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)file;
  uint64_t size = (uint64_t)st.st_size, length;
  bool whole = h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_phoff <= size &&
               h->e_phnum * sizeof(Elf64_Phdr) <= size - h->e_phoff;
  const unsigned char *names = whole ? linked_names(file, size, &length) : NULL;
  bool found = names != NULL && memmem(names, length, "libasan.so", 10) != NULL;
  munmap((void *)file, (size_t)st.st_size);
  return found;
}

/* The interpreter of a script is the program that runs. Puts its name into `line`; false if the
 * file is not a script. */
static bool interpreter(int fd, char *line, size_t size) {
  ssize_t n = pread(fd, line, size - 1, 0);
  if (n < 3 || line[0] != '#' || line[1] != '!') return false;
  line[n] = 0;
  char *name = line + 2 + strspn(line + 2, " \t");
  name[strcspn(name, " \t\r\n")] = 0;
  memmove(line, name, strlen(name) + 1);
  return *line != 0;
}

static bool static_file(int dir, const char *path) {
  char line[256], next[256];
  for (int i = 0; i <= SCRIPTS_MAX; i++) {
    int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return false;
    bool found = static_program(fd), script = !found && interpreter(fd, line, sizeof line);
    close(fd);
    if (!script) return found;
    path = memcpy(next, line, sizeof next);
  }
  return false;
}

/* Whether the command is a static program. Looks for it as execvpe will. */
bool static_command(const struct options *o) {
  const char *name = o->argv[0], *path = getenv("PATH");
  int dir = o->cwd == NULL ? AT_FDCWD : open(o->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
  bool found = strchr(name, '/') != NULL && static_file(dir, name);
  bool searched = strchr(name, '/') != NULL || *name == 0;
  for (const char *p = path == NULL ? PATH_DEFAULT : path; !searched; p++) {
    size_t length = strcspn(p, ":");
    char file[PATH_MAX];
    int total = snprintf(file, sizeof file, "%.*s%s%s", (int)length, p, length ? "/" : "./", name);
    searched = total < (int)sizeof file && faccessat(dir, file, X_OK, 0) == 0;
    if (searched) found = static_file(dir, file);
    p += length;
    if (*p == 0) break;
  }
  if (dir >= 0) close(dir);
  return found;
}
