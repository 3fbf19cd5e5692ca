// The proof of one entry: it holds as it was made, and nothing that was changed in it does.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ENTRY_PARTS } from '../../../src/ledger/commitments.ts';
import { parseLogPolicy } from '../../../src/ledger/log-policy.ts';
import { formatVerifierKey, signerKey } from '../../../src/ledger/note-keys.ts';
import { checkProof, isProven, type ProofCheck } from '../../../src/sealing/verify/proof.ts';
import { proofWords } from '../../../src/sealing/verify/proof-words.ts';
import { KEY, LEAF, proofOf, WITNESS } from './small-proof.ts';

const OTHER = signerKey(KEY.verifier.name, new Uint8Array(32).fill(8));

function checked(json: unknown): ProofCheck {
  const reading = checkProof(JSON.stringify(json), [KEY.verifier]);
  if (reading.kind === 'no_proof') throw new Error(reading.reason);
  return reading.check;
}

describe('the proof of an entry', () => {
  it('says what was sealed, what is shown and who signed', () => {
    const check = checked(proofOf(['facts', 'text']));
    expect(isProven(check)).toBe(true);
    expect(proofWords(check)).toEqual([
      'entry 3 of session 20260118_143052_a7b3c9d2-e4f5, 1970-01-01T00:00:00.000Z, ' +
        'recorded as it ended',
      '  command: npm test',
      '  it is line 2 of the 3 lines of the ledger cuff.local/abcdefghijklm',
      `  signed with ${formatVerifierKey(KEY.verifier)}`,
      '  facts, text: shown, and as sealed',
      '  stdout: sealed, not shown',
      '  stderr: there was nothing',
      '  no witness is asked for: the holder of the key could have made this later',
    ]);
  });

  it('is wrong with another part, leaf, place or key', () => {
    const good = proofOf(['facts', 'stdout']);
    const part = { ...good.parts.stdout, data: 'bad\n' };
    const wrong = checked({ ...good, parts: { ...good.parts, stdout: part } });
    expect([isProven(wrong), proofWords(wrong)]).toEqual([
      false,
      expect.arrayContaining(['  WRONG: stdout: shown, and not what was sealed']),
    ]);
    const otherLeaf = checked({ ...good, leaf: LEAF.replace(' 3 ', ' 4 ') });
    expect([isProven(otherLeaf), otherLeaf.inTree]).toEqual([false, false]);
    const otherPlace = checked({ ...good, proof: good.proof.replace('index 1', 'index 0') });
    expect(isProven(otherPlace)).toBe(false);
    const reading = checkProof(JSON.stringify(good), [OTHER.verifier]);
    expect(reading.kind === 'checked' && isProven(reading.check)).toBe(false);
    const swapped = { ...good.parts, text: good.parts.facts };
    expect(isProven(checked({ ...good, parts: swapped }))).toBe(false);
    const invented = { ...good.parts, stderr: good.parts.facts };
    expect(isProven(checked({ ...good, parts: invented }))).toBe(false);
  });

  it('needs the witnesses that a policy asks for', () => {
    const text = [
      `log ${formatVerifierKey(KEY.verifier)}`,
      `witness W ${formatVerifierKey(WITNESS.verifier)}`,
      'quorum W',
    ].join('\n');
    const policy = parseLogPolicy(text);
    if (policy.kind !== 'policy') throw new Error(policy.reason);
    const last = (json: unknown): [boolean, string] => {
      const reading = checkProof(JSON.stringify(json), [], policy.policy);
      if (reading.kind === 'no_proof') throw new Error(reading.reason);
      return [isProven(reading.check), proofWords(reading.check).at(-1) ?? ''];
    };
    expect(last(proofOf([], 1_700_000_000))).toEqual([true, '  seen by W, as the policy wants']);
    expect(last(proofOf([]))).toEqual([
      false,
      '  WRONG: seen by no witness; the policy wants more',
    ]);
  });

  it('is never thrown over, and never proven, with another byte', () => {
    const good = JSON.stringify(proofOf([...ENTRY_PARTS.slice(0, 3)]));
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bytes = Buffer.from(good);
        const place = at % bytes.length;
        bytes[place] = (bytes[place] ?? 0) ^ flip;
        const reading = checkProof(bytes.toString('utf8'), [KEY.verifier]);
        if (reading.kind === 'no_proof' || !isProven(reading.check)) return;
        // What still proves is the same proof: a name of JSON that nothing reads has changed.
        expect(reading.check.leaf).toEqual(checked(JSON.parse(good)).leaf);
        expect(reading.check.parts.filter(({ state }) => state === 'changed')).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});
