import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asTime, type JsonObject, parseObject } from '../../src/text/json.ts';
import { type LineFormat, readLines } from '../../src/text/line-reader.ts';

const AS_IT_IS: LineFormat<JsonObject> = { decode: (json) => json };
const read = (text: string): unknown => readLines(new TextEncoder().encode(text), AS_IT_IS).records;
const record = fc.record({
  n: fc.nat(),
  s: fc.string(),
  list: fc.array(fc.record({ a: fc.nat() })),
});
const line = record.map((one) => `${JSON.stringify(one)}\n`);

describe('damaged lines of JSON', () => {
  it('whole lines are read and the unfinished one is left', () => {
    const bytes = new TextEncoder().encode('{"a":1}\n{"b":2}\n{"c":3}');
    expect(readLines(bytes, AS_IT_IS)).toEqual({ records: [{ a: 1 }, { b: 2 }], end: 16 });
  });

  it('what surrounds damage is found again', () => {
    expect(read('{"a":1}{"b":2}\n')).toEqual([{ a: 1 }, { b: 2 }]);
    expect(read('{"a":1,"te{"b":2}\n')).toEqual([{ b: 2 }]);
    expect(read('{"a":"}{"}{"b":2}\n')).toEqual([{ a: '}{' }, { b: 2 }]);
    expect(read('{"a":"\\"{"}x{"b":{"c":3}}\n')).toEqual([{ a: '"{' }, { b: { c: 3 } }]);
    expect(read('\0\0{"a":1}\0\0\0{"b":2}\n')).toEqual([{ a: 1 }, { b: 2 }]);
    expect(read('\0\0\n\n[1]\n"x"\nnull\n{"a":1}\n')).toEqual([{ a: 1 }]);
  });

  it('a record with NULs inside is lost, not put together without them', () => {
    expect(read('{"offset":12\0\0\x0034}\n{"b":2}\n')).toEqual([{ b: 2 }]);
  });

  it('every record that is whole survives cuts, NULs and lost newlines around it', () => {
    const damage = fc.oneof(
      line.map((one) => ({ one, whole: true })),
      line.map((one) => ({ one: one.slice(0, -1), whole: true })), // the newline is lost
      fc.constant({ one: '\0'.repeat(20), whole: false }),
      fc.constant({ one: '{"torn":', whole: false }),
    );
    fc.assert(
      fc.property(fc.array(damage, { maxLength: 12 }), (parts) => {
        const text = `${parts.map(({ one }) => one).join('')}\n`;
        const expected = parts.filter(({ whole }) => whole).map(({ one }) => JSON.parse(one));
        const found = JSON.stringify(read(text));
        for (const one of expected) expect(found).toContain(JSON.stringify(one));
      }),
    );
  });

  it('any bytes are read without throwing, and without taking long', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => readLines(bytes, AS_IT_IS).end <= bytes.length),
    );
    expect(read(`${'{'.repeat(65_000)}\n`)).toEqual([]);
    expect(read(`${'{"'.repeat(500_000)}\n{"a":1}\n`)).toEqual([{ a: 1 }]);
  });
});

describe('values out of JSON', () => {
  it('only objects are objects', () => {
    const texts = ['{}', '[]', 'null', '1', '"{}"', '', '{', '{"a":1}'];
    expect(texts.map(parseObject).filter(Boolean)).toEqual([{}, { a: 1 }]);
  });

  it('times are the ones we write', () => {
    const at = Date.UTC(2026, 10, 15, 21, 38, 35, 123);
    expect(asTime('2026-11-15T21:38:35.123Z')).toBe(at);
    const refused = ['2026-11-15', 'yesterday', '2026-13-15T21:38:35.123Z', at, null, '1'];
    expect(refused.map(asTime).filter((one) => one !== undefined)).toEqual([]);
    expect(asTime('1969-11-15T21:38:35.123Z')).toBe(undefined);
  });
});
