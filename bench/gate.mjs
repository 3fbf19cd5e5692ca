// What it costs that every program asks before it begins: the same command traced with a gate and
// without one, in turns; the difference of each turn, per program. The gate is ours, in this
// process as in a server. Its policy denies one program: what a real one costs is measured with
// policies.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { finished, interleave, timed } from './measure.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NATIVE = join(ROOT, 'native/prebuilt', `${process.platform}-${process.arch}`);
const { CUFF_RUNNER: RUNNER = join(NATIVE, 'runner'), CUFF_SHIM: SHIM = join(NATIVE, 'shim') } =
  process.env;
const PROGRAMS = 500;

export const gateRows = [
  {
    name: 'gate-same',
    what: `a gate in front of ${PROGRAMS} x /bin/true, more per program`,
    unit: 'ms',
    target: { ours: ['<=', 1] },
    measure: (context) => difference(context, `for i in {1..${PROGRAMS}}; do /bin/true; done`),
  },
  {
    name: 'gate-other',
    what: `the same, each with other words, so that each is decided`,
    unit: 'ms',
    target: { ours: ['<=', 1] },
    measure: (context) => difference(context, `for i in {1..${PROGRAMS}}; do /bin/true $i; done`),
  },
];

async function difference({ dir, rounds }, text) {
  if (!existsSync(join(SHIM, '$LIB/libcuff-shim.so'))) throw new Error('there is no shim here');
  const { openGate } = await bundled(dir);
  const decide = ({ argv }) =>
    argv[0] === 'rm' ? { allow: false, message: 'rm is denied' } : { allow: true };
  const gate = await openGate({ directory: dir, strict: false, decide });
  const flags = ['--trace-gate', gate.path, '--trace-gate-strict', 'no'];
  try {
    const samples = await interleave(rounds(15), {
      gated: () => timed(() => traced(dir, text, flags)),
      traced: () => timed(() => traced(dir, text, [])),
    });
    if (gate.counts().asked < PROGRAMS) throw new Error('nobody asked');
    return { ours: samples.gated.map((ms, i) => (ms - samples.traced[i]) / PROGRAMS) };
  } finally {
    await gate.close();
  }
}

async function bundled(dir) {
  const outfile = join(dir, 'gate.mjs');
  const entry = join(ROOT, 'src/guard/gate.ts');
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm' });
  return import(pathToFileURL(outfile).href);
}

async function traced(dir, text, flags) {
  const capture = join(dir, 'capture');
  mkdirSync(capture);
  const words = ['run', 'bench', '--dir', capture, '--cwd', dir, '--stdin', 'null'];
  words.push('--session', 'own', '--sync', 'late', '--transport', 'socket', '--trace', SHIM);
  const command = ['--', 'bash', '-c', text];
  await finished(
    spawn(RUNNER, [...words, ...flags, ...command], { stdio: ['ignore', 'ignore', 'inherit'] }),
  );
  rmSync(capture, { recursive: true, force: true });
}
