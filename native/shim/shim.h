/* The inside of the shim: the library that is preloaded into every process of a traced run. It has
 * no libc of its own: system calls are raw (sys.h), functions of the process's libc are weak
 * imports or looked up when they are needed. There is no malloc, no lock to wait for, no
 * thread-local storage, and a hook takes less than 1.2 KB of stack: hooks run in signal handlers,
 * between fork and exec, and on small stacks of coroutines. Errors are counted or ignored, never
 * shown: the process must behave as it does untraced. */
#ifndef CUFF_SHIM_H
#define CUFF_SHIM_H

#include "../trace.h"
#include "sys.h"

#define WEAK __attribute__((weak))
#define EXPORTED __attribute__((visibility("default")))
#define NOINLINE __attribute__((noinline)) /* keeps big locals off the stack of the hook */
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Written by the constructor and the fork hook only (and `on` by shim_quiet): a vfork child shares
 * this memory with its parent and must leave it as it is. */
struct shim_state {
  int on;         /* frames are written; 0 before the constructor, and after shim_quiet() */
  int own_pid;    /* getpid() of the process these facts are about */
  uint32_t pid, space; /* how frames call it */
  uint32_t runner_pid;
  uint32_t mode;  /* enum trace_mode of the header */
  uint32_t flags; /* of the header */
  uint64_t out_device, out_inode, err_device, err_inode; /* the run's streams, from the header */
  uint64_t file_max;
  uint32_t argv_max, args_max, pid_namespace, proc_device;
  uint32_t inner_pid, inner_space; /* how it calls itself, where that is something else */
  uint32_t dropped; /* frames that could not be written, not yet reported in a DROP */
  int drop_error;   /* errno of the last */
  /* Copies, because programs overwrite their environment to change their title. NULL: unknown. */
  const char *trace_path; /* trace.bin */
  /* NAME=value, for the environment of a child. Where it is known to be a program of this machine
   * the loader need not find out which `$LIB` is, for which it would read a link in /proc. */
  const char *trace_variable, *preload_variable, *preload_native;
  const char *log_path;  /* NULL: no log; empty: stderr */
  uint32_t told_pid, told_space, told_direct; /* SELF_VARIABLE */
  const char *told_words;        /* only for the constructor */
  int filter_mode; /* of seccomp, when the program began */
  /* trace.bin, as fstat says. */
  uint64_t trace_device, trace_inode;
  int kept_fd; /* where it cannot be opened any more (rights.c): 0, or a descriptor of it */
  int relays;  /* trace.bin is on a read-only mount: frames go through the runner */
};
extern struct shim_state shim;

static inline int shim_on(void) { return __atomic_load_n(&shim.on, __ATOMIC_RELAXED); }

/* Whether a hook may do anything of its own. Asks for a seccomp filter that no hook saw: a system
 * call that the filter does not know could kill. */
int shim_may_speak(void);

/* Off for good, in this process and what it starts: after seccomp a system call may kill. */
void shim_quiet(void);

/* Whether this is the process that `shim` is about, and not a vfork child or a raw clone of it.
 * Only then may static memory be changed, and only then is a batch its own. One system call. */
static inline int shim_own_process(void) { return sys_getpid() == shim.own_pid; }

/* How frames call the caller of this, also in a vfork child. */
struct identity {
  uint32_t pid, space, inner_pid, inner_space;
};
void shim_identity(struct identity *to);

/* --- who we are (identity.c) */
struct proc_facts { /* of /proc/self/stat, counted as that /proc counts; 0: unknown */
  uint32_t pid, parent, device;
  uint64_t start_ticks;
};
/* Both fill the facts of `shim` about the process itself: for a program that begins, and for the
 * child of a fork, which needs no look at /proc. */
void identity_learn(struct proc_facts *facts);
void identity_learn_forked(struct proc_facts *facts);
/* The calling thread, as the recorder counts. */
uint32_t shim_thread(void);

/* --- the functions behind the hooks (next.c) */

/* The function that would have been called without us, or NULL. Takes no lock; `slot` is static. */
void *shim_next(void **slot, const char *name);
#define NEXT(name) (__extension__({ static void *slot_; shim_next(&slot_, #name); }))
/* `REAL(write)(fd, data, n)`: for functions that are declared; never NULL-checked. */
#define REAL(name) ((__typeof__(&name))NEXT(name))

/* --- errno: raw system calls leave it alone, so only what calls the libc has to keep it */
int shim_errno(void);
void shim_set_errno(int error);
/* -errno of a raw call as the libc would give it: sets errno, -1. */
long shim_answer(long result);

/* --- frames (frame.c)
 * The memory is the caller's: the stack for small ones, scratch_take() for others, a batch that
 * has a struct trace_frame in front of its records. `memory` is aligned to 8.
 *
 *   struct frame frame;
 *   frame_begin(&frame, memory, sizeof memory, TRACE_EXIT, 0);
 *   frame_put(&frame, &facts, sizeof facts);
 *   frame_send(&frame);
 */
struct frame {
  unsigned char *base;
  uint32_t length, room;
  int full; /* something did not fit: frame_send drops it */
};

void frame_begin(struct frame *frame, void *memory, uint32_t room, int type, int flags);
/* Gives where it was put, or NULL when it does not fit. `data` NULL: zeros. */
void *frame_put(struct frame *frame, const void *data, uint32_t length);
/* With its NUL. */
void *frame_string(struct frame *frame, const char *text);
/* Head, padding, check sum, one write. `at_ns`, `pid` and `space` are filled in where they are 0.
 * Gives 0, or -errno when it was not written; that is counted and told in a DROP frame later. */
int frame_send(struct frame *frame);
/* The same for a frame that lies ready with its head: `length` bytes with the head, room for 7
 * more. For batches. */
int frame_send_ready(struct trace_frame *head, uint32_t length, int type, int flags);

/* The same into a file that is open; -1 opens it. */
int frame_send_to(int fd, struct trace_frame *head, uint32_t length);
int frame_open(void); /* trace.bin, to append */
/* A descriptor of ours that is none of 0, 1 and 2; the given one is closed if it was. */
int away_from_streams(int fd);

/* --- descriptors that no other thread can reach (apart.c)
 * Everything that opens a file for the shim is an errand. It gives 0 or more, or -errno, and so
 * does shim_apart. With one thread it calls `work`; with several, `work` runs in a thread whose
 * table has nothing but the descriptor `kept` of the program (negative: none). There it has 32 KB
 * of stack, and must call no libc. */
typedef int errand_work(void *about);
int shim_apart(errand_work *work, void *about, int kept);
/* Whether this process has one thread; 0 where that cannot be known. */
int shim_alone(void);
/* The same as the libc says, without a system call. Both 0 where it does not tell. */
int shim_one_thread(void);
int shim_several_threads(void);

/* --- secrets (secrets.c) */
#define SECRETS_FEW 16
struct secret { /* NAME=value whose value must not be in a trace */
  const char *entry;
  uint32_t name, length; /* of the name and of the value, in bytes */
};
struct secrets {
  struct secret *list; /* `few`, or mapped memory where there are more */
  uint32_t count, room;
  uint32_t more; /* there are others, for which there was no memory */
  struct secret few[SECRETS_FEW];
};
void secrets_init(struct secrets *secrets);
void secrets_drop(struct secrets *secrets);
/* Adds those of an environment, or of words that are assignments. */
void secrets_find(struct secrets *secrets, char *const *entries);
/* Takes out those that are among `entries`. */
void secrets_without(struct secrets *secrets, char *const *entries);
/* The constructor keeps them; later they are added although the program has unset them. */
void secrets_remember(const struct secrets *secrets);
void secrets_recall(struct secrets *secrets);
/* The longest secret that `text` begins with, or NULL. */
const struct secret *secret_at(const struct secrets *secrets, const char *text);
int secret_name(const char *entry);
/* Which words of a program hold secrets, told to it in SELF_VARIABLE: it may not have them in its
 * environment and could not know. */
#define TOLD_BYTES 256
size_t secrets_tell(const struct secrets *secrets, char *const *argv, char *to, size_t room);
void secrets_told(struct secrets *secrets, char *const *argv, const char *told);

/* --- words (words.c) */
/* At most `room` bytes and a NUL, secret values replaced by [NAME]. Gives 1 when all of it is
 * there; `flags` gets TRACE_REDACTED. */
int words_text(struct frame *frame, const char *text, uint32_t room, const struct secrets *secrets,
               int *flags);
struct words_facts {
  uint32_t args, argv_bytes, kept_args;
};
/* As much of argv as is kept; `flags` gets TRACE_CUT and TRACE_REDACTED. */
void words_put(struct frame *frame, char *const *argv, const struct secrets *secrets,
               struct words_facts *facts, int *flags);

/* --- paths (paths.c)
 * The path without links, `directory` in front if it is relative. 0: it could not be found so. */
int path_resolve(const char *path, const char *directory, char *out, size_t room);

/* --- the environment (env.c, env-child.c) */
#define ASAN_OPTION "verify_asan_link_order=0"
char **env_now(void);
/* Takes what is ours out of an environment, in place, and remembers it in `shim`. */
void env_hide(char **env);
/* A string NAME=value that stays; NULL without memory. */
const char *env_keep(const char *name, size_t length, const char *value, size_t bytes);

#define SELF_BYTES (sizeof SELF_VARIABLE + 28)

#define CHILD_WORDS 96
struct child_env {
  char **env; /* what the child gets */
  void *mapped;
  size_t bytes;
  /* Entries that were replaced by longer ones: LD_PRELOAD and ASAN_OPTIONS of the caller. */
  char *joined[2], *original[2];
  char self[SELF_BYTES], *told; /* SELF_VARIABLE, here or elsewhere */
};
struct child_facts {
  int facts;        /* of target_look */
  int same_process; /* it is this process that becomes it */
  const char *told; /* by secrets_tell; empty: nothing */
};
/* What is ours goes in again; into `words`, or mapped memory where that is NULL or too small. */
void child_env_make(struct child_env *child, char **words, char *const *env,
                    const struct child_facts *about);
void child_env_drop(struct child_env *child);
/* Once, by the constructor: what the shim's files are like while they are good. */
void child_env_learn(void);
/* An environment that began as `child` without what is ours; `to` may be `from`. */
size_t child_env_undo(const struct child_env *child, char *const *from, char **to);
/* Unmaps what vfork children left in our memory when they became other programs. */
void child_env_reclaim(void);

/* --- the environment of the process is a child's for a while (environ.c)
 * Gives what to hand to environ_return, or 0 where it cannot be done. `child` may be dropped. */
uint64_t environ_lend(const struct child_env *child, char *const *instead_of);
void environ_return(uint64_t token);
/* Puts back what a thread could not, because it was cancelled. */
void environ_mend(void);

/* --- what is about to run (target.c) */
enum target_facts {
  TARGET_STATIC = 1,     /* no loader */
  TARGET_PRIVILEGED = 2, /* another user's rights */
  TARGET_FOREIGN = 4,    /* of another machine, or a loader that lists: no place for a shim */
  TARGET_NATIVE = 8,     /* has a loader that can load this very shim */
  TARGET_MISSING = 16,   /* there is no such file */
  TARGET_DIRECT = 32,    /* the file that was named is the program itself */
  TARGET_ALONE = TARGET_PRIVILEGED | TARGET_FOREIGN /* gets nothing of ours */
};
struct target {
  int directory;    /* AT_FDCWD, or what the name is relative to, or with "" the file itself */
  const char *file;
  int search;       /* along PATH, where the name has no slash */
};
int target_look(const struct target *target, char *const *argv);

/* --- becoming another program (exec.c)
 * One call of the exec family, however it was spelled. Says EXEC, gives the child's environment to
 * `call`, and when that comes back says EXECFAIL. */
struct exec_call {
  struct target target;
  const char *shown; /* the name for EXEC, where it is not that of the target */
  char *const *argv, *const *env;
  /* The function behind the hook, with the environment the new program shall get. */
  long (*call)(const struct exec_call *call, const struct child_env *child);
  int flags; /* of execveat */
};
int exec_run(const struct exec_call *call);
/* 0 where a word of the call, or the text, lies in memory that cannot be read: then nothing may
 * look at it, and the kernel says EFAULT (readable.c). */
int exec_readable(const struct exec_call *call);
int text_readable(const char *text);
/* Before a fork: what its children would all have to find for themselves is found once. */
void exec_prepare(void);
/* What secrets_tell says about the words of the call, into TOLD_BYTES. */
void exec_tell_secrets(const struct exec_call *call, char *to, size_t room);
/* Whether it must not begin, where it will have no shim of ours to ask for itself: no loader, one
 * of another machine, or nothing could be put into its environment. */
int exec_refused(const struct exec_call *call, int facts, const struct child_env *child);
/* As execve and execveat do. */
int exec_by_path(const char *file, char *const *argv, char *const *env);
int exec_by_descriptor(int directory, const char *file, char *const *argv, char *const *env,
                       int flags);
/* As execv and execvp do, with the environment of the process. */
int exec_own_by_path(const char *file, char *const *argv);
int exec_own_by_name(const char *file, char *const *argv);
/* For a spawn: `child` 0 says EXECFAIL with `error`. `facts` are those of target_look. */
void exec_say_spawn(const struct exec_call *call, int facts, uint32_t child, int error);

/* --- the runner is asked (orders.c) */
int order_follow(void); /* this thread, which becomes a program without a loader. 1: it does */
void order_meet(void);  /* to say which pid this is, where the namespace counts for itself */
int order_release(uint32_t thread); /* it need not be followed after all. 1: it was told */
/* A frame for trace.bin, where it cannot be opened to write: 0, or -errno. */
#define RELAYED_MAX 2040u /* bytes; longer frames are more than a FIFO takes whole */
int order_relay(const struct trace_frame *frame);

/* --- whether a program may begin (gate.c)
 * All of them do nothing at all without a gate in the header. */
struct program {
  char *const *argv; /* NULL: unknown */
  const char *exe, *cwd;
  int about; /* it has not begun: this process is about to start it */
};
/* 1 when it must not. Why has been said on stderr. */
int gate_refuses(struct program *program);
/* The same for what a call is about to start, where no shim will be that could ask. */
int gate_refuses_start(const struct exec_call *call);
/* It ends, before it has begun; unjudged because it could not ask. Do not return. */
void gate_end(void);
void gate_end_unjudged(void);

/* --- filters that the program installs by itself (self-filter.c)
 * Where its code is, by the loader, and whether it installs one. Only the second makes system
 * calls, and only the first calls the libc. */
enum { CODE_PARTS = 4 };
struct program_code {
  int count;
  struct {
    const unsigned char *start;
    size_t bytes;
  } parts[CODE_PARTS];
};
void self_filter_find(struct program_code *code);
int self_filter_installs(const struct program_code *code);

/* --- children that have ended (reap.c): the one that the libc waited for; its pid is not known */
void reap_say_since(uint64_t since_ns, int status);

/* --- the ends (exit.c) */
void exit_say(int code); /* EXIT, unless it was said */
void exit_init(void);   /* at the end of the constructor */
void exit_forked(void); /* the child of a fork has not said it yet */

/* Memory for one frame, from mmap; NULL when there is none. */
void *scratch_take(size_t bytes);
void scratch_give(void *memory, size_t bytes);

/* --- messages for debugging: CUFF_TRACE_LOG. Silent without it. */
void shim_log(const char *what, const char *about, long number);

/* --- writes.c: output of the process, in pipe and pty mode */
void shim_writes_init(void); /* at the end of the constructor; only called when shim_on() */
void shim_flush(void);       /* send the batch: before exit, exec and fork. Knows vfork children */
void shim_reset_batch(void); /* in the child of a fork: what is there belongs to the parent */

/* --- bytes and strings, without a libc (text.c) */
size_t text_length(const char *text);
int text_same(const char *a, const char *b);
int text_starts(const char *text, const char *start);
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);
/* The decimal digits of `value`, NUL-terminated, in `to` (21 bytes). Gives their number. */
size_t text_number(char *to, uint64_t value);

#endif
