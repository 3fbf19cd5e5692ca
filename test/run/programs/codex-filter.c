/* `codex-filter [--no-messages] PROGRAM [ARG...]` starts a program behind the seccomp filter that
 * Codex puts in front of a command without network: the system calls of sockets, ptrace and
 * io_uring fail with EPERM; write and sendmsg work. --no-messages: sendmsg and recvmsg fail, too,
 * as in its first versions. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) \
  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSED (SECCOMP_RET_ERRNO | EPERM)

static const int DENIED[] = {
    SYS_connect,     SYS_accept,     SYS_accept4,    SYS_bind,           SYS_listen,
    SYS_getpeername, SYS_getsockname, SYS_shutdown,  SYS_sendto,         SYS_sendmmsg,
    SYS_recvmmsg,    SYS_getsockopt, SYS_setsockopt, SYS_ptrace,         SYS_io_uring_setup,
    SYS_io_uring_enter, SYS_io_uring_register,       SYS_sendmsg,        SYS_recvmsg};
#define MESSAGES 2 /* how many of them only --no-messages denies: the last */

static struct sock_filter filter[128];
static unsigned short length;

static void add(struct sock_filter one) { filter[length++] = one; }

/* Refuses a call whose number is `number`; `but_unix`: only for families other than AF_UNIX. */
static void refuse(unsigned number, int but_unix) {
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, but_unix ? 4 : 1));
  if (but_unix) {
    add((struct sock_filter)LOAD(args[0]));
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1));
    add((struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
  }
  add((struct sock_filter)ANSWER(REFUSED));
}

int main(int argc, char **argv) {
  int all = argc > 1 && strcmp(argv[1], "--no-messages") == 0;
  int count = (int)(sizeof DENIED / sizeof *DENIED) - (all ? 0 : MESSAGES);
  add((struct sock_filter)LOAD(nr));
  for (int i = 0; i < count; i++) refuse((unsigned)DENIED[i], 0);
  refuse(SYS_socket, 1);
  refuse(SYS_socketpair, 1);
  add((struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
  struct sock_fprog program = {.len = length, .filter = filter};
  if (argc < 2 + all || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("codex-filter");
    return 125;
  }
  execvp(argv[1 + all], argv + 1 + all);
  perror(argv[1 + all]);
  return 127;
}
