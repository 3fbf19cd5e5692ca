// Leaves: one text for each leaf and one leaf for each text; commitments against literals that an
// independent program made.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CAPTURE_PARTS,
  commitmentTo,
  ENTRY_PARTS,
  isCommitment,
  parseSalt,
  partSalt,
  sha256,
} from '../../src/ledger/commitments.ts';
import {
  formatLeaf,
  LEAF_BYTES_MAX,
  LEAF_KINDS,
  type Leaf,
  parseLeaf,
} from '../../src/ledger/leaf.ts';
import type { ByteRange } from '../../src/ledger/tokens.ts';

const C = 'IHfdpnRdkw6a_Q0PjVwmlQv70gW1Pzws83A_9uWEIAs';
const J = 'abcdefghijklmnopqrstuvwxyz';
const S = '20260118_143052_a7b3c9d2-e4f5';
const AT = Date.parse('2026-01-18T14:30:52.123Z');
const T = '2026-01-18T14:30:52.123Z';
const SHA = 'ab'.repeat(32);
const VKEY = 'cuff.local/abc+3d36ee89+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs';

const parts = { meta: C, output: C, index: C, events: C, trace: null, final: null };
const inSession = { journal: J, session: S, at: AT } as const;
const entry = {
  ...inSession,
  kind: 'entry',
  sequence: 3,
  origin: 'live',
  facts: C,
  text: C,
  stdout: C,
  stderr: null,
} as const;

const EXAMPLES: readonly (readonly [Leaf, string])[] = [
  [{ ...inSession, kind: 'open', agent: 'claude code' }, `open ${J} ${S} ${T} claude%20code`],
  [{ ...inSession, kind: 'open', agent: '-' }, `open ${J} ${S} ${T} %2D`],
  [{ ...inSession, kind: 'open', agent: null }, `open ${J} ${S} ${T} -`],
  [
    { ...inSession, kind: 'close', status: 'complete', count: 3 },
    `close ${J} ${S} ${T} complete 3`,
  ],
  [{ ...entry, run: 'r_1' }, `entry ${J} ${S} 3 ${T} live ${C} ${C} ${C} - r_1`],
  [{ ...entry, run: null }, `entry ${J} ${S} 3 ${T} live ${C} ${C} ${C} -`],
  [
    { ...inSession, kind: 'amend', sequence: 3, amends: 'late-output', line: C },
    `amend ${J} ${S} 3 ${T} late-output ${C}`,
  ],
  [
    { kind: 'capture', run: 'r', at: AT, until: AT, bytes: 12, output_end: 'closed', ...parts },
    `capture r ${T} ${T} 12 closed ${C} ${C} ${C} ${C} - -`,
  ],
  [{ kind: 'pin', run: 'r', at: AT }, `pin r ${T}`],
  [{ kind: 'unpin', run: 'r', at: AT }, `unpin r ${T}`],
  [
    {
      ...inSession,
      kind: 'tombstone',
      by: 'retention',
      count: 3,
      first: 1,
      last: 3,
      why: '30 days',
    },
    `tombstone ${J} ${S} ${T} retention 3 1 3 30%20days`,
  ],
  [
    { kind: 'redact', ...inSession, sequence: 3, parts: ['text', 'stdout'], why: 'ä%' },
    `redact ${J} ${S} 3 ${T} text,stdout %C3%A4%25`,
  ],
  [
    {
      kind: 'redact-capture',
      run: 'r',
      at: AT,
      ranges: [
        [0, 5],
        [9, 12],
      ],
      why: null,
    },
    `redact-capture r ${T} 0-5,9-12 -`,
  ],
  [{ kind: 'fork', journal: J, at: AT, from: 'old', why: 'copied' }, `fork ${J} ${T} old copied`],
  [{ kind: 'gap', journal: null, at: AT, why: 'ENOSPC' }, `gap - ${T} ENOSPC`],
  [
    { kind: 'policy', journal: J, at: AT, sha256: SHA, mode: 'enforce' },
    `policy ${J} ${T} ${SHA} enforce`,
  ],
  [{ kind: 'config', journal: J, at: AT, sha256: SHA }, `config ${J} ${T} ${SHA}`],
  [{ kind: 'key', vkey: VKEY }, `key ${VKEY}`],
  [
    { kind: 'anchor', anchor: 'git', size: 12, where: 'origin/cuff-seal' },
    'anchor git 12 origin/cuff-seal',
  ],
];

describe('a leaf', () => {
  it('is one line of tokens, and nothing else is read as one', () => {
    for (const [leaf, words] of EXAMPLES) {
      expect(formatLeaf(leaf)).toBe(`cuff/1 ${words}\n`);
      expect(parseLeaf(`cuff/1 ${words}\n`)).toEqual(leaf);
      for (const bad of [words, `cuff/1 ${words}`, `cuff/2 ${words}\n`, `cuff/1  ${words}\n`]) {
        expect(parseLeaf(bad)).toBeUndefined();
      }
    }
    expect(new Set(EXAMPLES.map(([{ kind }]) => kind))).toEqual(new Set(LEAF_KINDS));
  });

  it('is the bytes it was read from, whatever those are', () => {
    const characters = fc.constantFrom(...' -%/,0123456789abcABC\n');
    const change = fc.record({ at: fc.nat(), by: fc.string({ unit: characters, maxLength: 3 }) });
    fc.assert(
      fc.property(fc.constantFrom(...EXAMPLES), change, ([, words], { at, by }) => {
        const line = `cuff/1 ${words}\n`;
        const place = at % line.length;
        const changed = line.slice(0, place) + by + line.slice(place + 1);
        const leaf = parseLeaf(changed);
        if (leaf !== undefined) expect(formatLeaf(leaf)).toBe(changed);
      }),
      { numRuns: 2_000 },
    );
  });

  it('says any text', () => {
    const texts = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(texts, (why) => {
        const leaf: Leaf = { kind: 'gap', journal: J, at: AT, why: why.toWellFormed() };
        const line = formatLeaf(leaf);
        expect(line).toMatch(/^[ -~]+\n$/);
        expect(parseLeaf(line)).toEqual(leaf);
      }),
    );
  });

  it('says numbers, times, parts and ranges in one way', () => {
    const ranges = fc
      .uniqueArray(fc.nat(10_000), { minLength: 2, maxLength: 12 })
      .map((bounds) => bounds.toSorted((a, b) => a - b))
      .map((bounds) =>
        bounds.flatMap((from, at): ByteRange[] => {
          const to = bounds[at + 1];
          return at % 2 === 0 && to !== undefined ? [[from, to]] : [];
        }),
      );
    const moment = fc.integer({ min: 0, max: Date.UTC(9999, 0, 1) });
    fc.assert(
      fc.property(ranges, moment, fc.subarray([...ENTRY_PARTS], { minLength: 1 }), (r, at, p) => {
        const capture: Leaf = { kind: 'redact-capture', run: 'r', at, ranges: r, why: null };
        expect(parseLeaf(formatLeaf(capture))).toEqual(capture);
        const redact: Leaf = { ...inSession, kind: 'redact', at, sequence: 1, parts: p, why: null };
        expect(parseLeaf(formatLeaf(redact))).toEqual(redact);
      }),
    );
  });

  it('cannot say a name with a space, a number that is none, or too much', () => {
    const bad: Leaf[] = [
      { kind: 'pin', run: 'a b', at: AT },
      { kind: 'pin', run: '', at: AT },
      { kind: 'pin', run: 'r', at: Number.NaN },
      { kind: 'pin', run: 'r', at: 253_402_300_800_000 },
      { kind: 'gap', journal: J, at: AT, why: '' },
      { kind: 'gap', journal: J, at: AT, why: 'x'.repeat(LEAF_BYTES_MAX) },
      { kind: 'redact', ...inSession, sequence: -1, parts: ['text'], why: null },
      { kind: 'redact', ...inSession, sequence: 1, parts: [], why: null },
      { kind: 'redact-capture', run: 'r', at: AT, ranges: [[5, 5]], why: null },
      { kind: 'key', vkey: 'a+b' },
      { ...entry, run: null, facts: `${C.slice(0, -1)}t` },
    ];
    for (const leaf of bad) expect(() => formatLeaf(leaf)).toThrow(RangeError);
  });
});

describe('a commitment', () => {
  it('is what an independent program made', () => {
    const salt = Uint8Array.from({ length: 16 }, (_, at) => at);
    const made = [0, 1, 3, 4, 5].map((place) =>
      commitmentTo(sha256(Buffer.from('{"a":1}')), partSalt(salt, place)),
    );
    expect(made).toEqual([
      'IHfdpnRdkw6a_Q0PjVwmlQv70gW1Pzws83A_9uWEIAs',
      'W2WqgBBTBoIIf7nKhSg-yDglBzgTd6ymlP9DG-h-QsU',
      '6f38E8U6Pb3JFzpZ8absJnaH4a8O33Rn35-i3agppkc',
      'tuYhLB7TRqoGNhhyovaZ_zxw-wL2C6HgQMKbIYbMy18',
      'sc4RGASweQSNZbPeTEF4TFH6LLlFqPlB7-4z5CPzT7g',
    ]);
    expect(made.every(isCommitment)).toBe(true);
  });

  it('has a salt of its own for each part', () => {
    const salts = CAPTURE_PARTS.map((_, place) =>
      partSalt(new Uint8Array(16), place).toString('hex'),
    );
    expect(new Set(salts).size).toBe(CAPTURE_PARTS.length);
    expect(parseSalt('AAAAAAAAAAAAAAAAAAAAAA')).toEqual(Buffer.alloc(16));
    expect(['AAAAAAAAAAAAAAAAAAAAAB', 'AAAA', ''].map(parseSalt)).toEqual(Array(3).fill(undefined));
  });
});
