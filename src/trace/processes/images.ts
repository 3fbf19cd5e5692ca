// The programs that one process was, from all reports about it. Several may report one image: the
// parent before it, the shim in it, the runner that started or looked at it. The image's own report
// wins, and an exec without a contradiction happened.

import { baseName } from '../../text/base-name.ts';
import type { ExecFrame, StartFrame } from '../decode/format.ts';
import type { Life } from './lives.ts';
import type { FailedExec, Image } from './process.ts';

// From the best source down: from inside, by looking, by the report of the starter.
const TRUST = { shim: 3, ptrace: 2, proc: 2, runner: 1, exec: 0, name: -1 } as const;

type ReportSource = keyof typeof TRUST;

type Draft = { image: Image; best: ReportSource; readonly told: Set<ReportSource> };

export function imagesOf(life: Life): {
  readonly images: readonly Image[];
  readonly failedExecs: readonly FailedExec[];
} {
  const drafts: Draft[] = [];
  const failedExecs: FailedExec[] = [];
  const [spawned] = life.spawnedBy;
  // The parent says it late, when the child may have gone on already.
  if (spawned !== undefined) drafts.push(fromExec(spawned, life.firstNs));
  for (const frame of life.said) {
    if (frame.type === 'start') takeStart(drafts, frame);
    if (frame.type === 'exec' && frame.spawned === undefined) {
      drafts.push(fromExec(frame, frame.atNs));
    }
    if (frame.type === 'execfail') {
      const { file, errno, atNs, spawn } = frame;
      failedExecs.push({ file, errno, atNs, spawn });
      if (!spawn && isTentative(drafts.at(-1))) drafts.pop();
    }
  }
  return { images: drafts.map(({ image }) => image), failedExecs };
}

/** Announced, and nothing heard from it yet. */
function isTentative(draft: Draft | undefined): boolean {
  return draft?.best === 'exec';
}

function takeStart(drafts: Draft[], frame: StartFrame): void {
  if (frame.exe === '' && frame.argv.length === 0) return;
  const last = drafts.at(-1);
  if (nameOf(frame) !== undefined) {
    if (last === undefined) drafts.push({ ...fromStart(frame), best: 'name' });
    return;
  }
  const firstHand = frame.source === 'shim' || frame.source === 'ptrace';
  const its = firstHand ? ownImage(last, frame) : seenImage(drafts, frame);
  if (its === undefined) drafts.push(fromStart(frame));
  else improve(its, frame);
}

/** A zombie has nothing but a short name, which stands for its words: `[name]`. */
export function nameOf(image: Pick<Image, 'exe' | 'argv' | 'cut'>): string | undefined {
  const [word = ''] = image.argv;
  const only = image.exe === '' && image.cut && image.argv.length === 1;
  return only && /^\[.*\]$/s.test(word) ? word.slice(1, -1) : undefined;
}

/** The image that a shim or a tracer means, which speak when one begins, if it is no new one. */
function ownImage(last: Draft | undefined, frame: StartFrame): Draft | undefined {
  if (last === undefined) return undefined;
  if (last.best === 'name') return last;
  if (isTentative(last)) {
    // No shim can be in a static program, so this one is already the next.
    return last.image.isStatic && frame.source === 'shim' ? undefined : last;
  }
  if (!last.told.has(frame.source)) return describes(last, frame) ? last : undefined;
  return last.image.exe === frame.exe && sameWords(last.image, frame) ? last : undefined;
}

/** The image that was seen from outside: the last one, or, during an exec, either. */
function seenImage(drafts: readonly Draft[], frame: StartFrame): Draft | undefined {
  const last = drafts.at(-1);
  if (last === undefined || last.best === 'name') return last;
  // Programs change what /proc says about their argv.
  if (last.image.exe === frame.exe || describes(last, frame)) return last;
  if (!isTentative(last)) return undefined;
  const before = drafts.at(-2);
  const old = before !== undefined && before.image.exe === frame.exe;
  return old || (before && describes(before, frame)) ? before : last;
}

function improve(draft: Draft, frame: StartFrame): void {
  const { image } = draft;
  draft.told.add(frame.source);
  const startNs = frame.atNs < image.startNs ? frame.atNs : image.startNs;
  const better = TRUST[frame.source] > TRUST[draft.best] ? fromStart(frame).image : image;
  draft.image = {
    ...better,
    exe: better.exe || frame.exe || image.exe,
    cwd: better.cwd || frame.cwd || image.cwd,
    isStatic: image.isStatic || frame.isStatic,
    startNs,
  };
  if (better !== image) draft.best = frame.source;
}

function fromStart(frame: StartFrame): Draft {
  const { exe, argv, args, cwd, uid, env, isStatic, cut, redacted, atNs } = frame;
  const argvFrom = frame.source === 'runner' ? 'parent' : 'child';
  const words = { exe, argv, args, cwd, cut, redacted, argvFrom } as const;
  const image = { ...words, startNs: atNs, uid, env, isStatic, inherited: false };
  return { image, best: frame.source, told: new Set<ReportSource>([frame.source]) };
}

function fromExec(frame: ExecFrame, startNs: bigint): Draft {
  const { file, argv, args, isStatic, cut, redacted } = frame;
  const words = { exe: file, argv, args, cwd: '', cut, redacted, argvFrom: 'parent' } as const;
  const image = { ...words, startNs, uid: undefined, env: {}, isStatic, inherited: false };
  return { image, best: 'exec', told: new Set<ReportSource>(['exec']) };
}

/** Whether a start may be that of an image another source reported. */
function describes({ image, best }: Draft, frame: StartFrame): boolean {
  if (sameWords(image, frame)) return true;
  const cut = image.cut || frame.cut || image.argv.length === 0 || frame.argv.length === 0;
  if (cut && image.exe === frame.exe) return true;
  // A script is started with other words than those it runs with.
  if (frame.source === 'runner') return isScript(frame, image.argv);
  return TRUST[best] <= TRUST.runner && isScript(image, frame.argv);
}

type Words = Pick<Image, 'argv' | 'args' | 'cut' | 'redacted'>;

/** The same argv, as far as both have it. */
export function sameWords(a: Words, b: Words): boolean {
  if (a.args !== b.args || a.argv.length === 0) return false;
  const count = Math.min(a.argv.length, b.argv.length);
  const redacted = a.redacted !== b.redacted;
  for (let i = 0; i < count; i += 1) {
    const [left = '', right = ''] = [a.argv[i], b.argv[i]];
    const cut = (a.cut || b.cut) && i === count - 1;
    if (left === right || (cut && (left.startsWith(right) || right.startsWith(left)))) continue;
    if (!redacted || i === 0) return false;
  }
  return true;
}

/** The kernel puts the interpreter of a `#!` line in front of the file, and drops argv[0]. */
function isScript(given: Pick<Image, 'exe' | 'argv'>, run: readonly string[]): boolean {
  const rest = given.argv.slice(1);
  const at = run.length - rest.length - 1;
  const file = run[at];
  if (at < 1 || file === undefined || given.argv.length === 0) return false;
  const names = [given.exe, given.argv[0] ?? ''].map(baseName);
  return names.includes(baseName(file)) && rest.every((word, i) => word === run[at + 1 + i]);
}
