// An agent's shell as real processes: a state root with the shell in it, projects, and calls with
// the words, variables and streams that agents use.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ShellFiles, writeShellFiles } from '../../../src/hooks/shell/install.ts';
import type { Entry } from '../../../src/types.ts';
import { FACT_MS_MAX } from '../../pace.ts';

export const CUFF = join(import.meta.dirname, '..', '..', '..', 'dist', 'cuff.cjs');

export type Shape = {
  readonly argv: (command: string, files: ShellFiles) => readonly string[];
  /** As without cuff. */
  readonly bare: (command: string) => readonly string[];
  /** What the agent sets, whoever its shell is. */
  readonly env: Readonly<Record<string, string>>;
  /** What makes our shell the agent's. */
  readonly knob?: (files: ShellFiles) => Readonly<Record<string, string>>;
  /** 1 and 2 are one file that is appended to. */
  readonly oneFile?: boolean;
};

const PATH = '/usr/local/bin:/usr/bin:/bin';

function claudeText(command: string): string {
  const quoted = /^[\w]+$/.test(command) ? command : `'${command.replaceAll("'", `'"'"'`)}'`;
  const source = 'source /nowhere/snapshot-bash-1-a.sh 2>/dev/null || true';
  const plain = '\\builtin shopt -u extglob 2>/dev/null || true';
  return `${source} && ${plain} && eval ${quoted} < /dev/null && pwd -P >| /dev/null`;
}

function geminiText(command: string): string {
  const shopt = 'shopt -u promptvars nullglob extglob nocaseglob dotglob';
  const trap = `(\n  trap 'jobs -p > "$_bgpids_file"' EXIT\n${command}\n)`;
  return `${shopt}; _bgpids_file=/dev/null\n${trap}\n__code=$?\nexit $__code`;
}

const CODEX_HOME = join(import.meta.dirname, 'examples', 'codex-home');

/** The short form of what Codex writes; `examples/codex-shell-argv.jsonl` has all of one. */
export function codexText(command: string): string {
  const [set, value] = ['__CODEX_SNAPSHOT_OVERRIDE_SET_0', '__CODEX_SNAPSHOT_OVERRIDE_0'];
  return `${set}="\${CODEX_THREAD_ID+x}"
${value}="\${CODEX_THREAD_ID-}"

if . '${CODEX_HOME}/shell_snapshots/snapshot.1.sh' >/dev/null 2>&1; then :; fi

if [ -n "\${${set}}" ]; then
  if [ -z "\${CODEX_THREAD_ID+x}" ] || [ "\${CODEX_THREAD_ID-}" != "\${${value}}" ]; then \
export CODEX_THREAD_ID="\${${value}}"; else export CODEX_THREAD_ID; fi
else builtin unset CODEX_THREAD_ID 2>/dev/null || command unset CODEX_THREAD_ID; fi
builtin unset ${set} ${value} 2>/dev/null || command unset ${set} ${value}
if [ -n "\${PATH:-}" ]; then export PATH='/usr/bin':"$PATH"; else export PATH='/usr/bin'; fi

exec '/bin/bash' -c '${command.replaceAll("'", `'"'"'`)}'`;
}

const CLAUDE_ENV = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'c-1', CLAUDE_PID: '1' };
const CODEX_ENV = { CODEX_THREAD_ID: 'x-1', CODEX_TOOL_CALL_ID: 'call-1', CODEX_HOME };
const byBashEnv = ({ bashEnv }: ShellFiles) => ({ BASH_ENV: bashEnv });
const byPath = ({ shells }: ShellFiles) => ({ PATH: `${shells}:${PATH}` });

export const SHAPES = {
  claude: {
    argv: (command, { bash }) => [bash, '-c', claudeText(command)],
    bare: (command) => ['/bin/bash', '-c', claudeText(command)],
    env: CLAUDE_ENV,
    knob: ({ bash }) => ({ CLAUDE_CODE_SHELL: bash }),
    oneFile: true,
  },
  codex: {
    argv: (command) => ['/bin/bash', '-lc', command],
    bare: (command) => ['/bin/bash', '-lc', command],
    env: CODEX_ENV,
    knob: byBashEnv,
  },
  'codex with a snapshot': {
    argv: (command) => ['/bin/bash', '-c', codexText(command)],
    bare: (command) => ['/bin/bash', '-c', codexText(command)],
    env: CODEX_ENV,
    knob: byBashEnv,
  },
  gemini: {
    argv: (command) => ['bash', '-c', geminiText(command)],
    bare: (command) => ['bash', '-c', geminiText(command)],
    env: { GEMINI_CLI: '1' },
    knob: byPath,
  },
  qwen: {
    argv: (command) => ['bash', '-c', command],
    bare: (command) => ['bash', '-c', command],
    env: { QWEN_CODE: '1' },
    knob: byPath,
  },
  opencode: {
    argv: (command, { bash }) => [bash, '-c', command],
    bare: (command) => ['/bin/bash', '-c', command],
    env: { OPENCODE: '1', AGENT: '1' },
    knob: ({ bash }) => ({ SHELL: bash, CUFF_USER_SHELL: '/bin/bash' }),
  },
  pi: {
    argv: (command, { bash }) => [bash, '-c', command],
    bare: (command) => ['/bin/bash', '-c', command],
    env: { AI_AGENT: 'pi', PI_SESSION_ID: 'p-1' },
  },
} as const satisfies Readonly<Record<string, Shape>>;

export type Outcome = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
};

type Call = {
  readonly cwd: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly oneFile?: boolean;
  readonly detached?: boolean;
};

export type WorldOptions = {
  readonly strict?: boolean;
  readonly enforced?: boolean;
  readonly waits?: NonNullable<Parameters<typeof writeShellFiles>[1]['waits']>;
  /** The name of the state root. */
  readonly state?: string;
};

export class World {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-sh-')));
  readonly root: string;
  readonly files: ShellFiles;
  readonly #children = new Set<ChildProcess>();
  #made = 0;

  constructor({ state = 'state', ...options }: WorldOptions = {}) {
    this.root = join(this.base, state);
    // How soon a helper answers is not tested: fifty of them at once take a small machine long.
    const known = { program: CUFF, waits: { 'helper-ms': FACT_MS_MAX }, ...options };
    this.files = writeShellFiles({ CUFF_STATE_ROOT: this.root }, known);
  }

  get env(): Record<string, string> {
    const home = join(this.base, 'home');
    mkdirSync(home, { recursive: true });
    return { PATH, HOME: home, SHELL: '/bin/bash', CUFF_STATE_ROOT: this.root, LANG: 'C.UTF-8' };
  }

  project(): string {
    this.#made += 1;
    const folder = join(this.base, `p${this.#made}`);
    mkdirSync(folder);
    return folder;
  }

  /** A call through our shell, or through the bare one. */
  call(shape: Shape, command: string, cwd: string, bare = false): Promise<Outcome> {
    const knob = bare ? {} : (shape.knob?.(this.files) ?? {});
    const argv = bare ? shape.bare(command) : shape.argv(command, this.files);
    const { oneFile = false } = shape;
    return this.run({ cwd, argv, env: { ...this.env, ...shape.env, ...knob }, oneFile }).outcome;
  }

  run({ cwd, argv, env, oneFile = false, detached = true }: Call): {
    readonly child: ChildProcess;
    readonly outcome: Promise<Outcome>;
  } {
    this.#made += 1;
    const file = join(this.base, `out${this.#made}`);
    const fd = oneFile ? openSync(file, 'a') : undefined;
    const [program = '', ...words] = argv;
    // By the search path of the call, as agents do it.
    const child = spawn(program, words, {
      cwd,
      env,
      detached,
      stdio: fd === undefined ? ['ignore', 'pipe', 'pipe'] : ['ignore', fd, fd],
    });
    if (fd !== undefined) closeSync(fd);
    this.#children.add(child);
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout?.on('data', (piece: Buffer) => out.push(piece));
    child.stderr?.on('data', (piece: Buffer) => err.push(piece));
    const outcome = once(child, fd === undefined ? 'close' : 'exit').then(([code, signal]) => {
      this.#children.delete(child);
      const text = (pieces: Buffer[]): string => Buffer.concat(pieces).toString('latin1');
      const both = fd === undefined ? text(out) : readFileSync(file, 'latin1');
      return { code, signal, out: both, err: text(err) };
    });
    return { child, outcome };
  }

  entries(folder: string): Entry[] {
    return entriesIn(join(folder, '.cuff', 'recordings', 'sessions'));
  }

  /** The pids of our helpers. */
  helpers(): number[] {
    return namesIn('/proc').flatMap((name) => {
      const words = /^\d+$/.test(name) ? commandLine(name) : [];
      return words.includes('--helper') && words.includes(this.root) ? [Number(name)] : [];
    });
  }

  close(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    // One that still lives could write while its files are removed.
    for (let left = this.helpers(); left.length > 0; left = this.helpers())
      left.forEach(endProcess);
    rmSync(this.base, { recursive: true, force: true, maxRetries: 5 });
  }
}

function entriesIn(sessions: string): Entry[] {
  const names = namesIn(sessions).filter((name) => /^[^.]+\.jsonl$/.test(name));
  const lines = names.flatMap((name) => readFileSync(join(sessions, name), 'utf8').split('\n'));
  const entries = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
  return entries.sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return []; // it has ended
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // nothing was recorded
  }
}
