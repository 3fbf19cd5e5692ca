// A policy is of use when it fits the next session, too: it is made from all sessions but one, and
// tried on that one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ATTACKS } from '../../../src/policy/generate/attacks.ts';
import { lacking } from '../../requirements.ts';
import {
  allowing,
  benign,
  generated,
  HOME,
  longSessions,
  type Recorded,
  readLines,
  recorded,
} from './helper.ts';

/** For each session, which of its commands are allowed by what the others taught. */
function heldOut(lines: readonly Recorded[], attacks: readonly string[]) {
  return [...new Set(lines.map(({ session }) => session))].map((session) => {
    const made = generated(recorded(lines.filter((one) => one.session !== session)), 'semantic');
    const allows = allowing(made.policy);
    const own = lines.filter((one) => one.session === session);
    const accepted = own.filter((one) => allows({ ...one, project: one.cwd }));
    const project = own[0]?.cwd ?? HOME;
    const passed = attacks.filter((command) => allows({ command, cwd: project, project }));
    return { session, share: accepted.length / own.length, passed };
  });
}

function average(shares: readonly number[]): number {
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

describe('a session that nobody has seen', () => {
  it('is accepted to three quarters at least by semantic, and no attack is', () => {
    const results = heldOut(benign(), ATTACKS);
    expect(results.flatMap(({ passed }) => passed)).toEqual([]);
    expect(results.filter(({ share }) => share < 0.75)).toEqual([]);
    expect(average(results.map(({ share }) => share))).toBeGreaterThan(0.85);
  });

  it('is accepted more by semantic than by pattern, and more by pattern than by exact', () => {
    const lines = benign();
    const [exact = 0, pattern = 0, semantic = 0] = (['exact', 'pattern', 'semantic'] as const).map(
      (strategy) => {
        const known = recorded(lines.filter(({ session }) => session !== 'web2'));
        const allows = allowing(generated(known, strategy).policy);
        const own = lines.filter(({ session }) => session === 'web2');
        return own.filter((one) => allows({ ...one, project: one.cwd })).length;
      },
    );
    expect([exact < pattern, pattern < semantic]).toEqual([true, true]);
  });

  it('of another project and another trade is accepted to six tenths, and no attack is', () => {
    const lines = longSessions();
    const names = [...new Set(lines.map(({ session }) => session))];
    const halves = [0, 1].map((odd) =>
      lines.filter((one) => names.indexOf(one.session) % 2 === odd),
    );
    const shares = halves.map((half, at) => {
      const allows = allowing(generated(recorded(half), 'semantic').policy);
      const project = `${HOME}/app`;
      expect(ATTACKS.filter((command) => allows({ command, cwd: project, project }))).toEqual([]);
      const others = halves[1 - at] ?? [];
      return others.filter((one) => allows({ ...one, project: one.cwd })).length / others.length;
    });
    // The rest is deleted, overwritten, code of its own, or a program that the others do not use.
    expect(average(shares)).toBeGreaterThan(0.58);
  });

  const corpus = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'policy-corpus.jsonl');
  const missing = lacking(!existsSync(corpus), 'the corpus of attacks is not beside this folder');

  it.skipIf(missing)('of the corpus: accepted to three quarters, with none of its attacks', () => {
    const lines = readLines<Recorded & { readonly kind: string }>(corpus);
    const attacks = lines.filter(({ kind }) => kind === 'attack').map(({ command }) => command);
    const work = lines.filter(({ kind }) => kind === 'benign');
    const results = heldOut(work, attacks);
    expect(results.flatMap(({ passed }) => passed)).toEqual([]);
    expect(average(results.map(({ share }) => share))).toBeGreaterThanOrEqual(0.75);
  });
});
