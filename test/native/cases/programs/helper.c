/* The helper of the end-to-end scenarios: says a line on each stream. With AH_SHELL_TEST_LOG it
 * also appends a breadcrumb to that file, which nobody else looks at. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

static void breadcrumb(const char *text) {
  const char *path = getenv("AH_SHELL_TEST_LOG");
  FILE *log = path ? fopen(path, "ae") : NULL;
  if (!log) return;
  fprintf(log, "helper: %s\n", text);
  fclose(log);
}

int main(int argc, char **argv) {
  breadcrumb("started");
  printf("helper out %s\n", argc > 1 ? argv[1] : "");
  fflush(stdout);
  fprintf(stderr, "helper err\n");
  breadcrumb("ends");
  return argc > 2 ? atoi(argv[2]) : 0;
}
