/* Whether what a program hands to exec can be read at all. exec answers EFAULT to a pointer into
 * nowhere; a hook that looked at such words would be killed by SIGSEGV. So the kernel is asked
 * first, by calls that fail in any case: EFAULT says that it could not read, every other error that
 * it could. Once per page.
 *
 * process_vm_readv would be the plain question, but containers may forbid it (EPERM), and it pins
 * what it reads: in the child of a fork the kernel then copies every page (10 microseconds for
 * three). Both calls below read no byte that exec would not read, so that valgrind finds nothing
 * wrong with them. */
#include "shim.h"

#ifdef __linux__

enum { PAGE = 4096, KNOWN = 4, NO_MASK_CHANGE = -1, NO_DIRECTORY = -1 };

/* A list and its texts lie in a few places, which the questions go back and forth between. */
struct pages {
  uintptr_t known[KNOWN]; /* 1, which no page begins at, where there is none */
  unsigned next;
};
#define NO_PAGES {{1, 1, 1, 1}, 0}

static uintptr_t page_of(const void *at) { return (uintptr_t)at & ~(uintptr_t)(PAGE - 1); }

static int is_known(const struct pages *pages, const void *at) {
  for (int i = 0; i < KNOWN; i++)
    if (LIKELY(page_of(at) == pages->known[i])) return 1;
  return 0;
}

static int note(struct pages *pages, const void *at, long answer) {
  if (answer == -EFAULT) return 0;
  pages->known[pages->next++ % KNOWN] = page_of(at);
  return 1;
}

/* rt_sigprocmask(2) copies the 8 bytes of the mask before it finds that it does not know what to do
 * with it (EINVAL). */
static int pointer_known(struct pages *pages, char *const *at) {
  if (sys_impossible(at)) return 0;
  /* One that lies across two pages is none of a compiler's, and asked for each time. */
  if (is_known(pages, at) && is_known(pages, (const char *)(at + 1) - 1)) return 1;
  return note(pages, at, SYS4(SYS_rt_sigprocmask, NO_MASK_CHANGE, at, 0, 8));
}

/* symlinkat(2) copies the text that the link would hold, up to its NUL or 4096 bytes of it, before
 * it finds that there is no directory to make the link in (EBADF). */
static int text_begins(struct pages *pages, const char *text) {
  if (sys_impossible(text)) return 0;
  if (is_known(pages, text)) return 1;
  return note(pages, text, SYS3(SYS_symlinkat, text, NO_DIRECTORY, "link"));
}

static int text_known(struct pages *pages, const char *text) {
  for (;;) {
    if (!text_begins(pages, text)) return 0;
    const char *end = (const char *)(((uintptr_t)text | (PAGE - 1)) + 1);
    while (text < end && *text != 0) text++;
    if (text < end) return 1;
  }
}

static int list_known(struct pages *pages, char *const *list) {
  if (list == NULL) return 1; /* an empty one, to exec */
  for (;; list++) {
    if (!pointer_known(pages, list)) return 0;
    if (*list == NULL) return 1;
    if (!text_known(pages, *list)) return 0;
  }
}

int text_readable(const char *text) {
  struct pages pages = NO_PAGES;
  return text_known(&pages, text);
}

int exec_readable(const struct exec_call *call) {
  struct pages pages = NO_PAGES;
  return text_known(&pages, call->target.file) && list_known(&pages, call->argv) &&
         list_known(&pages, call->env);
}

#else /* there is no such call */

int text_readable(const char *text) { return !sys_impossible(text); }
int exec_readable(const struct exec_call *call) { return !sys_impossible(call->target.file); }

#endif
