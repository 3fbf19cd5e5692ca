// `cuff verify` as a program: what it says of a proof, and how it exits.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { formatVerifierKey } from '../../src/ledger/note-keys.ts';
import { KEY, proofOf } from '../sealing/verify/small-proof.ts';
import { Cli } from './helper.ts';

const cli = new Cli();
const VKEY = formatVerifierKey(KEY.verifier);

afterAll(() => cli.close());

function file(name: string, text: string): string {
  const path = join(cli.root, name);
  writeFileSync(path, text);
  return path;
}

const good = file('good.proof', JSON.stringify(proofOf(['facts', 'text'])));
const vkey = file('ledger.vkey', `${VKEY}\n`);

describe('cuff verify PROOF', () => {
  it('says what is proven and what is not', async () => {
    const { code, out, err } = await cli.cuff('verify', good, '--vkey', vkey);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('  it is line 2 of the 3 lines of the ledger cuff.local/abcdefghijklm\n');
    expect(out).toContain('  no witness is asked for: ');
    const json = await cli.cuff('verify', good, '--vkey', VKEY, '--json');
    expect(JSON.parse(json.out)).toMatchObject({
      proven: true,
      index: 1,
      in_tree: true,
      signed_by: VKEY,
      parts: { facts: { state: 'as_sealed' }, stdout: { state: 'not_shown' } },
    });
  });

  it('exits 1 for a proof that does not hold', async () => {
    const changed = { ...proofOf(['facts']), parts: { facts: { salt: '', data: '' } } };
    const { code, out } = await cli.cuff(
      'verify',
      file('bad', JSON.stringify(changed)),
      '--vkey',
      VKEY,
    );
    expect(code).toBe(1);
    expect(out).toContain('  WRONG: facts: shown, and not what was sealed\n');
  });

  it('exits 2 for what is no proof, key or policy, and says which', async () => {
    const calls: [args: string[], words: string][] = [
      [[join(cli.root, 'gone'), '--vkey', VKEY], 'gone cannot be read: ENOENT.'],
      [[vkey, '--vkey', VKEY], 'ledger.vkey: it is no proof that cuff wrote.'],
      [[good], 'There is no ledger here, so no key to verify with.'],
      [[good, '--vkey', 'a+b+c'], 'a+b+c is no public key of a ledger.'],
      [[good, '--policy', vkey], "ledger.vkey, line 1: '"],
    ];
    for (const [args, words] of calls) {
      const { code, out, err } = await cli.cuff('verify', ...args);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain(words);
    }
  });
});
