/* What the command has from its starter, as if no runner stood between the two: open files, closed
 * streams, file 3 where the runner's control is, and signals that are ignored. */
#include "runner.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define THIRD 3 /* of the starter of an agent's shell; ours is the control socket */

static bool closed[3];
static int third = -1; /* where it waits */
static sigset_t ignored, ours;

/* A file of ours in place of a closed stdin, stdout or stderr would be closed by what puts the
 * command's streams there. */
void fill_standard_streams(void) {
  int fd;
  while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd < 3) closed[fd] = true;
  if (fd >= 3) close(fd);
}

/* Open files beyond 0 to 3, before we have opened any of our own: the command gets them, as it
 * would from its own parent (a make jobserver, `5<file`), and we let go of them then. */
int inherited_files(int *list, int max) {
  DIR *fds = opendir("/proc/self/fd");
  if (fds == NULL) return 0;
  int count = 0;
  struct dirent *entry;
  while (count < max && (entry = readdir(fds)) != NULL) {
    int fd = atoi(entry->d_name);
    if (fd > 3 && fd != dirfd(fds)) list[count++] = fd;
  }
  closedir(fds);
  return count;
}

/* The starter's file 3; ours are all closed by an exec. */
bool has_third_file(void) { return fcntl(THIRD, F_GETFD) == 0; }

/* Before ours comes to its place. */
void keep_third_file(void) {
  if (has_third_file()) third = fcntl(THIRD, F_DUPFD_CLOEXEC, THIRD + 1);
}

/* For us, and not for the command. */
void set_signal(int number, void (*handler)(int)) {
  if (signal(number, handler) == SIG_IGN) sigaddset(&ignored, number);
  sigaddset(&ours, number);
}

/* In the child, before the exec: nothing but system calls. The exec resets handlers, and leaves
 * ignored signals as they are. */
void give_back_signals(void) {
  for (int number = 1; number < NSIG; number++)
    if (sigismember(&ours, number) == 1)
      signal(number, sigismember(&ignored, number) == 1 ? SIG_IGN : SIG_DFL);
}

/* In the child, when its streams are in their places. `streams`: they lead to those of the starter,
 * and not only to the capture. */
void give_back_files(bool streams) {
  if (third >= 0) dup2(third, THIRD);
  for (int fd = 0; streams && fd < 3; fd++)
    if (closed[fd]) close(fd);
}
