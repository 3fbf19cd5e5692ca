// Editing JSON with comments as text: what was there stays, byte for byte.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonRecord, mergeJson, readJson, removeJson } from '../../../src/cli/init/jsonc.ts';

const PATH = ['mcpServers', 'cuff'];
const ENTRY = { command: 'cuff', args: ['mcp'] };
const add = (text: string) => mergeJson(text, PATH, ENTRY);
const remove = (text: string) => removeJson(text, PATH);

/** What an entry looks like in a file with two blanks. */
const member = (indent: string) =>
  ['"cuff": {', '  "command": "cuff",', '  "args": [', '    "mcp"', '  ]', '}']
    .map((line, index) => (index === 0 ? line : `${indent}${line}`))
    .join('\n');

describe('an entry is added', () => {
  it('to nothing', () => {
    const whole = `{\n  "mcpServers": {\n    ${member('    ')}\n  }\n}\n`;
    expect([add(''), add(' \n')]).toEqual([whole, whole]);
  });

  it.each([
    ['an empty object', '{}', `{\n  "mcpServers": {\n    ${member('    ')}\n  }\n}`],
    [
      'an object with something else',
      '{\n  "a": 1 // one\n}\n',
      `{\n  "a": 1, // one\n  "mcpServers": {\n    ${member('    ')}\n  }\n}\n`,
    ],
    [
      'other servers',
      '{\n  "mcpServers": {\n    "x": {}\n  }\n}\n',
      `{\n  "mcpServers": {\n    "x": {},\n    ${member('    ')}\n  }\n}\n`,
    ],
    [
      'a list with a comma at its end',
      '{\n  "mcpServers": {\n    "x": {}, /* one */ // two\n    // last\n  },\n}\n',
      '{\n  "mcpServers": {\n    "x": {}, /* one */ // two\n    ' +
        `${member('    ')},\n    // last\n  },\n}\n`,
    ],
    [
      'one line',
      '{"mcpServers":{"x":{}},"b":[1]}',
      '{"mcpServers":{"x":{}, "cuff": {"command":"cuff","args":["mcp"]}},"b":[1]}',
    ],
    [
      'tabs and CRLF',
      '{\r\n\t"mcpServers": {\r\n\t\t"x": {}\r\n\t}\r\n}\r\n',
      '{\r\n\t"mcpServers": {\r\n\t\t"x": {},\r\n\t\t"cuff": {\r\n\t\t\t"command": "cuff",\r\n' +
        '\t\t\t"args": [\r\n\t\t\t\t"mcp"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}\r\n',
    ],
    [
      'a byte order mark',
      '\uFEFF{\n  "mcpServers": {}\n}',
      `\uFEFF{\n  "mcpServers": {\n    ${member('    ')}\n  }\n}`,
    ],
  ])('to %s', (_, before, after) => {
    expect(add(before)).toBe(after);
    expect(add(after)).toBe(after);
  });

  it('that is there with other values, which change, and more, which stays', () => {
    const before =
      '{ "mcpServers": { "cuff": {\n  "args": ["x"], // mine\n  "env": {"A": "1"}\n} } }';
    const after = add(before);
    expect(after).toContain('// mine\n  "env": {"A": "1"},\n  "command": "cuff"\n');
    expect(readJson(after, PATH)).toEqual({ ...ENTRY, env: { A: '1' } });
    expect(add(after)).toBe(after);
  });

  it('in the place of something that is no entry', () => {
    expect(readJson(add('{"mcpServers": {"cuff": null}}'), PATH)).toEqual(ENTRY);
  });
});

describe('an entry is taken out', () => {
  it.each([
    ['that is the only one, with what held it', '{"a": 1, "mcpServers": {"cuff": {}}}', '{"a": 1}'],
    ['that is all there is', '{\n  "mcpServers": {\n    "cuff": {}\n  }\n}\n', ''],
    [
      'before another',
      '{"mcpServers": {\n  "cuff": {},\n  "x": 1\n}}',
      '{"mcpServers": {\n  "x": 1\n}}',
    ],
    [
      'between two',
      '{"mcpServers": {"a": 1, "cuff": {}, "b": 2}}',
      '{"mcpServers": {"a": 1, "b": 2}}',
    ],
    [
      'behind a comment, which must not swallow the rest',
      '{"mcpServers": {"a": 1, // a\n"cuff": {} }}',
      '{"mcpServers": {"a": 1 // a\n }}',
    ],
    [
      'that is the only one behind a comment, which stays',
      '{"mcpServers": { // servers\n"cuff": {} }}',
      '{"mcpServers": { // servers\n }}',
    ],
    ['that is not there', '{"mcpServers": {"x": 1}}', '{"mcpServers": {"x": 1}}'],
    ['from a file without servers', '{"a": [1,]}', '{"a": [1,]}'],
  ])('%s', (_, before, after) => {
    expect(remove(before)).toBe(after);
  });
});

describe('a file that cannot be understood', () => {
  it.each([
    ['{', 'what opens here is never closed', 0],
    ['{"a": 1 "b": 2}', 'a comma or } is missing here', 8],
    ['{"a" 1}', 'a colon is missing here', 5],
    ['{a: 1}', 'a value is missing here', 1],
    ['{1: 1}', 'a key in quotes is missing here', 1],
    ['{"a": 01.2.3}', '01.2.3 is no value', 6],
    ['{"a": "\\x"}', '"\\x" is no value', 6],
    ['{"a": "open}', 'a value is missing here', 6],
    ['{} {}', 'something follows the end of the data', 3],
    ['[]', 'it is not an object', 0],
    ['{"mcpServers": []}', '"mcpServers" is not an object', 15],
    ['{"mcpServers": {}, "mcpServers": {}}', '"mcpServers" is there twice', 19],
    ['['.repeat(100_000), 'it is nested too deep', 201],
    ['/* open', 'a value is missing here', 0],
  ])('is refused: %j', (text, message, offset) => {
    expect(() => add(text)).toThrow(expect.objectContaining({ message, offset }));
    if (text !== '{"mcpServers": []}') expect(() => remove(text)).toThrow(message);
  });
});

describe('whatever the file says,', () => {
  const blank = fc.constantFrom('', ' ', '\n', '\n  ', ' /* c */ ', ' // c\n', '\r\n\t');
  const key = fc.constantFrom('a', 'b', 'mcpServers2', 'x"y', 'ü');
  const scalar = fc.constantFrom('1', '-2.5e3', 'true', 'null', '"s"', '"a\\"b,}"', '[]', '[1 ,]');

  /** An object with its members as text, in any layout; the names differ. */
  const object = (inner: fc.Arbitrary<string>, ...more: readonly fc.Arbitrary<string>[]) =>
    fc
      .record({
        keys: fc.uniqueArray(key, { maxLength: 3 }),
        values: fc.array(inner, { minLength: 3, maxLength: 3 }),
        blanks: fc.array(blank, { minLength: 12, maxLength: 12 }),
        more: fc.tuple(...more),
        last: fc.boolean(),
      })
      .map(({ keys, values, blanks, more: extra, last }) => {
        const [b0 = '', b1 = '', b2 = '', b3 = '', b4 = ''] = blanks;
        const members = [
          ...keys.map((name, i) => `${JSON.stringify(name)}${b1}:${b2}${values[i]}`),
          ...extra,
        ];
        const comma = last && members.length > 0 ? `${b3},` : '';
        return `{${b0}${members.join(`${b4},${b0}`)}${comma}${b3}}`;
      });
  const servers = object(object(scalar)).map((text) => `"mcpServers": ${text}`);
  const file = fc.oneof(object(scalar), object(object(scalar), servers), object(scalar, servers));

  it('adding adds exactly the entry, again adds nothing, and removing removes it', () => {
    fc.assert(
      fc.property(file, (text) => {
        const before = readJson(text, []) as JsonRecord;
        const added = add(text);
        expect(readJson(added, [])).toEqual({
          ...before,
          mcpServers: { ...(before.mcpServers as JsonRecord | undefined), cuff: ENTRY },
        });
        expect(add(added)).toBe(added);
        const removed = remove(added);
        const empty = Object.keys((before.mcpServers as JsonRecord | undefined) ?? {}).length === 0;
        if (!empty) expect(removed).toBe(text);
        else if (removed !== '' && removed !== text) {
          // What held it was empty before and is gone now, or was not there and is gone again.
          const { mcpServers: _, ...others } = before;
          const { mcpServers: left = {}, ...rest } = readJson(removed, []) as JsonRecord;
          expect([rest, left]).toEqual([others, {}]);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
