/* Stands in for the shim: asks the runner to follow, then becomes the program in its arguments.
 *   asker PROGRAM [ARG...]       says on stderr what was answered
 *   asker -late PROGRAM ...      asks for an address where nobody waits, and does not wait
 *   asker -bare PROGRAM ...      asks, and hands on no environment
 *   asker -other PID PROGRAM ... asks for another process
 *   asker -fail PROGRAM ...      asks, starts nothing, asks to be released, then goes on */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void order(const char *text) {
  char path[4096];
  snprintf(path, sizeof path, "%s", getenv("CUFF_TRACE"));
  strcpy(strrchr(path, '/') + 1, "control");
  int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) perror("control");
  if (fd >= 0) close(fd);
}

int main(int count, char **words) {
  static volatile uint64_t word __attribute__((aligned(8)));
  uint32_t cookie = (uint32_t)getpid() | 0x80000000u;
  int pid = getpid(), late = 0, fail = 0, bare = 0;
  if (count < 2) return 2;
  if (strcmp(words[1], "-late") == 0) late = 1, words++;
  else if (strcmp(words[1], "-fail") == 0) fail = 1, words++;
  else if (strcmp(words[1], "-bare") == 0) bare = 1, words++;
  else if (strcmp(words[1], "-other") == 0) pid = atoi(words[2]), words += 2;
  char text[128];
  word = late ? 0 : (uint64_t)cookie << 32;
  snprintf(text, sizeof text, "seize %d %llu %u\n", pid, (unsigned long long)(uintptr_t)&word,
           cookie);
  order(text);
  /* Much longer than the shim would: what is tested is the answer, not how soon it comes. */
  int slices = pid == getpid() ? 10000 : 50;
  for (int i = 0; !late && i < slices && (uint32_t)word == 0; i++) {
    struct timespec slice = {0, 2000000};
    syscall(SYS_futex, &word, FUTEX_WAIT, 0, &slice, NULL, 0);
  }
  if (!late) fprintf(stderr, "answer %u\n", (uint32_t)word);
  word = 0;
  if (fail) {
    execl("/dev/null/none", "none", (char *)NULL);
    snprintf(text, sizeof text, "release %d\n", pid);
    order(text);
  }
  if (bare) clearenv();
  execvp(words[1], words + 1);
  return 127;
}
