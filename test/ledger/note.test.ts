// Signed notes, checkpoints, cosignatures and their files, against literals that Go's sumdb/note
// and a small Python program made, and against changes of a character.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkpointOf, checkpointText, parseSize } from '../../src/ledger/checkpoint.ts';
import { parseLogPolicy, quorumOf } from '../../src/ledger/log-policy.ts';
import {
  checkSignature,
  formatNote,
  formatSignature,
  type Note,
  parseNote,
  parseSignatures,
  signNote,
} from '../../src/ledger/note.ts';
import {
  formatSignerKey,
  formatVerifierKey,
  isKeyName,
  parseSignerKey,
  parseVerifierKey,
  type SignerKey,
  signerKey,
  type VerifierKey,
} from '../../src/ledger/note-keys.ts';
import { consistencyProof, inclusionProof } from '../../src/ledger/proofs.ts';
import { formatTlogProof, parseTlogProof, provenIn } from '../../src/ledger/tlog-proof.ts';
import { leafHash, StoredHashes } from '../../src/ledger/tree.ts';
import {
  cosign,
  cosignedAt,
  formatAddCheckpoint,
  parseAddCheckpoint,
} from '../../src/ledger/witness.ts';

const ORIGIN = 'cuff.local/abcdefghijklm';
const SKEY = `PRIVATE+KEY+${ORIGIN}+3d36ee89+AQcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH`;
const VKEY = `${ORIGIN}+3d36ee89+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs`;
const TEXT = `${ORIGIN}\n29\nH8OSdvw9s8weU6P9GkoMPWmcNYrkXxxbXCNy48OeUU0=\n`;
const LINE =
  `\u2014 ${ORIGIN} PTbuiVn0tquxGpeeVtPsc8AkueSONBCv6DP4SLNABt8LjFzfH/CKD+b/HMJKd1C4KOpg` +
  'cMUal+AKlqzW4kCWBSEf8wo=\n';

const WITNESS_SKEY =
  'PRIVATE+KEY+witness.example/w1+24b5d9fe+BAkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJ';
const WITNESS_VKEY = 'witness.example/w1+24b5d9fe+BP0XJDhaoMdbZPt4zWAvodmR/ev3axPFjtcC6sg16fYY';
const WITNESS_LINE =
  '\u2014 witness.example/w1 JLXZ/gAAAABkGFDLyAlUYyOTjWrBBCkVZ1FjRyt+5WWd+wHGsDeWTTd4L5+w3Lk0g' +
  'osamqQOD/bgLY4fppj9p66yRWgZCV9sfCToAg==\n';

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it is not there');
  return value;
}
const signer = (): SignerKey => there(parseSignerKey(SKEY));
const verifier = (): VerifierKey => there(parseVerifierKey(VKEY));
const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 });
const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter(isKeyName);

describe('the key of a note', () => {
  it("is what Go's package makes of the same seed", () => {
    const made = signerKey(ORIGIN, new Uint8Array(32).fill(7));
    expect([formatSignerKey(made), formatVerifierKey(made.verifier)]).toEqual([SKEY, VKEY]);
    expect(formatSignerKey(signer())).toBe(SKEY);
    expect(formatVerifierKey(there(parseVerifierKey(WITNESS_VKEY)))).toBe(WITNESS_VKEY);
  });

  it('is read as it was written, and not with a character of another kind', () => {
    fc.assert(
      fc.property(
        seeds,
        words,
        fc.nat(),
        fc.constantFrom(...'+/=aZ09 \n'),
        (seed, name, at, by) => {
          const key = signerKey(name, seed);
          const [secret, open] = [formatSignerKey(key), formatVerifierKey(key.verifier)];
          expect(formatSignerKey(there(parseSignerKey(secret)))).toBe(secret);
          expect(formatVerifierKey(there(parseVerifierKey(open)))).toBe(open);
          const place = at % open.length;
          const changed = open.slice(0, place) + by + open.slice(place + 1);
          expect(parseVerifierKey(changed) === undefined).toBe(changed !== open);
        },
      ),
    );
  });

  it('has no name with a space or a plus sign', () => {
    for (const name of ['', 'a b', 'a+b', 'a\u00a0b', 'a\nb', 'a\u2028']) {
      expect(() => signerKey(name, new Uint8Array(32))).toThrow(RangeError);
    }
  });
});

describe('a signed note', () => {
  it("is the one that Go's package signs", () => {
    const note = signNote(TEXT, [signer()]);
    expect(formatNote(note)).toBe(`${TEXT}\n${LINE}`);
    expect(checkSignature(there(parseNote(`${TEXT}\n${LINE}`)), verifier())).toBe('verified');
  });

  it('may have lines of keys that the reader does not know', () => {
    const other = signerKey('other.example', new Uint8Array(32).fill(1));
    const note = signNote(TEXT, [other, signer()]);
    const read = there(parseNote(formatNote(note)));
    expect(read.signatures.map(({ name }) => name)).toEqual(['other.example', ORIGIN]);
    expect(checkSignature(read, verifier())).toBe('verified');
    const alone = there(parseNote(formatNote(signNote(TEXT, [other]))));
    expect(checkSignature(alone, verifier())).toBe('absent');
  });

  it('verifies for no other text and no other signature', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bytes = Buffer.from(`${TEXT}\n${LINE}`);
        const place = at % bytes.length;
        bytes[place] = (bytes[place] ?? 0) ^ flip;
        const note = parseNote(bytes.toString('utf8'));
        if (note !== undefined) expect(checkSignature(note, verifier())).not.toBe('verified');
      }),
    );
  });

  it('is nothing else', () => {
    const bad = [
      '',
      TEXT,
      `${TEXT}\n`,
      `${TEXT}${LINE}`,
      `${TEXT}\n${LINE.trim()}`,
      `${TEXT}\n${LINE.replace('\u2014', '-')}`,
      `${TEXT}\n${LINE.repeat(101)}`,
      `${TEXT.replace('29', '2\r9')}\n${LINE}`,
      `${TEXT}\n\u2014 ${ORIGIN} PTbuiQ==\n`,
      `${TEXT}\n${LINE.replace('=\n', '\n')}`,
    ];
    expect(bad.map(parseNote)).toEqual(bad.map(() => undefined));
    expect(() => signNote('no end', [signer()])).toThrow(RangeError);
    expect(parseSignatures(LINE)).toHaveLength(1);
  });
});

describe('a checkpoint', () => {
  it('says whose log it is, how large, and its root', () => {
    const found = there(checkpointOf(there(parseNote(`${TEXT}\n${LINE}`))));
    expect([found.origin, found.size, found.root.length]).toEqual([ORIGIN, 29, 32]);
    expect(checkpointText(found)).toBe(TEXT);
  });

  it('may have extensions, and no other form', () => {
    const of = (text: string) => checkpointOf({ text, signatures: [] });
    expect(of(`${TEXT}more of it\n`)?.size).toBe(29);
    const bad = [
      '\n1\n',
      TEXT.replace('29', '029'),
      TEXT.replace('29', '-1'),
      TEXT.replace('29', '9007199254740993'),
      TEXT.replace('=\n', '\n'),
      TEXT.trim(),
      `${TEXT}\n`,
      TEXT.replace(ORIGIN, ''),
    ];
    expect(bad.map(of)).toEqual(bad.map(() => undefined));
    expect(parseSize('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe('a witness', () => {
  it('signs the time and the text, as an independent program did', () => {
    const witness = there(parseSignerKey(WITNESS_SKEY));
    expect(formatSignature(cosign(TEXT, witness, 1_679_315_147))).toBe(WITNESS_LINE);
    const note = there(parseNote(`${TEXT}\n${LINE}${WITNESS_LINE}`));
    expect(cosignedAt(note, there(parseVerifierKey(WITNESS_VKEY)))).toBe(1_679_315_147);
    expect(checkSignature(note, verifier())).toBe('verified');
    const later = { ...note, text: note.text.replace('29', '30') };
    expect(cosignedAt(later, witness.verifier)).toBeUndefined();
    expect(cosignedAt(there(parseNote(`${TEXT}\n${LINE}`)), witness.verifier)).toBeUndefined();
  });

  it('is asked with the size it knows, a proof and the checkpoint', () => {
    const { tree, checkpoint } = smallLog(7);
    const request = { old: 3, proof: consistencyProof(3, 7, tree.at), checkpoint };
    const text = formatAddCheckpoint(request);
    expect(text).toMatch(/^old 3\n([\w+/]{43}=\n){4}\ncuff\.local\/abcdefghijklm\n7\n/);
    expect(parseAddCheckpoint(text)).toEqual(request);
    const first = formatAddCheckpoint({ old: 0, proof: [], checkpoint });
    expect(parseAddCheckpoint(first)).toEqual({ old: 0, proof: [], checkpoint });
    const bad = [text.replace('old 3', 'old 03'), text.replace('\n\n', '\n'), text.slice(4), ''];
    expect(bad.map(parseAddCheckpoint)).toEqual(bad.map(() => undefined));
    const long = { ...request, proof: Array.from({ length: 64 }, () => leafHash('x')) };
    expect(parseAddCheckpoint(formatAddCheckpoint(long))).toBeUndefined();
  });
});

function smallLog(size: number): { tree: StoredHashes; checkpoint: Note } {
  const tree = new StoredHashes();
  for (let at = 0; at < size; at += 1) tree.append(leafHash(`leaf ${at}\n`));
  const text = checkpointText({ origin: ORIGIN, size, root: tree.root() });
  return { tree, checkpoint: signNote(text, [signer()]) };
}

describe('a proof as a file', () => {
  it('holds for its leaf and no other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), (size, some) => {
        const { tree, checkpoint } = smallLog(size);
        const index = some % size;
        const proof = inclusionProof(index, size, tree.at);
        const read = there(parseTlogProof(formatTlogProof({ index, proof, checkpoint })));
        expect(read).toEqual({ index, proof, checkpoint });
        expect(provenIn(`leaf ${index}\n`, read)?.size).toBe(size);
        expect(provenIn(`leaf ${index}`, read)).toBeUndefined();
      }),
    );
  });

  it('may carry extra data, and has no other form', () => {
    const { tree, checkpoint } = smallLog(5);
    const good = formatTlogProof({ index: 2, proof: inclusionProof(2, 5, tree.at), checkpoint });
    expect(parseTlogProof(good.replace('\nindex', '\nextra YWdl\nindex'))?.index).toBe(2);
    const bad = [
      good.replace('@v1', '@v2'),
      good.replace('index 2', 'index 02'),
      good.replace('\nindex', '\nextra YWd\nindex'),
      good.replace('\n\n', '\n'),
      good.slice(0, -1),
    ];
    expect(bad.map(parseTlogProof)).toEqual(bad.map(() => undefined));
  });
});

describe('a policy file', () => {
  const cosigner = (fill: number): SignerKey =>
    signerKey(`w${fill}.example`, new Uint8Array(32).fill(fill), 'cosignature');
  const [w1, w2, w3] = [cosigner(1), cosigner(2), cosigner(3)];
  const vkey = (key: SignerKey): string => formatVerifierKey(key.verifier);
  const TWO_OF_THREE = [
    `log ${VKEY}`,
    '  # witnesses',
    '',
    `witness X1 ${vkey(w1)} https://w1.example/`,
    `witness X2\t${vkey(w2)}`,
    `witness Y ${vkey(w3)}`,
    'group X any X1 X2',
    'group all-of all X Y',
    'quorum all-of',
  ].join('\n');

  it('says which witnesses are enough', () => {
    const reading = parseLogPolicy(TWO_OF_THREE);
    if (reading.kind !== 'policy') throw new Error(reading.reason);
    const seenBy = (...keys: readonly SignerKey[]) => {
      const note = signNote(TEXT, [signer()]);
      const lines = keys.map((key) => cosign(TEXT, key, 1_700_000_000));
      return quorumOf(reading.policy, { ...note, signatures: [...note.signatures, ...lines] });
    };
    expect(reading.policy.logs.map(formatVerifierKey)).toEqual([VKEY]);
    expect(seenBy()).toEqual({ met: false, cosigned: [] });
    expect(seenBy(w1, w2)).toEqual({ met: false, cosigned: ['X1', 'X2'] });
    expect(seenBy(w2, w3)).toEqual({ met: true, cosigned: ['X2', 'Y'] });
    const none = parseLogPolicy('quorum none\n');
    expect(none.kind === 'policy' && quorumOf(none.policy, signNote(TEXT, [])).met).toBe(true);
  });

  it('is refused with the line and the reason', () => {
    const witness = `witness a ${vkey(w1)}`;
    const bad: [text: string, line: number, reason: RegExp][] = [
      ['', 1, /no quorum/],
      ['quorum b', 1, /'b' is not defined/],
      ['quorum none\nquorum none', 2, /second/],
      [`log ${vkey(w1)}`, 1, /no key of a log/],
      [`log ${VKEY}\nlog ${VKEY}`, 2, /twice/],
      [`witness a ${VKEY}`, 1, /no key of a witness/],
      [`${witness}\nwitness a ${vkey(w2)}`, 2, /taken/],
      [`${witness}\nwitness b ${vkey(w1)}`, 2, /twice/],
      [`witness none ${vkey(w1)}`, 1, /taken/],
      [`${witness}\ngroup g 2 a`, 2, /'2' is none/],
      [`${witness}\ngroup g 0 a`, 2, /'0' is none/],
      [`${witness}\ngroup g all`, 2, /without members/],
      [`${witness}\ngroup g all a a`, 2, /a member already/],
      [`${witness}\ngroup g any b`, 2, /not defined/],
      ['maybe', 1, /none of log/],
      ['quorum none\r', 1, /control/],
    ];
    for (const [text, line, reason] of bad) {
      expect(parseLogPolicy(text)).toEqual({
        kind: 'refused',
        line,
        reason: expect.stringMatching(reason),
      });
    }
  });

  it('never throws', () => {
    const bits = fc.constantFrom('log', 'witness', 'group', 'quorum', VKEY, vkey(w1), 'a', 'all');
    const line = fc.array(bits, { maxLength: 5 }).map((parts) => parts.join(' '));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
        expect(['policy', 'refused']).toContain(parseLogPolicy(lines.join('\n')).kind);
      }),
    );
  });
});
