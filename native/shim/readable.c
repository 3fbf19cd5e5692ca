/* Whether what a program hands to exec can be read at all. exec answers EFAULT to a pointer into
 * nowhere; a hook that looked at such words would be killed by SIGSEGV. The kernel is asked once
 * per page, for a byte of it. Where it may not be asked, everything counts as readable. */
#include "shim.h"

#ifdef __linux__

enum { PAGE = 4096, KNOWN = 4 };

static int page_readable(uintptr_t page) {
  char byte;
  struct sys_vector to = {&byte, 1}, from = {(const void *)page, 1};
  return SYS6(SYS_process_vm_readv, sys_getpid(), &to, 1, &from, 1, 0) != -EFAULT;
}

/* A list and its texts lie in a few places, which the questions go back and forth between. */
struct pages {
  uintptr_t known[KNOWN]; /* 1, which no page begins at, where there is none */
  unsigned next;
};
#define NO_PAGES {{1, 1, 1, 1}, 0}

static int readable_at(struct pages *pages, const void *at) {
  uintptr_t page = (uintptr_t)at & ~(uintptr_t)(PAGE - 1);
  if (sys_impossible(at)) return 0;
  for (int i = 0; i < KNOWN; i++)
    if (LIKELY(page == pages->known[i])) return 1;
  if (!page_readable(page)) return 0;
  pages->known[pages->next++ % KNOWN] = page;
  return 1;
}

static int text_known(struct pages *pages, const char *text) {
  for (;;) {
    if (!readable_at(pages, text)) return 0;
    const char *end = (const char *)(((uintptr_t)text | (PAGE - 1)) + 1);
    while (text < end && *text != 0) text++;
    if (text < end) return 1;
  }
}

static int list_known(struct pages *pages, char *const *list) {
  if (list == NULL) return 1; /* an empty one, to exec */
  for (;; list++) {
    /* A pointer that lies across two pages is none of a compiler's. */
    if (!readable_at(pages, list) || !readable_at(pages, (const char *)(list + 1) - 1)) return 0;
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
