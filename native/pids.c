/* A map from pids to what is known about them. Open addressing, nothing allocated while empty. */
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_FIRST 64

/* Where this pid is, or would be put. */
static size_t place_of(const struct pid_map *m, pid_t pid) {
  size_t at = (uint32_t)pid * 2654435761u & (m->size - 1);
  while (m->list[at].pid != 0 && m->list[at].pid != pid) at = (at + 1) & (m->size - 1);
  return at;
}

struct known *pids_find(struct pid_map *m, pid_t pid) {
  if (m->count == 0) return NULL;
  struct known *k = &m->list[place_of(m, pid)];
  return k->pid == pid ? k : NULL;
}

static bool grow(struct pid_map *m) {
  struct pid_map larger = {.size = m->size == 0 ? SIZE_FIRST : m->size * 2, .count = m->count};
  larger.list = calloc(larger.size, sizeof *larger.list);
  if (larger.list == NULL) return false;
  for (size_t i = 0; i < m->size; i++)
    if (m->list[i].pid != 0) larger.list[place_of(&larger, m->list[i].pid)] = m->list[i];
  free(m->list);
  *m = larger;
  return true;
}

/* The entry of this pid, or a new one, all zero but for its pid; NULL without memory. Entries may
 * move, so pointers from before must not be used any more. */
struct known *pids_add(struct pid_map *m, pid_t pid) {
  struct known *there = pids_find(m, pid);
  if (there != NULL) return there;
  if ((m->count + 1) * 2 > m->size && !grow(m)) return NULL;
  struct known *k = &m->list[place_of(m, pid)];
  memset(k, 0, sizeof *k);
  k->pid = pid;
  m->count++;
  return k;
}

/* Entries behind it move up, because a search stops at the first free place. */
void pids_remove(struct pid_map *m, pid_t pid) {
  struct known *k = pids_find(m, pid);
  if (k == NULL) return;
  k->pid = 0;
  m->count--;
  for (size_t at = (size_t)(k - m->list + 1) & (m->size - 1); m->list[at].pid != 0;
       at = (at + 1) & (m->size - 1)) {
    struct known moved = m->list[at];
    m->list[at].pid = 0;
    m->list[place_of(m, moved.pid)] = moved;
  }
}

void pids_clear(struct pid_map *m) {
  free(m->list);
  *m = (struct pid_map){0};
}
