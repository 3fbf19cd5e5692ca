// The table of scores over all hard cases.
import type { Score, Tally } from './judge.ts';

type Named = { readonly name: string; readonly mode: string; readonly score: Score };

export function addUp(scores: readonly Score[]): {
  readonly starts: number;
  readonly ends: number;
  readonly bytes: number;
  readonly wrong: number;
} {
  const share = (pick: (score: Score) => Tally): number => {
    const all = scores.reduce((sum, score) => sum + pick(score).all, 0);
    const known = scores.reduce((sum, score) => sum + pick(score).known, 0);
    return known / all; // nothing at all is no number, and passes no threshold
  };
  return {
    starts: share((score) => score.starts),
    ends: share((score) => score.ends),
    bytes: share((score) => score.bytes),
    wrong: scores.reduce((sum, score) => sum + score.wrong, 0),
  };
}

/** A line for each mode, then everything that is not known, with the reason where there is one. */
export function scoreTable(scores: readonly Named[], skipped: readonly string[]): string {
  const lines = ['hard cases   cases  starts            ends              bytes  wrong'];
  for (const mode of ['socket', 'pipe', 'pty']) {
    const own = scores.filter((one) => one.mode === mode);
    const { bytes, wrong } = addUp(own.map(({ score }) => score));
    const cell = (pick: (score: Score) => Tally): string => {
      const all = own.reduce((sum, { score }) => sum + pick(score).all, 0);
      const known = own.reduce((sum, { score }) => sum + pick(score).known, 0);
      return `${known} of ${all} ${((100 * known) / all).toFixed(1)} %`.padEnd(18);
    };
    const [starts, ends] = [cell((score) => score.starts), cell((score) => score.ends)];
    const count = String(own.length).padStart(5);
    lines.push(
      `${mode.padEnd(11)}  ${count}  ${starts}${ends}${(100 * bytes).toFixed(2)} %  ${wrong}`,
    );
  }
  for (const { name, mode, score } of scores) {
    for (const miss of score.misses) lines.push(`unknown: ${name} (${mode}): ${miss}`);
    for (const excuse of score.excused) lines.push(`cannot be known: ${name} (${mode}): ${excuse}`);
  }
  for (const reason of skipped) lines.push(`not run: ${reason}`);
  return lines.join('\n');
}
