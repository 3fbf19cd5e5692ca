/* What the parts of a traced run share; runner.h includes it where its own types are known. */
#ifndef CUFF_TRACED_H
#define CUFF_TRACED_H

/* trace.c */
bool trace_on(void);
bool trace_follows(void);
void trace_begin(struct run *r);
void trace_ready(struct run *r, const struct ends *e);
void trace_recorded(struct run *r);
int trace_file(void);
const char *trace_path(void);
const char *trace_shim(void);
const struct trace_header *trace_header(void);
bool trace_keeps(const char *variable);
uint64_t trace_now(void);
void trace_frame(int type, int flags, uint64_t at_ns, pid_t pid);
void trace_put(const void *data, size_t length);
void trace_write(void);
void trace_relay(const char *hex);
struct rusage;
void trace_reap(pid_t child, int status, int from, const struct rusage *used);
void trace_sync(bool wait);
void trace_end(void);

/* environment.c */
#define VARIABLES_ADDED 3
char **traced_environment(void);
bool is_added(int which, const char *variable);
char *added_variable(int which, const char *had);
void shim_learn(void);
bool shim_intact(const char *root);

/* inject.c */
bool inject(pid_t pid);

/* gate.c */
struct gate_line {
  char text[320]; /* with its end */
};
bool gate_refuses(pid_t pid, struct gate_line *why);
void gate_end(pid_t pid, const struct gate_line *why);

/* secrets.c */
struct words {
  char **list;
  uint32_t count;
  bool cut; /* there are more */
};
struct secret {
  const char *name, *value;
  size_t name_length, length;
};
bool secret_name(const char *name, size_t length);
void secrets_learn(const struct words *entries);
bool secrets_unknown(void);
const struct secret *secret_at(const char *text);
void secrets_tell(const struct words *argv, struct text *to);

/* words.c */
#define KEPT_MAX (16u << 10)
struct kept { /* words, each with its NUL */
  char data[KEPT_MAX];
  size_t length;
  uint32_t words;
  bool cut, redacted;
};
void kept_init(struct kept *k);
void keep_word(struct kept *k, const char *word, bool is_script);
void keep_words(struct kept *k, const struct words *argv);
void keep_variables(struct kept *k, const struct words *env);

/* facts.c */
void environment_of(pid_t pid, struct words *out);
void arguments_of(pid_t pid, struct words *out);
void facts_command(struct run *r, uint64_t at_ns);
bool facts_start(pid_t pid, int flags, uint64_t *start_ticks);
bool facts_fork(pid_t pid);
bool is_thread(pid_t pid);
pid_t inner_pid(pid_t pid);

/* writers.c */
void writers_note(const struct stream *s);

/* program.c */
bool static_program(int fd);
bool traces_others(int fd);
bool linked_with_asan(int fd);
bool static_command(const struct options *o);

/* follow.c */
bool follow_possible(void);
bool follow_any(void);
bool follow_seize(pid_t pid);
void follow_first(pid_t pid);
void follow_order(const char *rest);
void follow_meet(const char *rest);
void follow_release(const char *rest);
bool follow_stopped(pid_t pid, int status);
void follow_ending(pid_t pid);
int follow_ended(pid_t pid);

/* pids.c */
struct pid_map {
  struct known *list;
  size_t size, count; /* size is a power of two */
};
struct known {
  pid_t pid; /* 0: a free place */
  uint64_t start;
  int64_t checked; /* writers.c: when its start time was last looked at */
  bool thread;     /* follow.c: of a process that we follow as well */
  bool late;       /* it may have begun its program before we came */
  bool leaving;    /* it is let go at its next stop */
};
struct known *pids_find(struct pid_map *m, pid_t pid);
struct known *pids_add(struct pid_map *m, pid_t pid);
void pids_remove(struct pid_map *m, pid_t pid);
void pids_clear(struct pid_map *m);

#endif
