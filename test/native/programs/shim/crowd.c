/* `crowd THREADS TIMES`: so many threads call system and popen, while another looks through the
 * environment for variables that the program does not have. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int times, wrong, foreign, done;

static void check(int right) {
  if (!right) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void *call(void *unused) {
  char line[64];
  for (int i = 0; i < times; i++) {
    int status = system("exit 3");
    check(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    FILE *out = popen("echo from inside; exit 4", "r");
    check(out != NULL && fgets(line, sizeof line, out) && !strcmp(line, "from inside\n"));
    status = pclose(out);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 4);
    FILE *in = popen("read x; [ \"$x\" = word ]", "w"), *other = popen("cat", "re");
    fputs("word\n", in);
    check(pclose(in) == 0); /* `other` does not hold it open */
    check(pclose(other) != -1);
  }
  return unused;
}

static void *look(void *unused) {
  while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
    if (getenv("CUFF_TRACE") || getenv("LD_PRELOAD")) foreign++;
    for (char **at = environ; *at != NULL; at++)
      if (!strncmp(*at, "CUFF_TRACE", 10) || !strncmp(*at, "LD_PRELOAD", 10)) foreign++;
  }
  return unused;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  pthread_t callers[64], looker;
  struct sigaction now;
  times = argc > 2 ? atoi(argv[2]) : 1;
  pthread_create(&looker, NULL, look, NULL);
  for (int i = 0; i < threads; i++) pthread_create(&callers[i], NULL, call, NULL);
  for (int i = 0; i < threads; i++) pthread_join(callers[i], NULL);
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  pthread_join(looker, NULL);
  sigaction(SIGINT, NULL, &now);
  printf("%d wrong, %d foreign, SIGINT %s, left %d\n", wrong, foreign,
         now.sa_handler == SIG_DFL ? "as it was" : "changed", waitpid(-1, NULL, WNOHANG));
  return 0;
}
