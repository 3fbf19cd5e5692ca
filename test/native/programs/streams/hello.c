/* A plain dynamic program: what it needs of the system is what any needs. */
#include <stdio.h>

int main(void) {
  puts("hello");
  return 7;
}
