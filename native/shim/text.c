/* Bytes and strings without a libc. The three mem functions are here because compilers call them
 * for what looks like them. Byte by byte: a checker inside the process (valgrind) must never see
 * a look behind the end of a string. */
#include "shim.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns") /* memcpy must not become memcpy */
#endif

void *memcpy(void *to, const void *from, size_t n) {
  unsigned char *t = to;
  const unsigned char *f = from;
  for (size_t i = 0; i < n; i++) t[i] = f[i];
  return to;
}

void *memset(void *to, int value, size_t n) {
  unsigned char *t = to;
  for (size_t i = 0; i < n; i++) t[i] = (unsigned char)value;
  return to;
}

int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a, *y = b;
  for (size_t i = 0; i < n; i++)
    if (x[i] != y[i]) return x[i] - y[i];
  return 0;
}

size_t text_length(const char *text) {
  size_t n = 0;
  while (text[n] != 0) n++;
  return n;
}

int text_same(const char *a, const char *b) {
  while (*a != 0 && *a == *b) a++, b++;
  return *a == *b;
}

int text_starts(const char *text, const char *start) {
  while (*start != 0 && *text == *start) text++, start++;
  return *start == 0;
}

size_t text_number(char *to, uint64_t value) {
  char digits[21];
  size_t n = 0;
  do digits[n++] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  for (size_t i = 0; i < n; i++) to[i] = digits[n - 1 - i];
  to[n] = 0;
  return n;
}
