// Attacks on a record are found, each with its own verdict; crashes are not called attacks. Without
// an anchor the holder of the stolen key can rewrite everything, and the words say so.
import { describe, expect, it } from 'vitest';
import { isWrong, type Verdict } from '../../../src/sealing/verify/findings.ts';
import { verifyEvidence } from '../../../src/sealing/verify/verify.ts';
import { verificationWords } from '../../../src/sealing/verify/words.ts';
import { seedOf } from '../../seed.ts';
import { ATTACKS, CRASHES, STOLEN } from './attacks.ts';
import { ordinary, type World } from './world.ts';

const TIMES = process.env.CUFF_LONG === '1' ? 250 : 25;
const SEEDS = Array.from({ length: TIMES }, (_, at) => seedOf('attacks') + at);

const UNPROVEN =
  /not anchored: the holder of your account could still rewrite|^No sealed entries here: nothing/;

function wrongs(world: World, anchored: boolean): Verdict[] {
  const { findings } = world.verify({ anchored });
  return [...new Set(findings.filter(isWrong).map(({ verdict }) => verdict))];
}

describe('an honest record', () => {
  it('has nothing wrong in it, and says how far anchors reach', () => {
    for (const seed of SEEDS) {
      const { world } = ordinary(seed);
      const { findings, counts, intact, ledger } = world.verify();
      expect({ findings, intact }).toEqual({ findings: [], intact: true });
      expect(counts.entries).toBe(world.sessions.flatMap(({ lines }) => lines).length);
      const anchored = world.sessions.slice(0, 3).flatMap(({ lines }) => lines).length;
      expect([counts.anchored, counts.unsigned, counts.unsealed]).toEqual([anchored, 0, 0]);
      expect(ledger.signed).toBe(world.leaves.length);
    }
  });
});

describe.each(ATTACKS)('$name', ({ does, verdicts }) => {
  it('is found, with and without an anchor', () => {
    for (const seed of SEEDS) {
      const { world, random } = ordinary(seed);
      does(world, random);
      for (const anchored of [true, false]) {
        const found = wrongs(world, anchored);
        expect(
          found.filter((one) => verdicts.includes(one)),
          `seed ${seed}: ${found}`,
        ).not.toEqual([]);
      }
    }
  });
});

describe.each(STOLEN)('with the stolen key: $name', ({ does, verdicts }) => {
  it('is found with an anchor, and only with it', () => {
    for (const seed of SEEDS) {
      const { world, random } = ordinary(seed);
      does(world, random);
      const found = wrongs(world, true);
      expect(
        found.filter((one) => verdicts.includes(one)),
        `seed ${seed}: ${found}`,
      ).not.toEqual([]);
      expect(wrongs(world, false), `seed ${seed}`).toEqual([]);
      // It passes, and the words say what that is worth.
      const words = verificationWords(world.verify({ anchored: false }), world.now).join('\n');
      expect(words, `seed ${seed}`).toMatch(UNPROVEN);
    }
  });
});

describe.each(CRASHES)('a crash that left $name', ({ does, verdicts }) => {
  it('is no attack', () => {
    for (const seed of SEEDS) {
      const { world, random } = ordinary(seed);
      does(world, random);
      const { findings, intact } = verifyEvidence(world.evidence());
      expect(intact, `seed ${seed}: ${JSON.stringify(findings)}`).toBe(true);
      expect(findings.map(({ verdict }) => verdict)).toEqual(verdicts);
    }
  });
});
