// Editing one table of a TOML file as text: what was there stays, byte for byte.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasToml, mergeToml, removeToml } from '../../../src/cli/init/toml.ts';

const TABLE = ['mcp_servers', 'cuff'];
const ENTRY = { command: 'cuff', args: ['mcp', '-x'], tool_timeout_sec: 660 };
const add = (text: string) => mergeToml(text, TABLE, ENTRY);
const remove = (text: string) => removeToml(text, TABLE);

const BLOCK = '[mcp_servers.cuff]\ncommand = "cuff"\nargs = ["mcp", "-x"]\ntool_timeout_sec = 660';

const EVERYTHING = `# a comment
title = "a \\"quoted\\" # no comment"
'single quoted' = 'C:\\path'
a.b."c.d" = 1_000
many = [ 1, 2, # two
  [ "]", ']' ], { x = 1, y = "}" } ]
long = """
[mcp_servers.cuff]
\\""" still "" long"""
longer = '''
[mcp_servers.cuff]'''
date = 1979-05-27 07:32:00
other = -inf

[[things]] # first
name = "x"
[mcp_servers.other]
command = "other"
[ mcp_servers . "an other" ]
enabled = false
`;

describe('a table is added', () => {
  it.each([
    ['to nothing', '', `${BLOCK}\n`],
    ['behind a line', 'a = 1\n', `a = 1\n\n${BLOCK}\n`],
    ['behind an unfinished line', 'a = 1', `a = 1\n\n${BLOCK}`],
    ['behind CRLF', 'a = 1\r\n', `a = 1\r\n\r\n${BLOCK.replaceAll('\n', '\r\n')}\r\n`],
    ['behind everything', EVERYTHING, `${EVERYTHING}\n${BLOCK}\n`],
  ])('%s, once, and taken out again', (_, before, after) => {
    expect(add(before)).toBe(after);
    expect(add(after)).toBe(after);
    expect([hasToml(before, TABLE), hasToml(after, TABLE)]).toEqual([false, true]);
    expect(remove(after)).toBe(before);
    expect(remove(before)).toBe(before);
  });

  it('that is there with other values, which change, and more, which stays', () => {
    const before = `[mcp_servers."cuff"] # mine
command = 'old' # why
startup_timeout_sec = 20

[mcp_servers.cuff.env]
A = "1"
[next]
`;
    const after = `[mcp_servers."cuff"] # mine
command = "cuff" # why
startup_timeout_sec = 20
args = ["mcp", "-x"]
tool_timeout_sec = 660

[mcp_servers.cuff.env]
A = "1"
[next]
`;
    expect(add(before)).toBe(after);
    expect(add(after)).toBe(after);
  });

  it('that is there already in other words is left alone', () => {
    const before = `[mcp_servers.cuff]
command = 'cuff'
args = [
  "mcp", # the command
  '-x',
]
tool_timeout_sec = 6_60
`;
    expect(add(before)).toBe(before);
  });

  it('at the end of a file without a line end', () => {
    const before = '[mcp_servers.cuff]\ncommand = "cuff"\nargs = ["mcp", "-x"]';
    expect(add(before)).toBe(BLOCK);
  });
});

describe('a table is taken out', () => {
  it('with its own tables and what stands between them', () => {
    const before = `# top

[mcp_servers.cuff]
command = "cuff"
# about args
args = ["mcp"]

# about env
[mcp_servers.cuff.env]
A = "1"

# about next
[next]
a = 1

[mcp_servers.cuff.tools.x]
b = 1
`;
    expect(remove(before)).toBe('# top\n\n# about next\n[next]\na = 1\n');
  });

  it('in whatever form somebody wrote it', () => {
    expect(remove('mcp_servers.cuff.command = "x"\na = 1\n')).toBe('a = 1\n');
    expect(remove('[mcp_servers]\ncuff = { command = "x" }\nb.command = "y"\n')).toBe(
      '[mcp_servers]\nb.command = "y"\n',
    );
  });
});

describe('a file is refused', () => {
  it.each([
    ['a', 'a = is missing here', 1],
    ['a =\nb = 1', 'a value is missing here', 3],
    ['a = "open\n', 'a value is missing here', 4],
    ['a = """open', 'a value is missing here', 4],
    ['a = [1, 2', 'a comma or the end of a list is missing here', 9],
    ['a = 1 b = 2', 'the end of the line is missing here', 6],
    ['[a', 'a ] is missing here', 2],
    ['[[a]', 'a ] is missing here', 3],
    ['= 1', 'a key is missing here', 0],
    [`a = ${'['.repeat(1_000)}`, 'less nesting is missing here', 205],
    [
      'mcp_servers = { x = { command = "x" } }',
      'mcp_servers is written in a form that has to be edited by hand',
      0,
    ],
    ['[[mcp_servers]]', 'mcp_servers is written in a form that has to be edited by hand', 0],
    [
      '[mcp_servers]\ncuff = { command = "x" }',
      'mcp_servers.cuff is written in a form that has to be edited by hand',
      14,
    ],
  ])('when it says %j', (text, message, offset) => {
    expect(() => add(text)).toThrow(expect.objectContaining({ message, offset }));
  });
});

it('whatever lines a file has, adding and taking out leaves them as they were', () => {
  const line = fc.constantFrom(
    ...EVERYTHING.split(/(?<=\n)(?=[#a-z'[])/).filter((one) => !one.startsWith('mcp_servers.cuff')),
    '\n',
    '# [mcp_servers.cuff]\n',
    '[mcp_servers]\n',
    '[mcp_servers.cuffs]\n',
  );
  const whole = fc.uniqueArray(line).map((lines) => lines.join(''));
  fc.assert(
    fc.property(whole, fc.boolean(), fc.boolean(), (text, crlf, cut) => {
      const trimmed = cut ? text.trimEnd() : text;
      const before = crlf ? trimmed.replaceAll('\n', '\r\n') : trimmed;
      // Pieces of a string on several lines may not fit together; those are refused.
      if (refused(before)) return;
      const after = add(before);
      expect(hasToml(after, TABLE)).toBe(true);
      expect(add(after)).toBe(after);
      expect(remove(after)).toBe(before);
    }),
    { numRuns: 1_000 },
  );
});

function refused(text: string): boolean {
  try {
    add(text);
    return false;
  } catch {
    return true;
  }
}
