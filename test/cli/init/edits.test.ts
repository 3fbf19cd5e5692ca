// Whatever a file says, what init does to it can be taken back: to the byte by the ledger, and to
// what it said by looking for the lines alone.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/cli/init/agents/agent.ts';
import { isGap } from '../../../src/cli/init/agents/agent.ts';
import { SETUPS } from '../../../src/cli/init/agents/index.ts';
import { type Edit, isHookEntry, ValueConflict, wholeFile } from '../../../src/cli/init/edits.ts';
import { ConfigSyntaxError, type JsonRecord, readJson } from '../../../src/cli/init/jsonc.ts';
import { stepOf, undone } from '../../../src/cli/init/ledger.ts';
import { AGENT_IDS } from '../../../src/text/agents.ts';

const CONTEXT: Context = {
  cwd: '/nowhere/project',
  home: '/nowhere/home',
  env: {},
  scope: 'user',
  cuff: '/opt/with space/cuff',
  server: { command: 'cuff', args: ['mcp'], note: undefined },
  dialect: undefined,
  only: true,
  required: '--only',
  claudeFileShared: false,
  rewrite: true,
  shell: { bash: '/s/shells/bash', bashEnv: '/s/bash-env', captures: '/s/sessions' },
};

const PARTS = AGENT_IDS.flatMap((id) => SETUPS[id].parts(CONTEXT)).flatMap((part) =>
  isGap(part) ? [] : [part],
);
const editsOf = (ending: RegExp): Edit[][] =>
  PARTS.filter(({ file }) => ending.test(file)).map(({ edits }) => [...edits]);

/** The text behind each edit; undefined where the file is refused or has values of the user. */
function made(text: string, edits: readonly Edit[]): string[] | undefined {
  try {
    const texts: string[] = [];
    for (const edit of edits) texts.push(edit.add(texts.at(-1) ?? text));
    return texts;
  } catch (error) {
    if (error instanceof ConfigSyntaxError || error instanceof ValueConflict) return undefined;
    throw error;
  }
}

function holds(text: string, edits: readonly Edit[], read: (text: string) => unknown): boolean {
  const texts = made(text, edits);
  const last = texts?.at(-1);
  if (texts === undefined || last === undefined) return false;
  expect(made(last, edits)?.at(-1)).toBe(last);
  expect(edits.filter((edit) => !edit.has(last)).map(({ name }) => name)).toEqual(
    edits.filter(({ name }) => name === 'version').map(({ name }) => name),
  );
  const { text: back, exact } = undone([stepOf(text, texts, [])], last);
  expect([back, exact]).toEqual([text, true]);
  const removed = edits.reduceRight((now, edit) => edit.remove(now), last);
  expect(read(removed)).toEqual(read(text));
  return true;
}

describe('JSON with comments', () => {
  const blank = fc.constantFrom('', ' ', '\n', '\n  ', ' /* c */ ', ' // c\n', '\r\n\t');
  const item = fc.constantFrom('1', '"Read"', '{"hooks":[{"command":"x"}]}', 'null');
  const list = fc
    .tuple(fc.array(item, { maxLength: 2 }), blank, fc.boolean())
    .map(
      ([items, gap, comma]) =>
        `[${gap}${items.join(`${gap},${gap}`)}${comma && items.length > 0 ? ',' : ''}${gap}]`,
    );
  const object = (keys: readonly string[], inner: fc.Arbitrary<string>) =>
    fc
      .tuple(
        fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 3 }),
        fc.array(inner, { minLength: 3, maxLength: 3 }),
        blank,
        fc.boolean(),
      )
      .map(([names, values, gap, comma]) => {
        const members = names.map((name, i) => `${JSON.stringify(name)}:${gap}${values[i]}`);
        const end = comma && members.length > 0 ? ',' : '';
        return `{${gap}${members.join(`,${gap}`)}${end}${gap}}`;
      });
  const inner = object(['PreToolUse', 'allow', 'exclude', 'other', 'BeforeTool'], list);
  const outer = object(
    ['hooks', 'permissions', 'env', 'mcpServers', 'tools', 'x"y', 'ü'],
    fc.oneof(inner, object(['A', 'db'], fc.constantFrom('{}', '{"a": 1}'))),
  );
  const file = fc
    .tuple(outer, fc.constantFrom('', '\n', '\r\n', ' // end\n'))
    .map((both) => both.join(''));

  /** What a file says: an empty container says nothing, nor the version that hooks need. */
  const said = (text: string): unknown => {
    const { version: _, ...rest } = readJson(text === '' ? '{}' : text, []) as JsonRecord;
    return bare(rest);
  };
  function bare(value: unknown): unknown {
    if (Array.isArray(value)) return value.length === 0 ? undefined : value;
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([key, one]) => [key, bare(one)]);
    const full = members.filter(([, one]) => one !== undefined);
    return full.length === 0 ? undefined : Object.fromEntries(full);
  }

  it('is given back, and loses exactly our lines', () => {
    let count = 0;
    fc.assert(
      fc.property(file, fc.constantFrom(...editsOf(/\.json$/)), (text, edits) => {
        if (holds(text, edits, said)) count += 1;
      }),
      { numRuns: 3_000 },
    );
    expect(count).toBeGreaterThan(2_000);
  });
});

describe('TOML', () => {
  const line = fc.constantFrom(
    ...['a = 1\n', '# c\n', '\n', 'b.c = "x" # y\n', '[features]\n', 'web = true\n', '[x]\n'],
    ...['[sandbox_workspace_write]\n', 'writable_roots = ["/a", # b\n "/c",]\n', 'n = [ ]\n'],
    ...[
      '[shell_environment_policy]\n',
      '[shell_environment_policy.set]\n',
      '[[t]]\n',
      'q = """\n[x]"""\n',
    ],
  );

  it('is given back, and loses exactly our lines', () => {
    let count = 0;
    const lines = fc.uniqueArray(line, { maxLength: 9 });
    fc.assert(
      fc.property(
        fc.tuple(lines, fc.boolean(), fc.boolean(), fc.constantFrom(...editsOf(/\.toml$/))),
        ([texts, crlf, cut, edits]) => {
          const joined = cut ? texts.join('').trimEnd() : texts.join('');
          const text = crlf ? joined.replaceAll('\n', '\r\n') : joined;
          // Headers that stood over nothing may go with the line that we put below them.
          const said = (one: string) =>
            one.split(/\r?\n/).filter((words) => !/^\s*$|^\[(sand|shell|feat)/.test(words));
          if (holds(text, edits, said)) count += 1;
        },
      ),
      { numRuns: 3_000 },
    );
    expect(count).toBeGreaterThan(2_000);
  });
});

describe('a hook of ours', () => {
  it.each([
    [{ hooks: [{ type: 'command', command: '/x/cuff', args: ['hook'] }] }, true],
    [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'cuff hook' }] }, true],
    [{ command: "'/with space/cuff' hook" }, true],
    [{ type: 'command', bash: '/x/dist/cuff.cjs hook --agent x' }, true],
    [{ hooks: [{ command: 'cuff hook' }, { command: 'mine' }] }, false],
    [{ hooks: [] }, false],
    [{ command: 'handcuff hook' }, false],
    [{ command: 'cuff hooks' }, false],
    [{ command: 7 }, false],
    ['cuff hook', false],
    [null, false],
  ])('is known: %j %s', (entry, ours) => {
    expect(isHookEntry(entry)).toBe(ours);
  });
});

it('a file that is all ours is not taken for one of the user, nor the other way round', () => {
  const edit = wholeFile('// Written by `cuff init`; `cuff init --undo` takes it out again.\n');
  expect(edit.remove(edit.add(''))).toBe('');
  expect(() => edit.add('mine')).toThrow(ValueConflict);
  const changed = `${edit.add('')}// mine\n`;
  expect([edit.has(changed), edit.remove(changed)]).toEqual([true, changed]);
});
