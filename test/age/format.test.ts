// Age files that we write and read ourselves: sizes, ranges, keys, and everything that is refused.
import { describe, expect, it } from 'vitest';
import { bech32, fromBech32 } from '../../src/age/bech32.ts';
import { openAge, recipientsOf } from '../../src/age/file.ts';
import { formatHeader, parseHeader } from '../../src/age/header.ts';
import {
  identityText,
  newIdentity,
  parseIdentity,
  parseRecipient,
  recipientText,
} from '../../src/age/x25519.ts';
import { decrypted, encrypted, inMemory, noise, numbers, SIZES, to } from './helper.ts';

const mine = newIdentity();
const team = newIdentity();
const stranger = newIdentity();

describe('an age file', () => {
  it.each(SIZES)('of %i bytes is what it was, in whatever pieces it was written', (size) => {
    const bytes = noise(size, numbers());
    for (const pieces of [[size], [1_000, 70_000, 3], [65_536]]) {
      const file = encrypted(bytes, [to(mine)], pieces);
      expect(decrypted(file, mine)?.equals(bytes)).toBe(true);
    }
  });

  it('can be read by each of its recipients and by no other', () => {
    const file = encrypted(Buffer.from('hello'), [to(mine), to(team)]);
    expect([mine, team].map((one) => decrypted(file, one)?.toString())).toEqual(['hello', 'hello']);
    expect(decrypted(file, stranger, team)?.toString()).toBe('hello');
    expect(decrypted(file, stranger)).toBeUndefined();
    expect(decrypted(file)).toBeUndefined();
    expect(recipientsOf(inMemory(file), 'x.age')).toEqual([to(mine).text, to(team).text]);
  });

  it('gives any range, and reads no more of the file than the chunks around it', () => {
    const next = numbers();
    const bytes = noise(300_000, next);
    const file = encrypted(bytes, [to(mine)]);
    let asked = 0;
    const source = inMemory(file);
    const opened = openAge(
      {
        ...source,
        read: (at, length) => {
          asked += 1;
          return source.read(at, length);
        },
      },
      'x.age',
      [mine],
    );
    for (let turn = 0; turn < 120; turn += 1) {
      const at = next(bytes.length + 10);
      const length = next(turn % 2 === 0 ? 5_000 : 200_000);
      const part = opened?.read(at, length) ?? Buffer.alloc(0);
      expect(Buffer.from(part).equals(bytes.subarray(at, at + length))).toBe(true);
    }
    asked = 0;
    opened?.read(70_000, 10);
    opened?.read(70_100, 10);
    opened?.read(131_000, 200);
    expect(asked).toBeLessThanOrEqual(3);
  });

  it('is refused when any byte of it was changed', () => {
    const file = encrypted(Buffer.from('a small secret'), [to(mine), to(team)]);
    const accepted: number[] = [];
    for (let at = 0; at < file.length; at += 1) {
      for (const bit of [1, 0x80]) {
        const forged = Buffer.from(file);
        forged[at] = (forged[at] ?? 0) ^ bit;
        if (outcome(forged) !== 'refused') accepted.push(at);
      }
    }
    expect(accepted).toEqual([]);
  });

  it('is refused when it was cut off anywhere, or goes on behind its end', () => {
    const small = encrypted(Buffer.from('a small secret'), [to(mine)]);
    for (let length = 0; length < small.length; length += 1) {
      expect(outcome(small.subarray(0, length))).toBe('refused');
    }
    expect(outcome(Buffer.concat([small, Buffer.from('x')]))).toBe('refused');
    const large = encrypted(noise(200_000, numbers()), [to(mine)]);
    const start = large.length - 200_000 - 4 * 16;
    for (const chunks of [0, 1, 2, 3]) {
      expect(outcome(large.subarray(0, start + chunks * 65_552))).toBe('refused');
    }
    // Two chunks that change their places.
    const swapped = Buffer.concat([
      large.subarray(0, start),
      large.subarray(start + 65_552, start + 2 * 65_552),
      large.subarray(start, start + 65_552),
      large.subarray(start + 2 * 65_552),
    ]);
    expect(outcome(swapped)).toBe('refused');
  });

  it('says in a sentence why it is refused', () => {
    const file = encrypted(Buffer.from('x'), [to(mine)]);
    expect(() => decrypted(Buffer.from('plain text\n'), mine)).toThrow(
      'x.age cannot be decrypted: its header is not one of age.',
    );
    expect(() => decrypted(file.subarray(0, -1), mine)).toThrow(
      'x.age cannot be decrypted: its end is missing or was changed.',
    );
  });

  function outcome(file: Uint8Array): string {
    try {
      return decrypted(file, mine, team) === undefined ? 'not for us' : 'opened';
    } catch {
      return 'refused';
    }
  }
});

describe('a header', () => {
  const key = Buffer.alloc(16, 7);
  const text = (head: Buffer | string) => Buffer.from(head).toString('latin1');
  const head = text(
    formatHeader(
      [
        { type: 'X25519', args: ['A'.repeat(43)], body: Buffer.alloc(32) },
        { type: 'grease-9', args: ['a', '~!'], body: Buffer.alloc(48) },
        { type: 'empty', args: [], body: Buffer.alloc(0) },
      ],
      key,
    ),
  );

  it('has any kinds of stanzas, whose bodies end with a short line', () => {
    const read = parseHeader(Buffer.from(head));
    expect(read?.stanzas.map(({ type, args, body }) => [type, args, body.length])).toEqual([
      ['X25519', ['A'.repeat(43)], 32],
      ['grease-9', ['a', '~!'], 48],
      ['empty', [], 0],
    ]);
    expect(read?.end).toBe(head.length);
    expect(head).toContain(`-> grease-9 a ~!\n${'A'.repeat(64)}\n\n-> empty\n\n---`);
  });

  it.each([
    ['another version', head.replace('/v1', '/v2')],
    ['an end of lines of another kind', head.replaceAll('\n', '\r\n')],
    ['two spaces', head.replace('-> grease-9 a', '-> grease-9  a')],
    ['no type', head.replace('-> empty', '-> ')],
    ['padding', head.replace(/--- (.*)\n$/, '--- $1=\n')],
    [
      'bits left over',
      head.replace('A'.repeat(43), `${'A'.repeat(42)}B`).replace(/A\n-> g/, 'B\n-> g'),
    ],
    ['a line too long', head.replace(`${'A'.repeat(64)}\n`, `${'A'.repeat(68)}\n`)],
    ['no stanza', text(formatHeader([], key))],
    ['no end', head.slice(0, -1)],
  ])('with %s is none', (_, changed) => {
    expect(changed).not.toBe(head);
    expect(parseHeader(Buffer.from(changed, 'latin1'))).toBeUndefined();
  });
});

describe('a key', () => {
  // From the specification of Bech32, and made by age-keygen.
  const SECRET = 'AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX';

  it('has the same text as it was read from', () => {
    const key = parseIdentity(identityText(mine));
    expect(Buffer.from(key?.secret ?? []).equals(mine.secret)).toBe(true);
    expect(key?.recipient).toEqual(mine.recipient);
    expect(parseRecipient(recipientText(mine.recipient))).toEqual(Uint8Array.from(mine.recipient));
    expect(parseIdentity(SECRET)?.secret).toEqual(Uint8Array.from(Buffer.alloc(32, 0x42)));
    expect(recipientText(parseIdentity(SECRET)?.recipient ?? Buffer.alloc(0))).toBe(
      'age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj',
    );
  });

  it('is refused in another case, with another letter, and with another length', () => {
    const secret = identityText(mine);
    const recipient = recipientText(mine.recipient);
    const wrong = [
      secret.toLowerCase(),
      `${secret.slice(0, -1)}${secret.endsWith('Q') ? 'P' : 'Q'}`,
      secret.slice(0, -1),
      `${secret} `,
      recipient,
      bech32({ prefix: 'age-secret-key-', bytes: Buffer.alloc(31) }).toUpperCase(),
    ];
    expect(wrong.map(parseIdentity)).toEqual(wrong.map(() => undefined));
    const others = [
      recipient.toUpperCase(),
      recipient.replace('age1', 'Age1'),
      `${recipient.slice(0, -1)}${recipient.endsWith('q') ? 'p' : 'q'}`,
      secret,
      bech32({ prefix: 'age', bytes: Buffer.alloc(33) }),
      bech32({ prefix: 'age', bytes: Buffer.alloc(32) }), // the point zero
      '',
    ];
    expect(others.map(parseRecipient)).toEqual(others.map(() => undefined));
  });

  it('reads the examples of BIP 173', () => {
    expect(fromBech32('A12UEL5L')).toEqual({ prefix: 'a', bytes: new Uint8Array() });
    const wrong = ['1pzry9x0s0muk', 'pzry9x0s0muk', 'x1b4n0q5v', 'li1dgmt3', 'A1G7SGD8', '10a06t8'];
    expect(wrong.map(fromBech32)).toEqual(wrong.map(() => undefined));
  });
});
