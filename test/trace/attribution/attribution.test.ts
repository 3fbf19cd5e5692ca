// Which process wrote which bytes: by the kernel's word, and by what the processes say.
import { describe, expect, it } from 'vitest';
import { attribute } from '../../../src/trace/attribution/attribution.ts';
import type { WriteRecord } from '../../../src/trace/decode/format.ts';
import type { Channel, Chunk } from '../../../src/types.ts';
import { HEADER } from '../encode.ts';
import { wrote } from '../frames.ts';

const MS = Number(HEADER.startedNs / 1_000_000n);

type Said = WriteRecord & { readonly process: number };

const said = (process: number, record: WriteRecord): Said => ({ ...record, process });

/** Each piece of output is a chunk; the answer is text with the process in front: `1:abc`. */
function found(
  pieces: readonly (string | readonly [Channel, string])[],
  writes: readonly Said[],
  terminal = true,
): string[] {
  const bytes = pieces.map((piece) => Buffer.from(typeof piece === 'string' ? piece : piece[1]));
  const output = Buffer.concat(bytes);
  let offset = 0;
  const chunks = pieces.map((piece, i): Chunk => {
    const length = bytes[i]?.length ?? 0;
    const channel = typeof piece === 'string' ? (terminal ? 'pty' : 'stdout') : piece[0];
    offset += length;
    return { offset: offset - length, length, channel, at: MS + i, lines: 0 };
  });
  const read = (from: number, length: number) => output.subarray(from, from + length);
  return attribute({ chunks, writes, read, writerOf: () => undefined }).map((segment) => {
    const text = output.toString('utf8', segment.offset, segment.offset + segment.length);
    return `${segment.process ?? '?'}:${text}`;
  });
}

const tty = (process: number, us: number, text: string, tookUs = 1) =>
  said(process, wrote(us, text, 'pty', tookUs));
const out = (process: number, us: number, text: string | Uint8Array, tookUs = 1) =>
  said(process, wrote(us, text, 'stdout', tookUs));

describe('bytes on a socket', () => {
  it('belong to the process with the pid that the kernel gave', () => {
    const chunk = (offset: number, length: number, channel: Channel, pid: number): Chunk => ({
      offset,
      length,
      channel,
      at: 1000 + offset,
      lines: 0,
      pid,
    });
    const asked: [number, number][] = [];
    const segments = attribute({
      chunks: [
        chunk(0, 5, 'stdout', 10),
        chunk(5, 5, 'stdout', 10),
        chunk(10, 2, 'stderr', 10),
        chunk(12, 8, 'stdout', 11),
        chunk(20, 8, 'stdout', 0),
      ],
      writes: [],
      read: () => new Uint8Array(8),
      writerOf: (pid, at) => {
        asked.push([pid, at]);
        return pid === 10 ? 3 : undefined;
      },
    });
    expect(segments).toEqual([
      { offset: 0, length: 10, channel: 'stdout', process: 3 },
      { offset: 10, length: 2, channel: 'stderr', process: 3 },
      { offset: 12, length: 16, channel: 'stdout', process: undefined },
    ]);
    expect(asked).toEqual([
      [10, 1000],
      [10, 1005],
      [10, 1010],
      [11, 1012],
    ]);
  });
});

describe('bytes on a terminal', () => {
  it('are found with the newlines that it made of them, and as they were', () => {
    const writes = [tty(1, 10, 'one\ntwo\n'), tty(2, 20, 'raw\n\r\n'), tty(1, 30, 'a\r\nb\n')];
    expect(found(['one\r\ntwo\r\nraw\n\r\na\r\r\nb\r\n'], writes)).toEqual([
      '1:one\r\ntwo\r\n',
      '2:raw\n\r\n',
      '1:a\r\r\nb\r\n',
    ]);
  });

  it('that somebody typed belong to nobody', () => {
    const writes = [
      tty(1, 10, '$ '),
      tty(2, 1000, 'total 12 of them\n'),
      tty(1, 2000, '$ '),
      tty(2, 3000, 'another answer\n'),
    ];
    expect(
      found(['$ ', 'ls\r\n', 'total 12 of them\r\n$ ', 'ls -a\r\nanother answer\r\n'], writes),
    ).toEqual([
      '1:$ ',
      '?:ls\r\n',
      '2:total 12 of them\r\n',
      '?:$ ls -a\r\n',
      '2:another answer\r\n',
    ]);
  });

  it('of a short last word are known though a silent program wrote before', () => {
    const writes = [tty(1, 5000, 'ok\n')];
    expect(found(['a lot of output\r\n'.repeat(9), 'ok\r\n'], writes).at(-1)).toBe('1:ok\r\n');
  });

  it('that fit a short word by chance belong to nobody', () => {
    const writes = [tty(1, 10, 'my first long line\n'), tty(1, 20, 'n'), tty(1, 30, '\n')];
    expect(found(['my first long line\r\nbanana\r\nand so on\r\nend'], writes)).toEqual([
      '1:my first long line\r\n',
      '?:banana\r\nand so on\r\nend',
    ]);
  });

  it('that were thrown away before they were read are no reason to lose the others', () => {
    const writes = [
      tty(1, 10, 'before the interrupt\n'),
      tty(1, 20, 'never shown to anybody\n'),
      tty(1, 30, 'nor this\n'),
      tty(2, 40, 'behind the interrupt\n'),
    ];
    expect(found(['before the interrupt\r\n^C', 'behind the interrupt\r\n'], writes)).toEqual([
      '1:before the interrupt\r\n',
      '?:^C',
      '2:behind the interrupt\r\n',
    ]);
  });

  it('that are the same as what somebody wrote much later belong to nobody', () => {
    const writes = [
      tty(1, 10, 'first of two long lines\n'),
      tty(1, 500, 'second of the two long lines\n'),
      tty(2, 1000, 'what was never shown\n'),
    ];
    const shown = [
      'first of two long lines',
      'what was never shown',
      'second of the two long lines',
    ];
    expect(found([`${shown.join('\r\n')}\r\n`], writes)).toEqual([
      '1:first of two long lines\r\n',
      '?:what was never shown\r\n',
      '1:second of the two long lines\r\n',
    ]);
  });

  it('of a process that was killed before it could tell belong to nobody', () => {
    const writes = [tty(1, 10, 'start of it all\n'), tty(1, 90, 'and the end of it\n')];
    const lost = 'line that nobody told about\r\n'.repeat(50);
    expect(found([`start of it all\r\n${lost}and the end of it\r\n`], writes)).toEqual([
      '1:start of it all\r\n',
      `?:${lost}`,
      '1:and the end of it\r\n',
    ]);
  });
});

describe('bytes on pipes', () => {
  it('are found on each channel by itself', () => {
    const pieces = [
      ['stdout', 'to the out\n'],
      ['stderr', 'to the err\n'],
      ['stdout', 'more out\n'],
    ] as const;
    const writes = [
      out(1, 10, 'to the out\nmore '),
      said(2, wrote(10, 'to the err\n', 'stderr')),
      out(1, 20, 'out\n'),
    ];
    expect(found(pieces, writes)).toEqual(['1:to the out\n', '2:to the err\n', '1:more out\n']);
  });

  it('of equal writers are given in order of time', () => {
    const writes = [out(1, 10, 'same\n'), out(2, 20, 'same\n'), out(1, 30, 'same\n')];
    expect(found(['same\nsame\nsame\n'], writes, false)).toEqual([
      '1:same\n',
      '2:same\n',
      '1:same\n',
    ]);
  });

  it('are found when the first choice was the wrong one', () => {
    // 1 says `a` and `b`, 2 says `a` and `c`, both at once: only the `c` tells whose `a` it was.
    const writes = [
      out(1, 10, 'aaaaaaaaaa', 90),
      out(2, 10, 'aaaaaaaaaa', 5),
      out(2, 20, 'cccccccccc', 5),
      out(1, 110, 'bbbbbbbbbb', 5),
    ];
    const text = `${'a'.repeat(10)}${'c'.repeat(10)}${'a'.repeat(10)}${'b'.repeat(10)}`;
    expect(found([text], writes, false)).toEqual([
      `2:${'a'.repeat(10)}${'c'.repeat(10)}`,
      `1:${'a'.repeat(10)}${'b'.repeat(10)}`,
    ]);
  });

  it('are found where others came in between a long write', () => {
    const long = Array.from({ length: 3000 }, (_, i) => `${i}`)
      .join(' ')
      .slice(0, 4096 * 2 + 100);
    const [head, tail] = [long.slice(0, 100 + 4096), long.slice(100 + 4096)];
    const writes = [
      out(1, 10, long, 100),
      out(2, 20, 'from the second\n'),
      out(3, 30, 'from the third\n'),
      out(2, 40, 'again the second\n'),
    ];
    const between = 'from the second\nfrom the third\nagain the second\n';
    expect(found([head + between + tail], writes, false)).toEqual([
      `1:${head}`,
      '2:from the second\n',
      '3:from the third\n',
      '2:again the second\n',
      `1:${tail}`,
    ]);
  });

  it('where two long writes got between each other stay without a writer', () => {
    const long = (mark: string, length: number) =>
      Array.from({ length }, (_, i) => `${mark}${i}`)
        .join(' ')
        .slice(0, length);
    const [first, second] = [long('a', 4096 * 3), long('b', 4096 * 2 + 500)];
    const pages = (text: string, from: number, to: number) => text.slice(4096 * from, 4096 * to);
    const text = [
      pages(first, 0, 1),
      'somebody else was here\n',
      pages(first, 1, 2),
      pages(second, 0, 1),
      pages(first, 2, 3),
      second.slice(4096),
    ].join('');
    const writes = [
      out(1, 10, first, 100),
      out(3, 20, 'somebody else was here\n'),
      out(2, 30, second, 100),
    ];
    expect(found([text], writes, false)).toEqual([
      `1:${pages(first, 0, 1)}`,
      '3:somebody else was here\n',
      `1:${pages(first, 1, 2)}`,
      `?:${pages(second, 0, 1)}${pages(first, 2, 3)}`,
      `2:${second.slice(4096)}`,
    ]);
  });

  it('that never were in memory are found by their number, if that is exact', () => {
    const sent = (process: number, us: number, length: number) => ({
      ...out(process, us, 'x'.repeat(length)),
      hash: undefined,
    });
    const writes = [
      out(1, 10, 'a head line\n'),
      sent(2, 20, 60),
      sent(2, 30, 40),
      out(1, 40, 'a foot line\n'),
    ];
    const file = 'file'.repeat(25);
    expect(found([`a head line\n${file}a foot line\n`], writes, false)).toEqual([
      '1:a head line\n',
      `2:${file}`,
      '1:a foot line\n',
    ]);
    expect(found([`a head line\n${file}!a foot line\n`], writes, false)).toEqual([
      '1:a head line\n',
      `?:${file}!`,
      '1:a foot line\n',
    ]);
    const ambiguous = [...writes, sent(3, 20, 40)];
    expect(found([`a head line\n${file}a foot line\n`], ambiguous, false)[1]).toBe(`?:${file}`);
  });

  it('go out of a file to a terminal, too', () => {
    const file = 'a line of a file\n'.repeat(30);
    const sent = { ...tty(2, 20, file), hash: undefined };
    const writes = [tty(1, 10, 'a head line\n'), sent, tty(1, 40, 'a foot line\n')];
    const shown = file.replaceAll('\n', '\r\n');
    expect(found([`a head line\r\n${shown}a foot line\r\n`], writes)).toEqual([
      '1:a head line\r\n',
      `2:${shown}`,
      '1:a foot line\r\n',
    ]);
  });

  it('are the same for records that came twice', () => {
    const writes = [out(1, 10, 'once and for all\n'), out(2, 20, 'and then another\n')];
    const text = 'once and for all\nand then another\n';
    expect(found([text], [...writes, ...writes], false)).toEqual(found([text], writes, false));
  });

  it('nobody said anything about belong to nobody', () => {
    expect(found(['some', 'thing'], [], false)).toEqual(['?:something']);
    expect(found([], [out(1, 10, 'lost')], false)).toEqual([]);
  });
});
