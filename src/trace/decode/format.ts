// trace.bin as readers see it: native/trace.h is the truth about the bytes, these are the values.
// Times are epoch nanoseconds (the header has one moment on both clocks); a process is its pid in
// the namespace that counted it.

export const HEADER_BYTES = 4096;
export const HEADER_MAGIC = 'CUFFTRC1';
export const TRACE_VERSION = 1;
export const FRAME_MAGIC = 0x52464643;
export const FRAME_HEAD_BYTES = 32;
export const FRAME_BYTES_MAX = 64 * 1024;

export type TraceMode = 'socket' | 'pipe' | 'pty';

export type TraceHeader = {
  readonly captureId: string;
  readonly mode: TraceMode;
  readonly runnerPid: number;
  /** Add it to a frame's time to have epoch nanoseconds. */
  readonly offsetNs: bigint;
  readonly startedNs: bigint;
  /** The runner may follow static programs. */
  readonly follows: boolean;
  /** Stdout and stderr are one stream. */
  readonly merged: boolean;
  readonly pidNamespace: number;
  readonly envNames: readonly string[];
};

/** Who says so. */
export type Source = 'shim' | 'runner' | 'proc' | 'ptrace';

/** `space` is 0 for the recorder's own pid namespace, else the inode of another. */
export type Who = { readonly pid: number; readonly space: number };

type Head = { readonly source: Source; readonly atNs: bigint; readonly who: Who };

type ArgvFacts = {
  /** As many as are in the frame; `args` is how many there were. */
  readonly argv: readonly string[];
  readonly args: number;
  readonly cut: boolean;
  readonly redacted: boolean;
};

export type StartFrame = Head &
  ArgvFacts & {
    readonly type: 'start';
    readonly parent: number;
    readonly uid: number;
    readonly startTicks: number;
    readonly inner: Who | undefined;
    readonly exe: string;
    readonly cwd: string;
    readonly envCount: number;
    readonly env: Readonly<Record<string, string>>;
    readonly isStatic: boolean;
    /** The most memory the process had before this program: undefined where that is not known. */
    readonly peakBefore?: number;
    /** The runner saw a static program begin, and let it go. */
    readonly left?: true;
    /** It reports nothing else, because its program installs a seccomp filter by itself. */
    readonly silent?: true;
  };

export type ExecFrame = Head &
  ArgvFacts & {
    readonly type: 'exec';
    /** The child that was spawned; undefined when the process itself is replaced. */
    readonly spawned: number | undefined;
    readonly file: string;
    readonly isStatic: boolean;
  };

/**
 * Of one process, without its children. Undefined: not known. `peakBytes` counts what it had before
 * its program, too.
 */
export type UsageReport = {
  readonly cpuNs: number | undefined;
  readonly peakBytes: number | undefined;
};

export type StreamName = 'stdout' | 'stderr' | 'pty';

export type WriteRecord = {
  readonly atNs: bigint;
  readonly tookNs: number;
  readonly stream: StreamName;
  readonly length: number;
  /** Undefined when the bytes were never in memory (sendfile). */
  readonly hash: bigint | undefined;
};

export type Frame =
  | StartFrame
  | ExecFrame
  | (Head & {
      readonly type: 'execfail';
      readonly spawn: boolean;
      readonly errno: number;
      readonly file: string;
    })
  | (Head & {
      readonly type: 'fork';
      readonly parent: number;
      readonly startTicks: number;
      readonly inner: Who | undefined;
    })
  | (Head & { readonly type: 'exit'; readonly code: number; readonly usage?: UsageReport })
  | (Head & {
      readonly type: 'reap';
      /** 0: the libc waited, for the one child that it had started since `sinceNs`. */
      readonly child: number;
      readonly status: number;
      readonly sinceNs?: bigint;
      /** Of the child; only the runner says it. */
      readonly usage?: UsageReport;
    })
  | (Head & { readonly type: 'write'; readonly writes: readonly WriteRecord[] })
  | (Head & { readonly type: 'drop'; readonly frames: number; readonly errno: number });
