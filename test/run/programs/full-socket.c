/* `full-socket PROGRAM [ARG...]` starts a program whose fd 3 is a socket that is full already. Once
 * its own input ends it prints what the program sends there, and ends with it. */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char data[4096] = {0};
  int pair[2], small = 4096;
  if (argc < 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
  setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  while (send(pair[0], "\n", 1, MSG_DONTWAIT) == 1) continue;
  if (fork() == 0) {
    close(pair[1]);
    if (pair[0] != 3) dup2(pair[0], 3);
    if (pair[0] != 3) close(pair[0]);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  close(pair[0]);
  while (read(0, data, sizeof data) > 0) continue;
  for (ssize_t n; (n = read(pair[1], data, sizeof data)) > 0;)
    if (write(1, data, (size_t)n) != n) return 1;
  return 0;
}
