/* What is about to run, seen from outside: a program without a loader, where no shim can be, one
 * that gets another user's rights, whose loader ignores LD_PRELOAD, or one for another machine.
 * Follows `#!` as the kernel does. What cannot be read counts as an ordinary program. */
#include "shim.h"

#ifdef __x86_64__
enum { MACHINE = 62, MACHINE_32 = 3 };
#else
enum { MACHINE = 183, MACHINE_32 = 40 };
#endif
enum {
  HEAD_BYTES = 256, PATH_BYTES = 256, SCRIPTS_MAX = 4, PT_INTERP = 3, CLASS_32 = 1, CLASS_64 = 2,
  REGULAR = 0100000, FILE_TYPE = 0170000, SET_UID = 04000, SET_GID = 02000, GROUP_RUNS = 010
};

static int is_privileged(const struct sys_stat *st) {
  if ((st->mode & SET_UID) && st->uid != sys_getuid()) return 1;
  return (st->mode & SET_GID) && (st->mode & GROUP_RUNS) && st->gid != sys_getgid();
}

/* File capabilities give root nothing new, so the kernel does not set AT_SECURE for them, and the
 * loader obeys LD_PRELOAD (capabilities(7)). */
static int has_capabilities(int fd) {
  return sys_getuid() != 0 && sys_has_capabilities(fd);
}

static uint64_t read_field(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  while (bytes-- > 0) value = value << 8 | at[bytes];
  return value;
}

/* What an ELF file says about itself; its first bytes are in `head`. */
static int read_elf(int fd, unsigned char *head, ssize_type length) {
  int wide = head[4] == CLASS_64, machine = (int)read_field(head + 18, 2);
  if (length < 64 || (head[4] != CLASS_32 && !wide)) return 0;
  int native = wide && machine == MACHINE;
  if (!native && machine != MACHINE && machine != MACHINE_32) return TARGET_FOREIGN;
  uint64_t at = read_field(head + (wide ? 32 : 28), wide ? 8 : 4);
  uint64_t size = read_field(head + (wide ? 54 : 42), 2);
  uint64_t count = read_field(head + (wide ? 56 : 44), 2);
  if (size < 4 || size > HEAD_BYTES || count == 0) return 0;
  uint64_t have = 0; /* where in the file `head` begins */
  for (uint64_t i = 0; i < count; i++, at += size) {
    if (at < have || at + 4 > have + (uint64_t)length) {
      length = sys_pread(fd, head, HEAD_BYTES, (int64_t)at);
      if (length < 4) return 0;
      have = at;
    }
    if (read_field(head + (at - have), 4) == PT_INTERP) return native ? TARGET_NATIVE : 0;
  }
  return TARGET_STATIC;
}

/* The interpreter of a script, in place: `head` becomes its path. */
static int script_interpreter(char *head, ssize_type length) {
  ssize_type from = 2, to = 0;
  while (from < length && (head[from] == ' ' || head[from] == '\t')) from++;
  while (from < length && head[from] != ' ' && head[from] != '\t' && head[from] != '\n')
    head[to++] = head[from++];
  if (to == 0 || from == length) return 0;
  head[to] = 0;
  return 1;
}

/* Only regular files are opened: opening a device, a FIFO or a tape can have effects. */
static int open_regular(int directory, const char *file, int *facts, struct sys_stat *st) {
  int error = sys_stat_at(directory, file, st);
  if (error == -ENOENT || error == -ENOTDIR) *facts |= TARGET_MISSING;
  if (error < 0) return error;
  if ((st->mode & FILE_TYPE) != REGULAR) return -EACCES;
  if (is_privileged(st)) *facts |= TARGET_PRIVILEGED;
  if (*file == 0) return sys_dup(directory);
  return sys_openat(directory, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
}

struct place {
  int directory;
  const char *file;
};

static NOINLINE int look_there(void *about) {
  const struct place *place = about;
  int directory = place->directory;
  const char *file = place->file;
  char head[HEAD_BYTES];
  struct sys_stat st;
  int facts = 0;
  for (int scripts = 0; scripts <= SCRIPTS_MAX; scripts++) {
    int ignored = 0; /* the rights of a script are not used, only those of what runs it */
    int fd = open_regular(directory, file, scripts == 0 ? &facts : &ignored, &st);
    if (fd < 0) return facts;
    ssize_type length = sys_pread(fd, head, sizeof head, 0);
    int script = length > 2 && head[0] == '#' && head[1] == '!';
    if (length > 4 && memcmp(head, "\177ELF", 4) == 0) {
      facts |= read_elf(fd, (unsigned char *)head, length);
      if (has_capabilities(fd)) facts |= TARGET_PRIVILEGED;
      if (scripts == 0 && *file != 0) facts |= TARGET_DIRECT;
    }
    sys_close(fd);
    if (scripts > 0) facts |= ignored;
    if (!script) return facts;
    facts = 0;
    if (!script_interpreter(head, length)) return facts;
    directory = AT_FDCWD, file = head;
  }
  return facts;
}

static int look_at(int directory, const char *file) {
  struct place place = {directory, file};
  int facts = shim_apart(look_there, &place, directory);
  return facts < 0 ? 0 : facts;
}

static const char *search_path(void) {
  for (char **env = env_now(); env != NULL && *env != NULL; env++)
    if (text_starts(*env, "PATH=")) return *env + sizeof "PATH";
  return "/bin:/usr/bin";
}

/* The first that exists, as execvp would find it; 0 when there is none. */
static int find_along(const char *path, const char *file, char *found) {
  size_t name = text_length(file);
  for (;;) {
    size_t length = 0;
    while (path[length] != 0 && path[length] != ':') length++;
    if (length + name + 2 <= PATH_BYTES) {
      memcpy(found, path, length);
      size_t slash = length > 0;
      if (slash) found[length] = '/';
      memcpy(found + length + slash, file, name + 1);
      if (sys_may(found, X_OK)) return 1;
    }
    if (path[length] == 0) return 0;
    path += length + 1;
  }
}

static NOINLINE int look_along(const char *file) {
  char found[PATH_BYTES];
  return find_along(search_path(), file, found) ? look_at(AT_FDCWD, found) : 0;
}

/* A loader that is started by hand runs a program, which gets a shim, or lists its libraries
 * (--list), where ours would be one too many. */
static int look_at_loader(char *const *argv) {
  if (sys_impossible(argv) || argv[0] == NULL || argv[1] == NULL) return 0;
  return text_same(argv[1], "--list") ? TARGET_FOREIGN : 0;
}

int target_look(const struct target *target, char *const *argv) {
  const char *at = target->file;
  if (sys_impossible(at)) return 0;
  if (target->directory == AT_FDCWD && *at == 0) return 0;
  size_t length = text_length(at);
  while (length > 0 && at[length - 1] != '/') length--;
  if (target->search && length == 0) return look_along(at);
  int facts = look_at(target->directory, at);
  int is_loader = text_starts(at + length, "ld-") || text_starts(at + length, "ld.so");
  return is_loader && (facts & TARGET_STATIC) ? look_at_loader(argv) : facts;
}
