/* trace.bin, the file in which the processes of a run tell about themselves: a header of one page,
 * then frames. Written by the runner and by the shim in every traced process, each frame with one
 * write to a file opened O_APPEND; read by src/trace/. Little-endian, nothing padded by a compiler.
 *
 * The header is the handshake: a shim that does not find it as it should be does nothing at all.
 * This file is the truth about the format; src/trace/decode/format.ts repeats it for readers. */
#ifndef CUFF_TRACE_H
#define CUFF_TRACE_H

#include <stdint.h>

#define TRACE_MAGIC "CUFFTRC1"
#define TRACE_VERSION 1u
#define TRACE_HEADER_BYTES 4096u
#define TRACE_FILE_MAX (64u << 20)  /* frames stop here: a fork bomb must not fill the disk */
#define TRACE_FRAME_MAX (64u << 10) /* longer ones do not exist, what claims to be is damage */
#define TRACE_ARGV_MAX (16u << 10)  /* bytes of argv that are kept */
#define TRACE_ARGS_MAX 1024u        /* and words */
#define TRACE_FRAME_MAGIC 0x52464643u /* "CFFR" */

#define TRACE_VARIABLE "CUFF_TRACE" /* the absolute path of trace.bin */
/* What the process that starts a program tells it: its pid, so that it need not read /proc, whether
 * the file is the program itself and not a script, and which of its words hold secrets that are not
 * in its environment. =PID,SPACE,DIRECT; and what secrets_tell says. */
#define SELF_VARIABLE "CUFF_TRACE_SELF"
#define TRACE_SHIM_TAIL "/$LIB/libcuff-shim.so" /* how our entry of LD_PRELOAD ends */

/* On a socket the kernel names the writers, so that no WRITE frames are needed there. */
enum trace_mode { MODE_SOCKET = 1, MODE_PIPE = 2, MODE_PTY = 3 };

enum trace_header_flags {
  TRACE_FOLLOWS = 1, /* the runner may PTRACE_SEIZE: ask it before a static program starts */
  TRACE_FILTERED = 2, /* the runner itself is under a seccomp filter (a container), so all are */
  TRACE_GATED = 4,    /* `gate` is asked before a program begins */
  TRACE_GATE_STRICT = 8 /* and what it gave no answer about does not begin */
};

struct trace_header {
  char magic[8];
  uint32_t version, header_bytes;
  uint64_t wall_ns, mono_ns; /* one moment on both clocks; frames use CLOCK_MONOTONIC */
  uint32_t mode, runner_pid;
  uint64_t file_max;
  uint32_t argv_max, args_max;
  uint64_t out_device, out_inode; /* the command's stdout and stderr, as fstat says there; */
  uint64_t err_device, err_inode; /* equal when they are one stream */
  uint32_t flags, pid_namespace;  /* the runner's, the inode of /proc/self/ns/pid */
  uint32_t env_count, proc_device; /* st_dev of the runner's /proc, 0 if unknown */
  char id[128]; /* of the capture, NUL-terminated */
  char env[TRACE_HEADER_BYTES - 352]; /* names whose values are kept, each NUL-terminated */
  /* Only with TRACE_GATED. A shim that waited in vain writes when that was, so that others do not
   * wait as long; everything else in here is never changed. */
  uint64_t gate_silent_ns;
  char gate[112]; /* the path of a socket, NUL-terminated */
};

_Static_assert(sizeof(struct trace_header) == TRACE_HEADER_BYTES, "the header is one page");

enum trace_type {
  TRACE_START = 1,    /* a program image begins; struct trace_start */
  TRACE_EXEC = 2,     /* about to become, or to spawn, another program; struct trace_exec */
  TRACE_EXECFAIL = 3, /* it did not happen; struct trace_execfail */
  TRACE_FORK = 4,     /* said by the child; struct trace_fork */
  TRACE_EXIT = 5,     /* on its way out, by itself; struct trace_exit */
  TRACE_REAP = 6,     /* a child has ended, said by the process that waited; struct trace_reap */
  TRACE_WRITE = 7,    /* bytes written to the run's streams; any number of struct trace_write */
  TRACE_DROP = 8      /* frames that could not be written; struct trace_drop */
};

/* Low bits: the source. The other bits depend on the type. */
enum trace_flags {
  FROM_SHIM = 0,
  FROM_RUNNER = 1, /* started or reaped by the runner itself */
  FROM_PROC = 2,   /* the runner looked it up in /proc: it wrote and had not reported */
  FROM_PTRACE = 3, /* the runner followed it */
  FROM_MASK = 3,
  TRACE_CUT = 4,      /* START, EXEC: not all of argv is here */
  TRACE_REDACTED = 8, /* START, EXEC: values of secret variables were taken out of argv */
  TRACE_STATIC = 16,  /* EXEC, START: a program without a loader, where no shim can be */
  /* START: nothing follows, because the program installs a seccomp filter by itself */
  TRACE_SILENT = 32,
  /* START, with TRACE_STATIC: the runner saw it begin and does not follow it */
  TRACE_LEFT = 64
};

struct trace_frame {
  uint32_t magic;
  uint16_t type, flags;
  uint32_t bytes; /* with this head, a multiple of 8; the padding is zero */
  uint32_t check; /* FNV-1a, 32 bit, over the whole frame with 0 here */
  uint64_t at_ns;
  /* The process that it is about (EXEC and REAP: that says it). `space` is the inode of the pid
   * namespace that counts so, 0 for the recorder's. */
  uint32_t pid, space;
};

/* Strings follow, each NUL-terminated: exe, cwd, `kept_args` words, `kept_env` NAME=value. */
struct trace_start {
  uint32_t parent, uid;
  uint64_t start_ticks;           /* /proc/PID/stat field 22 */
  uint32_t inner_pid, inner_space; /* how it calls itself, where that is something else; else 0 */
  uint32_t args, argv_bytes, kept_args; /* all of argv, and how many words are here */
  uint32_t env, kept_env;
  /* How much memory the process had at most before this program, in KiB: its own under former
   * programs, and what it was copied from by fork. 0: not known. */
  uint32_t peak_before;
};

/* Strings follow: file, `kept_args` words. For a spawn this comes when it has succeeded. */
struct trace_exec {
  uint32_t spawned; /* 0: the process itself is replaced; else the child */
  uint32_t args, argv_bytes, kept_args;
};

/* A string follows: file. */
struct trace_execfail {
  uint32_t spawn; /* 1 when it was to be a child */
  int32_t error;  /* errno */
};

struct trace_fork {
  uint64_t start_ticks; /* 0: not looked up */
  uint32_t parent, inner_pid, inner_space, spare;
};

/* Of one process with all its threads, without its children: processor time, and the most memory
 * that it ever had, also before its program (peak_before). A number that is 0 is not known. */
struct trace_usage {
  uint64_t user_ns, system_ns, peak_bytes;
};

/* Behind it, since it can be told: struct trace_usage. */
struct trace_exit {
  int32_t code;
  uint32_t spare;
};

/* Behind it, said by the runner where it is known: struct trace_usage, of the child. */
struct trace_reap {
  uint32_t child;
  int32_t status; /* as wait(2) gives it */
};

/* `child` is 0: the one that the libc started and waited for since then: system(), pclose(). */
struct trace_reap_since {
  struct trace_reap reap;
  uint64_t since_ns;
};

enum trace_stream { STREAM_OUT = 1, STREAM_ERR = 2, STREAM_PTY = 3, STREAM_UNHASHED = 1u << 31 };

struct trace_write {
  uint64_t at_ns;     /* before the call */
  uint32_t took_ns;   /* saturating */
  uint32_t stream;    /* enum trace_stream */
  uint32_t length, spare;
  uint64_t hash; /* FNV-1a, 64 bit: all of it up to 256 bytes, else the first and last 128 */
};

struct trace_drop {
  uint32_t frames;
  int32_t error; /* errno of the last */
};

/* What is asked at the gate, once per connection: this head, then strings, each NUL-terminated:
 * exe, cwd, `kept_args` words. The answer is GATE_ALLOW, or GATE_DENY and behind it a line for
 * stderr, in one message; anything else is none. What is asked is not cleared of secrets: it goes
 * to the recorder's own process, which keeps nothing of it. */
#define GATE_MAGIC 0x47464643u        /* "CFFG" */
#define GATE_ARGV_MAX (128u << 10)    /* bytes of argv that are sent: as many as xargs makes */
#define GATE_LINE_MAX 300u            /* bytes */
#define GATE_WAIT_NS 2000000000ull    /* for an answer, in all */
#define GATE_SILENT_NS 10000000000ull /* for so long after a wait in vain, */
#define GATE_BRIEF_NS 100000000ull    /* only this long */
#define GATE_EXIT 126                 /* how a program ends that may not begin */

enum gate_answer { GATE_ALLOW = 'A', GATE_DENY = 'D' };

enum gate_flags {
  GATE_CUT = 1,   /* not all of argv is here */
  GATE_ABOUT = 2, /* asked by the process that is about to start it */
  GATE_STRICT = 4 /* TRACE_GATE_STRICT: what cannot be judged does not begin */
};

struct gate_question {
  uint32_t magic, bytes; /* with this head and all strings */
  uint32_t pid, flags;
  uint32_t args, kept_args;
};

static inline uint32_t trace_check(const void *data, uint32_t length) {
  const unsigned char *p = data;
  uint32_t hash = 0x811c9dc5u;
  for (uint32_t i = 0; i < length; i++) hash = (hash ^ p[i]) * 0x01000193u;
  return hash;
}

#endif
