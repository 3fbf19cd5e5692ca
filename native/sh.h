/* The shell that records, as a program: a copy of the runner that is called `bash` or `zsh`. It
 * stands where an agent expects a shell, and decides which calls are recorded.
 *
 *   sh.c        which calls are recorded; what the helper answers
 *   sh-words.c  options of a shell, the real shell, the environment without what is ours
 *   sh-helper.c the helper that decides and writes the entry: one that stays, or a new one
 *   sh-world.c  which calls a helper that stays may serve
 *   sh-note.c   the note of a command that ran unrecorded
 *   sh-run.c    one recorded call: the runner as a child, signals, the end
 */
#ifndef CUFF_SH_H
#define CUFF_SH_H

#include "runner.h"

#include <limits.h>

#define SH_VARIABLES_MAX 64
#define SH_NAME_MAX 64

/* What `cuff init` has written beside us, in the file `client`. */
struct installation {
  char root[PATH_MAX];   /* the state root */
  char shells[PATH_MAX]; /* the directory that we are in */
  char self[PATH_MAX];
  char node[PATH_MAX];
  char cuff[PATH_MAX];
  char variables[SH_VARIABLES_MAX][SH_NAME_MAX]; /* one of them is set by every agent */
  int variable_count;
  bool strict;   /* what cannot be recorded does not run */
  bool enforced; /* a policy of the user or the system is: what cannot be judged does not run */
  int helper_ms; /* so long the helper may take to answer, and to write the entry */
  int hello_ms;  /* so long one that stays may take for its first word */
  char idle_ms[16]; /* how long one stays without a call; empty: as it thinks best */
};

struct call {
  const char *name; /* bash or zsh */
  const char *text; /* of -c; NULL without one */
  bool interactive;
  char **argv;      /* as the real shell gets it */
  char real[PATH_MAX];
  char **environment; /* as the real shell gets it */
  int helper_ms;
};

/* Bytes that grow. */
struct growing {
  char *bytes;
  size_t length, size;
  bool failed; /* there is no memory */
};

/* What a helper has to know of a call. */
struct request {
  struct growing text;
  char name[32]; /* of the socket where a helper may stay; empty: nowhere */
};

/* sh-words.c */
bool find_installation(struct installation *here, const char **name);
void parse_shell_options(struct call *c, int argc, char **argv);
bool find_real_shell(struct call *c, const struct installation *here);
bool comes_back(const struct call *c, const struct installation *here);
char **user_environment(const struct call *c, const struct installation *here);

/* sh-world.c */
char **helper_environment(void);
void add_bytes(struct growing *to, const void *bytes, size_t length);
void add_word(struct growing *to, const char *word);
bool add_world(struct growing *to, const struct installation *here);
uint64_t hash_of(const char *bytes, size_t length);

/* sh-helper.c */
#define NO_HELPER (-2) /* what would be started is not there */
bool make_request(struct request *made, const struct installation *here, const struct call *c);
int resident_helper(const struct installation *here, const struct request *request);
int own_helper(const struct installation *here, const struct request *request, int64_t until);

/* sh-note.c */
void note_unrecorded(const struct installation *here, const char *why);

/* sh-run.c */
int run_recorded(struct call *c, int helper, char **words, int count, bool direct);

/* sh.c */
int sh_main(struct installation *here, const char *name, int argc, char **argv);
bool read_until(int fd, int64_t until, char *byte);
bool read_line(int fd, int64_t until, char *line, size_t size);

#endif
