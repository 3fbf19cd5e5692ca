// What tracing costs: the same command by itself with its output read from a pipe, recorded, and
// traced, in turns; beside them `strace -f` and Bear, which see the same processes by other means.
// Every side is started and timed by one small program, which also counts processor time.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { finished, interleave } from './measure.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NATIVE = join(ROOT, 'native/prebuilt', `${process.platform}-${process.arch}`);
const { CUFF_RUNNER: RUNNER = join(NATIVE, 'runner'), CUFF_SHIM: SHIM = join(NATIVE, 'shim') } =
  process.env;
const BARE = join(ROOT, 'test/native/cases/programs/bare.c');
const TIMEOUT_MS = 300_000;
const OTHERS = 2; // rounds of what is measured for comparison: half a minute each, for Bear

/** `max` is the most it may take of bare, `make` prepares it, `again` is done before each run. */
const WORKLOADS = [
  {
    name: 'true',
    what: '500 x /bin/true from bash',
    rounds: 15,
    max: 1.2,
    cpuMax: 1.2,
    command: 'for i in {1..500}; do /bin/true; done',
  },
  {
    name: 'make',
    what: 'make of 30 C files',
    rounds: 7,
    max: 1.05,
    command: 'make -s -B',
    make: manySources,
  },
  {
    name: 'git',
    what: 'pipelines of git, head, grep and wc',
    rounds: 9,
    max: 1.05,
    command: `for i in {1..25}; do git log --oneline | head -3 | wc -l; git status --porcelain | cat
      git diff HEAD~1 | grep -c ^+; git rev-list --all | wc -l; done`,
    make: manyCommits,
  },
  {
    name: 'npm',
    what: 'npm install --offline of 20 local packages',
    rounds: 7,
    max: 1.05,
    command: 'npm install --offline --no-audit --no-fund --loglevel=error',
    make: manyPackages,
    again: (dir) => {
      for (const name of ['node_modules', 'package-lock.json'])
        rmSync(join(dir, 'app', name), { recursive: true, force: true });
    },
    cwd: 'app',
  },
  {
    name: 'cat',
    what: 'cat of 200 MB',
    rounds: 11,
    max: 1.25,
    command: 'cat $SOURCE',
    make: bigFile,
  },
  {
    name: 'writes',
    what: '240,000 writes of 2 bytes',
    rounds: 9,
    max: 1.5,
    command: './writes',
    make: writer,
  },
];

export const traceRows = WORKLOADS.flatMap(rowsOf);

function rowsOf(work) {
  const { name, what, rounds, max, cpuMax } = work;
  const pair = (ours, baseline, kind) => async (context) => {
    const all = await samplesOf(work, context, rounds, ['bare', 'recorded', 'traced']);
    return {
      ours: all[ours].map((one) => one[kind]),
      baseline: all[baseline].map((one) => one[kind]),
    };
  };
  const compared = (side) => async (context) => {
    const all = await samplesOf(work, context, OTHERS, ['bare', side]);
    return { ours: all[side].map((one) => one.ms), baseline: all.bare.map((one) => one.ms) };
  };
  const row = (suffix, text, measure, target) => ({
    name: `trace-${name}${suffix}`,
    what: `${what}, ${text}`,
    unit: 'ms',
    target,
    measure,
  });
  const limit = (most) => (most === undefined ? undefined : { ratio: ['<=', most] });
  return [
    row('', 'traced against bare', pair('traced', 'bare', 'ms'), limit(max)),
    row('-cpu', 'the same in processor time', pair('traced', 'bare', 'cpuMs'), limit(cpuMax)),
    row('-recorded', 'traced against recorded', pair('traced', 'recorded', 'ms'), undefined),
    row('-strace', 'strace -f -o /dev/null against bare', compared('strace'), undefined),
    ...(name === 'cat' || name === 'writes'
      ? [
          row('-socket', 'on sockets, against bare', compared('traced-socket'), undefined),
          row('-pty', 'on a terminal, traced against recorded', onTerminal(work), undefined),
        ]
      : [row('-bear', 'bear against bare', compared('bear'), undefined)]),
  ];
}

const measured = new Map();

/** The rows of one workload are about the same runs. */
function samplesOf(work, { dir, rounds }, full, sides) {
  const key = `${work.name} ${sides.join()}`;
  const known =
    measured.get(key) ??
    withWorkload(work, dir, (run) =>
      interleave(rounds(full), Object.fromEntries(sides.map((side) => [side, () => run(side)]))),
    );
  measured.set(key, known);
  return known;
}

function onTerminal(work) {
  return async ({ dir, rounds }) => {
    const sides = ['traced-pty', 'recorded-pty'];
    const all = await withWorkload(work, dir, (run) =>
      interleave(rounds(5), Object.fromEntries(sides.map((side) => [side, () => run(side)]))),
    );
    const ms = (side) => all[side].map((one) => one.ms);
    return { ours: ms('traced-pty'), baseline: ms('recorded-pty') };
  };
}

async function withWorkload(work, dir, use) {
  if (!existsSync(join(SHIM, '$LIB/libcuff-shim.so'))) throw new Error('there is no shim here');
  compile(join(dir, 'bare'), BARE);
  const env = { ...process.env, ...(await work.make?.(dir)) };
  try {
    return await use((side) => once(work, dir, env, side));
  } finally {
    if (env.SOURCE) rmSync(env.SOURCE, { force: true });
  }
}

/** Milliseconds of one run, on the clock and of the processor. */
async function once(work, dir, env, side) {
  const cwd = join(dir, work.cwd ?? '.');
  work.again?.(dir);
  const capture = join(dir, 'capture');
  mkdirSync(capture);
  const inner = ['bash', '-c', work.command];
  const words = { bare: inner, ...wordsOf(capture, cwd, inner) }[side];
  const end = join(dir, 'end');
  const args = ['pipe', '/dev/null', '/dev/null', end, String(TIMEOUT_MS), '--', ...words];
  await finished(
    spawn(join(dir, 'bare'), args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] }),
  );
  const [kind, code, us, cpuUs] = readFileSync(end, 'utf8').trim().split(' ');
  if (kind !== 'exit' || code !== '0') throw new Error(`${side}: ${kind} ${code}`);
  rmSync(capture, { recursive: true, force: true });
  return { ms: Number(us) / 1000, cpuMs: Number(cpuUs) / 1000 };
}

function wordsOf(capture, cwd, inner) {
  const runner = (transport, ...trace) => [
    ...[RUNNER, 'run', 'bench', '--dir', capture, '--cwd', cwd, '--stdin', 'null'],
    ...['--session', 'own', '--sync', 'late', '--transport', transport, ...trace, '--', ...inner],
  ];
  return {
    recorded: runner('pipe'),
    traced: runner('pipe', '--trace', SHIM, '--trace-stamps', 'no'), // as agents get it
    'traced-socket': runner('socket', '--trace', SHIM),
    'recorded-pty': runner('pty'),
    'traced-pty': runner('pty', '--trace', SHIM),
    strace: ['strace', '-f', '-o', '/dev/null', ...inner],
    bear: ['bear', '--output', join(capture, 'db.json'), '--', ...inner],
  };
}

function compile(target, source) {
  if (existsSync(target)) return;
  const made = spawnSync('cc', ['-O2', source, '-o', target], { encoding: 'utf8' });
  if (made.status !== 0) throw made.error ?? new Error(made.stderr);
}

function manySources(dir) {
  for (let i = 0; i < 30; i += 1) {
    const body = Array.from(
      { length: 40 },
      (_, n) => `int f${n}(int x) { return x * ${n} + ${i}; }`,
    );
    writeFileSync(
      join(dir, `file${i}.c`),
      `#include <stdio.h>\n#include <stdlib.h>\n${body.join('\n')}\n`,
    );
  }
  const objects = Array.from({ length: 30 }, (_, i) => `file${i}.o`).join(' ');
  writeFileSync(join(dir, 'Makefile'), `all: ${objects}\n%.o: %.c\n\tcc -O1 -c $< -o $@\n`);
}

function manyCommits(dir) {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
  const git = (...args) => {
    const made = spawnSync('git', [...who, ...args], { cwd: dir, encoding: 'utf8' });
    if (made.status !== 0) throw new Error(made.stderr);
  };
  git('init', '-q', '.');
  for (let i = 0; i < 30; i += 1) {
    writeFileSync(join(dir, `file${i}`), `${i}\n`.repeat(500));
    git('add', `file${i}`);
    git('commit', '-q', '-m', `commit ${i}`);
  }
}

function manyPackages(dir) {
  const dependencies = {};
  for (let i = 0; i < 20; i += 1) {
    const name = `local-${i}`;
    mkdirSync(join(dir, name));
    writeFileSync(join(dir, name, 'index.js'), `module.exports = ${i};\n`.repeat(100));
    writeFileSync(join(dir, name, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
    dependencies[name] = `file:../${name}`;
  }
  mkdirSync(join(dir, 'app'));
  const scripts = { postinstall: 'node -e 0' };
  const app = { name: 'app', version: '1.0.0', scripts, dependencies };
  writeFileSync(join(dir, 'app/package.json'), JSON.stringify(app));
}

function bigFile() {
  const path = join(
    existsSync('/dev/shm') ? '/dev/shm' : '/tmp',
    `cuff-bench-trace-${process.pid}`,
  );
  writeFileSync(
    path,
    `${'the quick brown fox jumps over the lazy dog '.repeat(2).slice(0, 69)}\n`.repeat(2_857_143),
  );
  return { SOURCE: path };
}

function writer(dir) {
  const text =
    '#include <unistd.h>\nint main(void) {\n  for (int i = 0; i < 240000; i++)\n' +
    '    if (write(1, "x\\n", 2) != 2) return 1;\n  return 0;\n}\n';
  writeFileSync(join(dir, 'writes.c'), text);
  compile(join(dir, 'writes'), join(dir, 'writes.c'));
}
