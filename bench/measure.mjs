// The harness: interleaved rounds, medians, verdicts, temporary directories, and children that
// measure in a process of their own. Knows nothing about what is measured.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir } from 'node:os';
import { join } from 'node:path';

const QUICK_SHARE = 5; // --quick does one round in so many

/** How many rounds: as many as a stable median needs, or a few for a first look. */
export function rounds(quick) {
  return (full) => (quick ? Math.max(2, Math.ceil(full / QUICK_SHARE)) : full);
}

/**
 * Samples of every side, one of each per round, so that whatever else the machine does hits all
 * of them alike. A side is a function that gives its own sample. The warm-up is thrown away.
 */
export async function interleave(count, sides, { warmUp = 1 } = {}) {
  const names = Object.keys(sides);
  const samples = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -warmUp; round < count; round += 1) {
    for (const name of names) {
      const sample = await sides[name]();
      if (round >= 0) samples[name].push(sample);
    }
  }
  return samples;
}

/** Milliseconds until what `work` gives is there. */
export async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function summarise(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share) => sorted[Math.round((sorted.length - 1) * share)];
  return { median: at(0.5), low: at(0.25), high: at(0.75), count: sorted.length };
}

/** `target` may limit the ratio, our own number, or both: `['<=', 0.8]`. None: for information. */
export function judge(target, ours, baseline) {
  const ratio = baseline && ours.median / baseline.median;
  if (target === undefined) return { ratio, verdict: 'info' };
  const held = within(target.ratio, ratio) && within(target.ours, ours.median);
  return { ratio, verdict: held ? 'ok' : 'MISSED' };
}

function within(limit, value) {
  if (limit === undefined) return true;
  const [kind, max] = limit;
  return kind === '<' ? value < max : value <= max;
}

/** Removes what `use` left behind, also when the bench is interrupted. */
export async function withTempDir(use) {
  const outer = mkdtempSync(join(tmpdir(), 'cuff-bench-'));
  const remove = () => rmSync(outer, { recursive: true, force: true, maxRetries: 3 });
  const interrupted = () => process.exit(130);
  process.on('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, interrupted);
  try {
    return await use(undisturbed(outer));
  } finally {
    process.off('exit', remove);
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, interrupted);
    remove();
  }
}

/**
 * A directory that is like a state root in a home. An ext4 without a journal makes new files many
 * times slower wherever many were removed in the last minutes, as after the tests or another bench;
 * `+T` spreads new directories over the disk, and the one with the quickest new files is taken.
 */
function undisturbed(outer) {
  spawnSync('chattr', ['+T', outer], { stdio: 'ignore' });
  const places = Array.from({ length: 5 }, () => {
    const dir = mkdtempSync(join(outer, 'row-'));
    const probe = mkdtempSync(join(dir, 'probe-'));
    const start = performance.now();
    for (let i = 0; i < 20; i += 1) writeFileSync(join(probe, String(i)), '');
    return { dir, ms: performance.now() - start };
  });
  return places.sort((a, b) => a.ms - b.ms)[0].dir;
}

/** What a measuring child printed as JSON. Its question comes as JSON in its first argument. */
export async function askChild(url, question, flags = []) {
  const { out } = await finished(
    spawn(process.execPath, [...flags, url.pathname, JSON.stringify(question)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  return JSON.parse(out);
}

/** Until a child and its output have ended; throws when it failed. It does not outlive us. */
export async function finished(child) {
  const pieces = [];
  const end = () => child.kill();
  process.on('exit', end);
  child.stdout?.on('data', (piece) => pieces.push(piece));
  try {
    await new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => {
        if (code === 0) resolve();
        else reject(new Error(`${child.spawnargs.join(' ').slice(0, 200)}: ${signal ?? code}`));
      });
    });
  } finally {
    process.off('exit', end);
  }
  return { out: Buffer.concat(pieces).toString() };
}

/** A shell command with its output thrown away. */
export function bash(text) {
  return finished(spawn('bash', ['-c', text], { stdio: ['ignore', 'ignore', 'inherit'] }));
}

export function machine() {
  const load = loadavg().map((value) => Number(value.toFixed(2)));
  const [cpu] = cpus();
  return { node: process.version, kernel: release(), cores: cpus().length, cpu: cpu?.model, load };
}
