// Runs snippets in a real bash and says what came of them: every program that was started, and
// every file that was written. The snippets are in a jail (`jail.c`) where all programs are stubs
// that write down their arguments; some of them, like `env` and `xargs`, then do what they do.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type Execution = {
  /** As it was given to execve, or found in PATH. */
  readonly path: string;
  readonly cwd: string;
  readonly argv: readonly string[];
  /** Variables that are not there, or not like this, when the shell starts. */
  readonly env: ReadonlyMap<string, string>;
  /** Variables that are there when the shell starts, and not any more. */
  readonly unset: readonly string[];
};

export type Outcome = {
  readonly state: string;
  readonly executions: readonly Execution[];
  readonly written: readonly string[];
  readonly stderr: string;
};

export type Jail = {
  /** `told`: builtins that are programs too start as programs; what is not found is seen. */
  run(snippet: string, told: boolean): Promise<Outcome>;
  close(): void;
};

/** Where snippets run; `JAIL_HOME` is `~`. */
export const JAIL_CWD = '/w/p';
export const JAIL_HOME = '/w/h';

const REAL = [
  ...['bash', 'env', 'timeout', 'nice', 'nohup', 'setsid', 'stdbuf', 'xargs', 'find', 'cat'],
  ...['echo', 'printf', 'test', '[', 'true', 'false', 'pwd', 'seq', 'head', 'tr', 'basename'],
];
const STUBS = [
  ...['rm', 'touch', 'git', 'ls', 'grep', 'sed', 'awk', 'sudo', 'su', 'ssh', 'tee', 'mv', 'cp'],
  ...['npm', 'npx', 'node', 'python', 'python3', 'pip', 'cargo', 'go', 'make', 'docker', 'curl'],
  ...['wget', 'jq', 'sort', 'uniq', 'wc', 'cut', 'tail', 'mkdir', 'rmdir', 'chmod', 'ln', 'sleep'],
  ...['date', 'tar', 'diff', 'rg', 'which', 'dd', 'tree', 'less', 'man', 'pnpm', 'yarn', 'uv'],
  ...['kubectl', 'terraform', 'time', 'watch', 'parallel', 'doas', 'ionice', 'chroot', 'unshare'],
  ...['strace', 'script', 'busybox', 'perl', 'ruby', 'php', 'pytest', 'tsc', 'eslint', 'whoami'],
  ...['id', 'ps', 'file', 'stat', 'du', 'df', 'xxd', 'base64', 'md5sum', 'sha256sum', 'kill', 'gh'],
  ...['mktemp', 'readlink', 'realpath', 'expr', 'column', 'rsync', 'scp', 'psql', 'sqlite3', 'vim'],
];
const BASE = new Map([
  ['PATH', '/bin'],
  ['HOME', JAIL_HOME],
  ['LANG', 'C.UTF-8'],
  ['USER', 'u'],
]);
// Set by the shell itself in every child.
const SHELLS_OWN = new Set(['_', 'SHLVL', 'PWD', 'OLDPWD', 'BASH_ENV', 'COLUMNS', 'LINES']);
const MISSED = '/.r/missed';
// `kill` stays a builtin: as a program it knows no jobs.
const BASH_ENV = `enable -n echo test [ true false pwd
command_not_found_handle() { ${MISSED} "$@"; return 127; }
`;

/** Undefined where there is no compiler, or no namespaces. */
export function buildJail(): { readonly root: string; readonly binary: string } | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-jail-'));
  const root = join(dir, 'root');
  const binary = join(dir, 'jail');
  const stub = join(root, 'bin', 'touch');
  for (const name of ['bin', '.r', 'dev', 'proc', 'w']) {
    mkdirSync(join(root, name), { recursive: true, mode: 0o755 });
  }
  chmodSync(dir, 0o755);
  const source = (name: string): string => join(import.meta.dirname, name);
  const compiled =
    compile(['-static', '-o', stub, source('stub.c')]) && compile(['-o', binary, source('jail.c')]);
  if (!compiled) {
    rmSync(dir, { recursive: true });
    return undefined;
  }
  for (const name of [...REAL, ...STUBS, 'sh', 'dash']) {
    const link = join(root, 'bin', name);
    if (!existsSync(link)) linkSync(stub, link);
  }
  for (const name of REAL) copyProgram(root, name, name);
  copyProgram(root, existsSync('/bin/dash') ? 'dash' : 'bash', 'sh');
  linkSync(stub, join(root, MISSED));
  writeFileSync(join(root, 'env'), BASH_ENV);
  writeFileSync(join(root, 'dev', 'null'), '');
  symlinkSync('/proc/self/fd', join(root, 'dev', 'fd'));
  symlinkSync('/proc/self/fd/0', join(root, 'dev', 'stdin'));
  symlinkSync('/w/t', join(root, 'tmp'));
  // What cannot make its namespaces ends with 3 before it reads anything.
  const tried = spawnSync(binary, [root], { input: '', timeout: 10_000 });
  if (tried.status === 0) return { root, binary };
  rmSync(dir, { recursive: true });
  return undefined;
}

export function removeJail(built: { readonly root: string }): void {
  rmSync(dirname(built.root), { recursive: true, force: true });
}

function compile(words: readonly string[]): boolean {
  return spawnSync('cc', ['-O2', ...words], { stdio: 'ignore' }).status === 0;
}

function copyProgram(root: string, name: string, as: string): void {
  const found = ['/bin', '/usr/bin'].map((dir) => join(dir, name)).find((path) => existsSync(path));
  if (found === undefined) return;
  copyFileSync(found, join(root, '.r', as));
  const libraries = spawnSync('ldd', [found], { encoding: 'utf8' }).stdout ?? '';
  for (const [, path = ''] of libraries.matchAll(/(\/\S+)\s+\(0x/g)) {
    if (existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    copyFileSync(path, join(root, path));
  }
}

export function openJail(built: { readonly root: string; readonly binary: string }): Jail {
  const child: ChildProcess = spawn(built.binary, [built.root], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting: ((report: Buffer) => void)[] = [];
  let buffered: Buffer = Buffer.alloc(0);
  child.stdout?.on('data', (chunk: Buffer) => {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
    while (buffered.length >= 4 && buffered.length >= 4 + buffered.readUInt32LE(0)) {
      const end = 4 + buffered.readUInt32LE(0);
      waiting.shift()?.(buffered.subarray(4, end));
      buffered = buffered.subarray(end);
    }
  });
  return {
    run: (snippet, told) =>
      new Promise((resolve, reject) => {
        if (child.exitCode !== null) reject(new Error('The jail is gone.'));
        waiting.push((report) => resolve(readReport(report)));
        const bytes = Buffer.from(snippet, 'utf8');
        const head = Buffer.alloc(5);
        head.writeUInt32LE(bytes.length, 0);
        head.writeUInt8(told ? 1 : 0, 4);
        child.stdin?.write(Buffer.concat([head, bytes]));
      }),
    close: () => child.stdin?.end(),
  };
}

function readReport(report: Buffer): Outcome {
  const parts: Buffer[] = [];
  for (let at = 0; at < report.length; ) {
    const end = at + 4 + report.readUInt32LE(at);
    parts.push(report.subarray(at + 4, end));
    at = end;
  }
  const [state, log, stderr, written] = parts;
  return {
    state: state?.toString() ?? '',
    executions: readLog(log ?? Buffer.alloc(0)),
    stderr: stderr?.toString() ?? '',
    written: (written?.toString() ?? '').split('\0').slice(0, -1),
  };
}

function readLog(log: Buffer): Execution[] {
  const found: Execution[] = [];
  for (let at = 0; at + 4 <= log.length; ) {
    const end = at + 4 + log.readUInt32LE(at);
    const fields = log
      .subarray(at + 4, end)
      .toString()
      .split('\0')
      .slice(0, -1);
    found.push(execution(fields));
    at = end;
  }
  return found;
}

function execution(fields: readonly string[]): Execution {
  const [path = '', cwd = '', count = '0', ...rest] = fields;
  const words = rest.slice(0, Number(count));
  const all = new Map<string, string>();
  for (const one of rest.slice(Number(count))) {
    const equals = one.indexOf('=');
    all.set(one.slice(0, equals), one.slice(equals + 1));
  }
  const env = [...all].filter(([name, value]) => BASE.get(name) !== value && !SHELLS_OWN.has(name));
  const unset = [...BASE.keys()].filter((name) => !all.has(name));
  // What was not found would have been found under its own name.
  const missed = path === MISSED;
  const argv = missed ? words.slice(1) : words;
  return { path: missed ? (argv[0] ?? '') : path, cwd, argv, env: new Map(env), unset };
}
