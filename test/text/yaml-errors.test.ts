// A file that is no YAML is told in our own words: where, what is there, and what to do.
import { expect, it } from 'vitest';
import { readYaml } from '../../src/text/yaml.ts';

it.each([
  ['an open quote', 'tool_names: "dotted\n', '2:1: the file ends inside of quotes; close them'],
  [
    'an open brace',
    'plugins: { derun: {}\n',
    '2:1: the file ends inside of braces or brackets; close them with } or ]',
  ],
  ['a brace too many', 'plugins: {}}\n', '1:12: a } that closes nothing; remove it'],
  ['no colon', 'tool_names: dotted\nplugins\n', '2:1: a line without a colon; write `key: value`'],
  [
    'no colon in front of more',
    'plugins\n  derun: {}\n',
    '1:1: a line without a colon; write `key: value`',
  ],
  [
    'two colons',
    'tool_names: dotted: x\n',
    '1:13: a key or list where a value is expected; start all ' +
      'keys and all - of one list in the same column, or quote the value',
  ],
  [
    'keys in different columns',
    'plugins:\n  derun: {}\n codex: {}\n',
    '3:1: this line is indented unlike its neighbours, or braces above are not closed; start ' +
      'all keys and all - of one list in the same column',
  ],
  [
    'a list among keys',
    'plugins: {}\n- derun\n',
    '2:1: a list item where a key is expected; start all keys and all - of one list in the ' +
      'same column',
  ],
  [
    'a reserved character',
    'tool_names: @dotted\n',
    '1:13: a value cannot begin with @ outside quotes; write the value in quotes',
  ],
  [
    'text behind quotes',
    'tool_names: "dotted" x\n',
    '1:22: text that belongs to nothing before it; put a comma or a new line between, or ' +
      'quote all',
  ],
  [
    'an unknown escape',
    'tool_names: "\\q"\n',
    '1:14: an unknown escape in double quotes; write \\\\ for a backslash, or single quotes',
  ],
  [
    'no comma',
    'plugins: { derun: {} codex: {} }\n',
    '1:22: text that belongs to nothing before it; put a comma or a new line between, or ' +
      'quote all',
  ],
  [
    'a comma too many',
    'plugins: { , derun: {} }\n',
    '1:12: a comma with nothing in front of it; remove it',
  ],
  [
    'a comment without a space',
    'tool_names: "dotted"#x\n',
    '1:21: a comment right behind a value; put a space before #',
  ],
  [
    'a directive',
    '%FOO bar\n---\nplugins: {}\n',
    '1:1: a line that begins with % is a directive, and this one is unknown; remove it',
  ],
])('%s', (_, text, told) => {
  const { problems } = readYaml(text, undefined);
  expect(problems.map(({ at, message }) => `${at.line}:${at.column}: ${message}`)).toEqual([told]);
});
