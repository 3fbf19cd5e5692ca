/* The path of a file with all links resolved, as the kernel resolves them. /proc/self/exe has it,
 * too, but the first look into /proc/self costs a process more than all of this: the kernel makes
 * its entries then, and removes them when the process ends. */
#include "shim.h"

enum { LINKS_MAX = 16, REST_BYTES = 512 };

struct walk {
  char *out; /* no slash at its end */
  size_t length, room;
  char rest[REST_BYTES]; /* what is still to go, after links were put in */
};

static size_t component_length(const char *text) {
  size_t length = 0;
  while (text[length] != 0 && text[length] != '/') length++;
  return length;
}

static void drop_last(struct walk *walk) {
  while (walk->length > 0 && walk->out[--walk->length] != '/') {
  }
  walk->out[walk->length] = 0;
}

static int add_component(struct walk *walk, const char *name, size_t length) {
  if (walk->length + length + 2 > walk->room) return 0;
  walk->out[walk->length] = '/';
  memcpy(walk->out + walk->length + 1, name, length);
  walk->length += length + 1;
  walk->out[walk->length] = 0;
  return 1;
}

/* Puts what a link holds in front of what is still to go. */
static int put_in_front(struct walk *walk, const char *link, size_t length, const char *rest) {
  size_t tail = text_length(rest);
  if (length + 1 + tail + 1 > sizeof walk->rest) return 0;
  for (size_t i = tail + 1; i-- > 0;) walk->rest[length + 1 + i] = rest[i]; /* they may overlap */
  walk->rest[length] = '/';
  memcpy(walk->rest, link, length);
  return 1;
}

/* One component of `*rest`. 0: it cannot be found this way. */
static int step(struct walk *walk, const char **rest, int *links) {
  char link[REST_BYTES];
  while (**rest == '/') ++*rest;
  size_t length = component_length(*rest);
  const char *name = *rest;
  *rest += length;
  if (length == 0 || (length == 1 && name[0] == '.')) return 1;
  if (length == 2 && name[0] == '.' && name[1] == '.') {
    drop_last(walk);
    return 1;
  }
  if (!add_component(walk, name, length)) return 0;
  ssize_type target = sys_readlink(walk->out, link, sizeof link);
  if (target == -EINVAL) return 1; /* not a link */
  if (target <= 0 || target == sizeof link || ++*links > LINKS_MAX) return 0;
  if (link[0] == '/') walk->length = 0;
  else drop_last(walk);
  if (!put_in_front(walk, link, (size_t)target, *rest)) return 0;
  *rest = walk->rest;
  return 1;
}

int path_resolve(const char *path, const char *directory, char *out, size_t room) {
  struct walk walk;
  int links = 0;
  walk.out = out, walk.length = 0, walk.room = room;
  out[0] = 0;
  if (path[0] != '/') {
    walk.length = text_length(directory); /* as getcwd gives it: without links */
    if (directory[0] != '/' || walk.length + 1 > room) return 0;
    if (walk.length == 1) walk.length = 0; /* the root */
    memcpy(out, directory, walk.length);
    out[walk.length] = 0;
  }
  const char *rest = path;
  while (*rest != 0)
    if (!step(&walk, &rest, &links)) return 0;
  return walk.length > 0;
}
