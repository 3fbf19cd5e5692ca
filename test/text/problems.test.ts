// What is said about settings that are wrong: every problem, with its place and the way out.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { editDistance, nearest } from '../../src/text/problems.ts';
import { Project } from '../host/settings-helper.ts';

let project: Project;
beforeEach(() => {
  project = new Project();
});
afterEach(() => project.close());

const said = (text: string | Uint8Array) => project.problems(text);

describe('a wrong key', () => {
  it('is named with its place and the nearest right one', async () => {
    const text = `plugns: {}
plugins:
  bash_recorder:
    enabld: true
    config:
      recording:
        directroy: x
      tokn: x
  derum:
tool_name: dotted
`;
    expect(await said(text)).toEqual([
      "1:1: unknown key 'plugns'; did you mean 'plugins'?",
      "4:5: unknown key 'enabld' in plugins.bash_recorder; did you mean 'enabled'?",
      "7:9: unknown key 'directroy' in plugins.bash_recorder.config.recording; " +
        "did you mean 'directory'?",
      "8:7: unknown key 'tokn' in plugins.bash_recorder.config; did you mean 'token'?",
      "9:3: plugins.derum: no built-in plugin is called 'derum', and it names no module; " +
        "did you mean 'derun'?",
      "10:1: unknown key 'tool_name'; did you mean 'tool_names'?",
    ]);
  });

  it('is one of the first fifty, behind which the others are counted', async () => {
    const keys = Array.from({ length: 80 }, (_, at) => `key${at}: 1\n`);
    const lines = await said(keys.join(''));
    expect(lines).toHaveLength(51);
    expect(lines.at(-2)).toContain("50:1: unknown key 'key49'");
    expect(lines.at(-1)).toBe('?? and 30 more problems');
  });

  it('that is near to none gets the list', async () => {
    expect(await said('plugins: { derun: { colour: red } }')).toEqual([
      "1:21: unknown key 'colour' in plugins.derun; known are enabled, type, module, config",
    ]);
  });

  it('that stands there twice is told where it was first', async () => {
    const text = 'plugins:\n  derun:\n    enabled: true\n    enabled: false\n  derun:\nplugins:\n';
    expect(await said(text)).toEqual([
      "4:5: duplicate key 'enabled' in plugins.derun; it is already on line 3",
      "5:3: duplicate key 'derun' in plugins; it is already on line 2",
      "6:1: duplicate key 'plugins'; it is already on line 1",
    ]);
  });

  it('is not even a string', async () => {
    const text = 'plugins:\n  1: {}\n  true: {}\n  ? [a, b]\n  : {}\n  null: {}\n';
    expect(await said(text)).toEqual([
      "2:3: the key '1' in plugins is not a string; write it in quotes",
      "3:3: the key 'true' in plugins is not a string; write it in quotes",
      '4:5: the key in plugins is not a string; write it in quotes',
      "6:3: the key 'null' in plugins is not a string; write it in quotes",
    ]);
  });

  it('cannot move the cursor of whoever reads about it', async () => {
    expect(await said('"a\\u001b[2Jb": 1')).toEqual([
      "1:1: unknown key 'a\\x1b[2Jb'; known are " +
        'plugins, tool_names, ask, seal, captures, encryption',
    ]);
  });

  it('cannot be a name that no client would take', async () => {
    const rule = 'expected a letter, then up to 31 letters, digits, _ or -';
    const text = 'plugins: { "a.b": { module: opencuff.plugins.builtin.derun } }';
    expect(await said(text)).toEqual([`1:12: 'a.b' cannot name a plugin: ${rule}`]);
  });
});

describe('a wrong value', () => {
  it.each([
    ['a list', '[]', '1:1: the settings: expected a mapping of keys to values, found a list'],
    ['text', 'x', "1:1: the settings: expected a mapping of keys to values, found the text 'x'"],
    [
      'a number',
      '7',
      '1:1: the settings: expected a mapping of keys to values, found the number 7',
    ],
    [
      'no mapping of plugins',
      'plugins: [a]',
      '1:10: plugins: expected a mapping of keys to values, found a list',
    ],
    [
      'no mapping for a plugin',
      'plugins: { derun: true }',
      '1:19: plugins.derun: expected a mapping of keys to values, found true',
    ],
    [
      'yes',
      'plugins: { derun: { enabled: yes } }',
      "1:30: plugins.derun.enabled: expected true or false, found the text 'yes'",
    ],
    [
      'nothing',
      'plugins: { derun: { enabled: } }',
      '1:30: plugins.derun.enabled: expected true or false, found nothing',
    ],
    [
      'another type of plugin',
      'plugins: { derun: { type: process } }',
      "1:27: plugins.derun.type: expected in_source, found the text 'process'",
    ],
    [
      'another form of names',
      'tool_names: 1e3',
      '1:13: tool_names: expected underscore or dotted, found the number 1e3',
    ],
    [
      'a time that is none',
      'ask: { min_ms: -1 }',
      '1:16: ask.min_ms: expected whole milliseconds from 0 to 30000, found the number -1',
    ],
    [
      'a question with another key',
      'ask: { min: 5 }',
      "1:8: unknown key 'min' in ask; known are min_ms",
    ],
    [
      'no mapping for a config',
      'plugins: { derun: { config: none } }',
      '1:29: plugins.derun.config: expected a mapping of keys to values, found the text ' +
        "'none'",
    ],
    [
      'what only the plugin knows',
      'plugins: { bash_recorder: { config: { recording: { directory: 7 } } } }',
      '1:52: plugins.bash_recorder.config.recording.directory: expected text, found 7',
    ],
    [
      'a number in octal, or not',
      'plugins: { mine: { module: opencuff.plugins.builtin.derun, config: { mode: 017 } } }',
      '1:76: plugins.mine.config.mode: 017 is octal to some readers of YAML and decimal to ' +
        'others; write it without the leading 0, or as 0o...',
    ],
  ])('is told from what was expected: %s', async (_, text, problem) => {
    expect(await said(text)).toEqual([problem]);
  });

  it('is a module that is not there', async () => {
    const text = `plugins:
  a: { module: ./gone.js }
  b: { module: some-package }
  c: { module: opencuff.plugins.builtin.bash_recoder }
  d: { module: 7 }
`;
    expect(await said(text)).toEqual([
      `2:16: plugins.a.module: there is no file ${project.path('gone.js')}`,
      '3:16: plugins.b.module: expected a path like ./plugin.js, or ' +
        "opencuff.plugins.builtin.NAME, found the text 'some-package'",
      "4:16: plugins.c.module: there is no built-in 'bash_recoder'; did you mean 'bash_recorder'?",
      '5:16: plugins.d.module: expected the path of a module, found the number 7',
    ]);
  });

  it("is found by a third party's own check, with its place", async () => {
    project.write(
      'mine.mjs',
      `export class plugin {
        static checkConfig({ limit }) {
          return limit > 9 ? [{ path: ['limit'], message: 'must be 9 at most' }] : [];
        }
      }`,
    );
    const text = (limit: number) =>
      `plugins:\n  mine:\n    module: ./mine.mjs\n    config: { limit: ${limit} }\n`;
    expect(await said(text(9))).toEqual([]);
    expect(await said(text(10))).toEqual(['4:15: plugins.mine.config.limit: must be 9 at most']);
  });

  it('is not looked for in a module that cannot be had: that is no fault of the file', async () => {
    project.write('broken.mjs', 'throw new Error("no")');
    project.write('nothing.mjs', 'export const a = 1');
    project.write('check.mjs', 'export default class { static checkConfig() { throw 1 } }');
    const names = ['broken', 'nothing', 'check'];
    const lines = names.map((name) => `  ${name}: { module: ./${name}.mjs, config: { a: 1 } }\n`);
    expect(await said(`plugins:\n${lines.join('')}`)).toEqual([]);
  });
});

describe('a variable', () => {
  it('that is not set is named', async () => {
    const text = `plugins:
  bash_recorder:
    config:
      token: "\${GONE} and \${ALSO_GONE}"
      recording: { directory: '\${1X}' }
  derun: { config: { a: ['\${OPEN'] } }
`;
    const at = 'plugins.bash_recorder.config';
    const way = (name: string) => `set it, or write $\${${name}} for the text itself`;
    expect(await said(text)).toEqual([
      `4:14: ${at}.token: the variable ALSO_GONE is not set; ${way('ALSO_GONE')}`,
      `4:14: ${at}.token: the variable GONE is not set; ${way('GONE')}`,
      `5:31: ${at}.recording.directory: \${ is not followed by the name of a variable; ` +
        'write $${ for a literal ${',
      '6:26: plugins.derun.config.a[0]: the brace of ${ is never closed; ' +
        'write $${ for a literal ${',
    ]);
  });

  it('keeps its value out of every message', async () => {
    project.env.SECRET = 'hunter2-hunter2';
    const text = `plugins:
  bash_recorder: { config: { recording: { enabled: "\${SECRET}" } } }
  derun: { enabled: "\${SECRET}" }
`;
    const lines = await said(text);
    expect(lines.join('\n')).not.toContain('hunter2');
    expect(lines).toEqual([
      `2:43: plugins.bash_recorder.config.recording.enabled: expected a boolean, found \${SECRET}`,
      `3:21: plugins.derun.enabled: expected true or false, found the text '\${SECRET}'`,
    ]);
  });
});

describe('YAML that is none', () => {
  it.each([
    ['a tab', 'plugins:\n\tderun:\n', '2:1: a tab at the beginning of a line; indent with spaces'],
    [
      'a second document',
      'plugins: {}\n---\nplugins: {}\n',
      '2:1: a second document starts here; this file is one document',
    ],
    ['a tag', 'tool_names: !mine dotted\n', '1:13: tags like !name are not supported here'],
    [
      'binary data',
      'tool_names: !!binary aGk=\n',
      '1:22: tool_names: only text, numbers, true, false and null are values',
    ],
    ['an alias without anchor', 'tool_names: *x\n', '1:13: the alias *x has no anchor before it'],
  ])('%s', async (_, text, problem) => {
    expect(await said(text)).toEqual([problem]);
  });

  it('is told of every fault it has', async () => {
    const lines = await said('a: @x\nb: `y\n');
    expect(lines.map((line) => line.split(':').slice(0, 2).join(':'))).toEqual(['1:4', '2:4']);
  });

  it('an alias that contains itself', async () => {
    expect(await said('plugins: &a\n  derun: *a\n')).toEqual([
      '2:10: the alias *a contains itself',
    ]);
  });

  it('a billion laughs', async () => {
    const letters = [...'abcdefghi'];
    const lines = letters.map((letter, index) => {
      const inner = index === 0 ? 'x' : `*${letters[index - 1]}`;
      return `${letter}: &${letter} [${Array.from({ length: 9 }, () => inner).join(', ')}]\n`;
    });
    expect(await said(lines.join(''))).toEqual(['1:1: more than 20000 values, aliases included']);
  });

  it.each([
    ['brackets', '['.repeat(200_000)],
    ['dashes', '- '.repeat(100_000)],
    ['mappings', '{a: '.repeat(60_000)],
    ['lines', Array.from({ length: 500 }, (_, i) => `${' '.repeat(i)}a:\n`).join('')],
  ])('nesting without end: %s', async (_, text) => {
    const [line, ...others] = await said(text);
    expect([line?.replace(/^\d+:\d+: /, ''), others]).toEqual([
      'nested more than 100 levels deep',
      [],
    ]);
  });

  it('whatever it is, it is refused with places or taken, and nothing else happens', async () => {
    const piece = fc.constantFrom(
      ...[
        'plugins',
        'derun',
        'config',
        ': ',
        ':\n',
        '\n',
        '  ',
        '- ',
        '{',
        '}',
        '[',
        ']',
        '"',
        "'",
      ],
      ...[
        '&a ',
        '*a',
        '!!x ',
        '? ',
        '#',
        '|\n',
        '>',
        'null',
        '1',
        '\t',
        '%',
        '---\n',
        `\${A}`,
        ',',
      ],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        for (const line of await said(pieces.join(''))) expect(line).toMatch(/^\d+:\d+: ./);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the nearest word', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });

  it('is found over insertions, deletions, replacements and swaps', () => {
    const distances = ['enabled', 'enabld', 'enalbed', 'Enabled', 'enablled', 'xyz'].map((one) =>
      editDistance(one, 'enabled'),
    );
    expect(distances).toEqual([0, 1, 1, 1, 1, 7]);
    expect(nearest('ENABLED', ['module', 'enabled'])).toBe('enabled');
    expect(nearest('xyz', ['module', 'enabled'])).toBeUndefined();
    expect(nearest('', [])).toBeUndefined();
  });

  it('is as far away as the other way round, and never further than the longer word', () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        const distance = editDistance(a, b);
        expect(distance).toBe(editDistance(b, a));
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
        expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
        expect(distance === 0).toBe(a === b);
      }),
    );
  });
});
