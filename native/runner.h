/* The runner owns one run: it starts the command, keeps every byte it prints, and says how it
 * ended. Each .c file owns one part; this header is what they share.
 *
 *   runner.c   modes and flags          loop.c     the life of one run
 *   spawn.c    transports               launch.c   starting the command
 *   inherit.c  what the command has from the starter
 *   forward.c  a stream's bytes, in and on
 *   reap.c     ends and stops           record.c   meta, events and final as JSON
 *   capture.c  output.bin and its sync  index.c    index.jsonl
 *   hole.c     head and tail above the cap
 *   proc.c     descendants, survivors   kill.c     TERM, grace, KILL
 *   orders.c   orders and messages      tty.c      the outer terminal
 *   serve.c    many runs, one server    text.c     strings, time, JSON
 *   socket-eof.c  the end of a socket   send.c     sending where a sandbox forbids it
 *   deferred-sync.c  syncs captures after the answer
 *   sh.h       the same program as the shell of an agent
 *
 * and when it is traced (traced.h):
 *
 *   trace.c    trace.bin, its frames    facts.c    frames about a process
 *   writers.c  unreported writers       follow.c   static programs, by ptrace
 *   program.c  which files are static   pids.c     a map from pids
 *   environment.c  for the command      inject.c   for children of static programs
 *   secrets.c  values to leave out      words.c    argv and variables without them
 *   gate.c     programs that may not begin
 */
#ifndef CUFF_RUNNER_H
#define CUFF_RUNNER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <sys/types.h>
#include <termios.h>

#define READ_MAX 65536        /* one read, and the most one index record covers */
#define INDEX_DELAY_MS 50     /* an index record never waits longer than this for more data */
#define NAP_US 200           /* how long small writes are left to gather in a stream */
#define HOLD_MS 4             /* a short run says that it started and ended in one message */
#define DRAIN_MS 100          /* how long survivors may hold up the answer */
#define SYNC_BYTES (8u << 20) /* sync after this much, or after SYNC_MS, off the hot path */
#define SYNC_MS 1000
#define GRACE_MS 2000
#define KILL_GIVE_UP_MS 3000 /* processes in uninterruptible sleep ignore KILL: report, go on */
#define PROCESSES_MAX 4096
#define ID_MAX 128
#define INHERIT_MAX 1024 /* files beyond 0-3 that the command inherits through us */
#define FILE_NAME_MAX 64 /* of `pipe:[..]`, `socket:[..]` or `/dev/pts/..` */
#define SHARES_MAX 256   /* stretches of different writers in one read */
#define LINE_MAX_BYTES 512    /* of a line of the index */
#define LINES_DUE_MAX 32768   /* bytes of such lines that wait to be written */
#define HOLE_CAP_MIN (256u << 10) /* with a smaller cap only the head is kept */
#define HOLE_STEPS 8          /* parts of the cap, of which one at a time is given back */
#define MARKS_MAX 16          /* steps of the tail whose place in the index is remembered */
#define TYPED_MAX (16u << 20) /* of input that the command has not read yet */

enum transport { T_PIPE, T_MERGED, T_SOCKET, T_PTY };
enum stdin_mode { IN_NULL, IN_INHERIT, IN_ORDERS };
enum session_mode { S_OWN, S_AUTO, S_GROUP };
enum cause { BY_ITSELF, BY_TIMEOUT, BY_KILL, BY_SHUTDOWN, BY_CANCELLED, BY_CAPTURE };

struct options {
  const char *id;
  const char *dir; /* of the capture; NULL runs without recording */
  const char *cwd;
  enum transport transport;
  enum stdin_mode in;
  enum session_mode session;
  bool forward;   /* copy output to our own fd 1 and fd 2, keys from the outer terminal */
  bool strict;    /* end the run when it cannot be recorded */
  bool sync;      /* everything is on disk before the answer */
  uint64_t sync_from; /* less output than this is synced right after the answer */
  bool may_hang;  /* some mounts may not answer, so the loop does not wait for the start */
  bool serve;     /* forked by `runner serve`: fd 3 is shared with others */
  pid_t server;   /* the pid of `runner serve` */
  bool held;      /* the command starts when its starter permits it (serve.c) */
  long kill_after_ms;
  long grace_ms;
  uint64_t cap;
  int cols, rows;
  const char *trace;     /* where the shim is; NULL runs without tracing */
  const char *trace_env; /* variables whose values may be kept, with commas between them */
  bool follow;           /* follow static programs, if the kernel allows it */
  bool stamps;           /* merged output is a socket, on which the kernel names the writer */
  bool trace_frames;     /* false: no frames are written, the shim only asks the gate */
  const char *gate;      /* the socket that is asked before a program begins, or NULL */
  bool gate_strict;      /* a program does not begin without the answer of the gate */
  const char *program; /* the file to execute; NULL: argv[0], looked for in PATH */
  char **argv;
};

/* A growing or fixed text; writes past the end are cut and remembered. */
struct text {
  char *data;
  size_t length, size;
  bool cut;
};

struct process {
  pid_t pid;
  unsigned long long start;
  char command[256];
  bool holds;
};

enum channel { C_OUT, C_ERR, C_PTY };

/* Bytes that one process wrote; its pid is 0 if the transport does not name it. */
struct share {
  pid_t writer;
  size_t length;
};

struct stream {
  int fd; /* read side; -1 once closed */
  enum channel channel;
  bool stamped; /* a socket, on which the kernel names the writer */
  struct share shares[SHARES_MAX];
  int share_count;
  char name[FILE_NAME_MAX]; /* of the command's side in /proc/PID/fd, to find its holders */
  int forward;                      /* -1 once closed or never wanted */
  enum forward_kind { F_OWN, F_SOCKET, F_FILE, F_SHARED } forward_kind;
  size_t sent, filled; /* the part of buffer that is still to be forwarded */
  size_t due;          /* bytes that were in it when the command ended, still to be read */
  int64_t read_at;     /* when something was read last */
  int crumbs;          /* how many small reads came directly one after another */
  unsigned char *buffer;
};

struct capture {
  const char *id;
  int dir, output, index, events, lock, final;
  bool on;     /* there is a capture directory to write to */
  bool paused; /* the last write failed: bytes are being lost */
  bool index_torn, events_torn; /* the last line there has no end yet */
  uint64_t offset, cap, lost, lost_at, lost_total;
  const char *reason;
  enum { HOLE_UNTRIED, HOLE_WORKS, HOLE_CANNOT } holes; /* whether the middle can be given back */
  uint64_t hole_from, hole_to;             /* of output.bin; equal when there is none */
  uint64_t index_hole_from, index_hole_to; /* of index.jsonl */
  uint64_t marks[MARKS_MAX]; /* where in index.jsonl the record of a step's first byte begins */
  uint64_t bytes[2], lines[2];
  /* the index record being gathered */
  uint64_t at_offset, length, newlines;
  enum channel channel;
  pid_t writer;
  int64_t since_ms, stamp_ms, t_ms; /* when it began: by both clocks */
  int64_t zero_ms;                  /* when the command began, on the monotonic clock */
  char due[LINES_DUE_MAX]; /* lines not written yet, while more data is waiting */
  size_t due_length;
  /* sync */
  uint64_t unsynced;
  int64_t unsynced_since;
  int syncing;     /* atomic: a sync thread is at work */
  int meta_synced; /* atomic: meta.json is on disk as it will stay */
  int sync_index;  /* for that thread: the main one goes on meanwhile */
  bool sync_output;
};

struct run {
  struct options *o;
  struct capture capture;
  struct stream streams[2];
  int stream_count;
  int signals; /* signalfd */
  int orders;  /* the FIFO in the capture directory */
  int control; /* the starter, fd 3; -1 when gone */
  bool listens; /* it may give orders there */
  int keyboard;      /* the outer terminal, where keys come from */
  int master, slave; /* pty */
  int input;         /* where keys and stdin orders go: the master, or a pipe */
  sigset_t old_mask;
  mode_t old_umask; /* the command's; with some, we could not open our own files */
  int inherit[INHERIT_MAX], inherited;
  pid_t pid;
  unsigned long long start;
  bool own_group; /* the command leads a process group of its own */
  int status;
  bool exited, answered, ended, stopped, children;
  bool starting; /* the command is not executed yet, and may never be */
  int failed;    /* what we end with when it was not */
  bool sync;    /* all is on disk before the answer */
  bool late;    /* or after the last message, together with other runs */
  bool named;   /* our own pid is in meta.json */
  bool visible; /* others can see its pids and give it orders */
  bool hurry;  /* it is to end: we do not wait for a reader that does not read */
  bool killed_all; /* no process of the run is left that could hold the streams */
  enum cause cause;
  int64_t began, took; /* on the monotonic clock; of the command, in milliseconds */
  int64_t exit_at, drain_until, kill_at, front_at;
  /* killing */
  int kill_step; /* 0 none, 1 first signal sent, 2 KILL sent */
  int64_t kill_until;
  int kill_signal;
  enum cause kill_cause;
  pid_t killed[PROCESSES_MAX];
  int killed_count;
  int64_t group_signal_at[65]; /* when the whole group got this signal: command, starter, us */
  char pending[8192];           /* messages to the starter that did not fit yet */
  size_t pending_length;
  bool hold; /* more follows soon: do not send yet */
  int64_t hold_until;
  unsigned char *typed; /* keys or stdin orders on their way to the command */
  size_t typed_sent, typed_filled, typed_size;
  bool typed_end;
  char order[8192];
  size_t order_length;
  char control_order[8192];
  size_t control_order_length;
};

/* text.c */
int64_t now_ms(void);      /* monotonic */
int64_t wall_ms(void);     /* since 1970 */
void text_init(struct text *t, char *data, size_t size);
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_json(struct text *t, const char *bytes, size_t length);
void text_time(struct text *t, int64_t ms);
const char *signal_name(int signal);
int signal_number(const char *name);
const char *errno_name(int error);
void one_line(char *text, size_t length);
bool write_all(int fd, const void *data, size_t length);
bool parse_number(const char *text, long long low, long long high, long long *out);

/* send.c */
bool forbidden(int error);
ssize_t write_careful(int fd, const void *data, size_t length);
ssize_t send_quietly(int fd, const void *data, size_t length, bool wait);

/* capture.c */
int capture_open(struct capture *c, const struct options *o);
int open_in(struct capture *c, const char *name, int flags);
bool write_line(int fd, bool *torn, const char *line, size_t length);
void capture_append(struct capture *c, const struct stream *s);
void capture_sync_tick(struct capture *c, int64_t now);
void capture_sync(struct capture *c);
void capture_sync_begin(struct capture *c);
void capture_sync_late(struct capture *c);
void event_begin(struct text *t, const char *type, uint64_t offset);
void capture_event(struct capture *c, const struct text *line);
void capture_retry_gap(struct capture *c);
int capture_replace(struct capture *c, int *reserved, const char *name, const char *temp,
                    const char *data, size_t length, bool sync);

/* hole.c */
size_t capture_room(struct capture *c, size_t length);
void hole_mark(struct capture *c, uint64_t offset, uint64_t length);

/* index.c */
void index_gather(struct capture *c, const struct stream *s, size_t from, size_t length);
void capture_flush_index(struct capture *c);
int capture_index_wait(const struct capture *c, int64_t now);

/* record.c */
const char *cause_name(enum cause cause);
void record_started(struct run *r);
void record_event(struct run *r, const char *type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void record_survivors(struct run *r, const struct process *list, int count);
void record_final(struct run *r, const struct process *list, int count, bool closed, int error,
                  const char *message);

/* proc.c */
ssize_t read_file(const char *path, char *data, size_t size);
bool process_stat(pid_t pid, char *state, pid_t *parent, unsigned long long *start);
bool waited_for_none(pid_t pid);
uint32_t own_peak(void);
unsigned long long process_start(pid_t pid);
bool is_descendant(pid_t pid);
bool file_name(pid_t pid, const char *fd, char *name, size_t size);
int descendants(pid_t root, struct process *list, int max);
void describe(struct run *r, struct process *p);
int survivors(struct run *r, struct process *list, int max);

/* socket-eof.c */
void refuse_writers(struct stream *s);

/* kill.c */
void signal_process(const struct process *p, int signal);
void kill_begin(struct run *r, int signal, long grace_ms, enum cause cause);
bool kill_tick(struct run *r, int64_t now);

/* spawn.c */
struct ends { /* what the command gets as its fds 0, 1 and 2; ours to close once it runs */
  int in, out, err;
};
int spawn(struct run *r, const char **stage);

/* inherit.c */
void fill_standard_streams(void);
int inherited_files(int *list, int max);
bool has_third_file(void);
void keep_third_file(void);
void set_signal(int number, void (*handler)(int));
void give_back_signals(void);
void give_back_files(bool streams);

/* launch.c */
int launch(struct run *r, const struct ends *e, char **variables, const char **stage);
int launch_fd(void);
bool launch_ended(pid_t pid, int status);
int start_failed(struct run *r, int error, const char *stage);
void say_started(struct run *r);
void start_over(struct run *r, int error);

/* reap.c */
void mark_due(struct run *r);
void command_ended(struct run *r, int status);
void reap(struct run *r);

/* forward.c */
ssize_t stream_read(struct stream *s, bool terminal);
void forward_open(struct stream *s, int fd);
bool forward_some(struct stream *s);
void stream_empty(struct stream *s);
void stream_close(struct stream *s);

#include "traced.h"

/* orders.c */
void orders_begin(struct run *r);
bool orders_begun(struct run *r);
void orders_open(struct run *r);
void orders_read(struct run *r, int fd, char *buffer, size_t *length);
void say(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void say_pending(struct run *r);
void say_last(struct run *r);
void say_held(struct run *r);
void deliver(struct run *r, int signal, const char *from);
bool typed_add(struct run *r, const unsigned char *data, size_t length);

/* tty.c */
int tty_open_outer(void);
void tty_save(int fd);
const struct termios *tty_saved(void);
void tty_raw(struct run *r);
void tty_restore(void);
void tty_leave(struct run *r);
bool tty_ours(struct run *r);
bool tty_waits(const struct run *r);
bool tty_gone(void);
void tty_recorded(struct run *r);
void tty_resize(struct run *r, int cols, int rows);
bool tty_size(int fd, int *cols, int *rows);
int tty_restore_main(const char *hex);

/* deferred-sync.c */
#define EXIT_UNSYNCED 3 /* a served runner that leaves the sync of its capture to its server */
void deferred_add(const char *dir);
int deferred_wait_ms(void);
void deferred_tick(void);
void deferred_end(void);

/* loop.c, serve.c and runner.c */
int run_main(struct options *o);
int serve_main(void);
bool serve_permits(void);
int parse_options(struct options *o, int argc, char **argv, char *problem, size_t size);
int end_like(int status);

#endif
