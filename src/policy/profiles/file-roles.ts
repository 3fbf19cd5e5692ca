// Roles of words that name files, one or several, to read or to write.

import { DOES, type Judge, type Judged, named, part, shown, type Text } from './judged.ts';
import { aimsAtSecrets } from './name-globs.ts';

export const FILE_ROLES = {
  testid: (text) => [source(cut(text, '::'))],
  source: (text) => [source(text)],
  product: (text) => [source(text, 'output')],
  files: fileGlob,
  listing: (text) => [
    named('path', text, () => false, 'secret', 'has names of files in it that are not seen'),
  ],
  lines: (text) => [part('path', behindLast(text, ':'))],
  report: (text) => [part('output', behindLast(text, ':'))],
  figures: (text) => [figures(text)],
  paths: paths,
  fresh: (text) => [fresh(text)],
  sink: (text) => [sink(text)],
  writeout: (text) => [
    named('word', text, (v) => !/^@|%output/i.test(v), 'write', 'writes a file'),
  ],
  expression: (text) => [
    part(/^\.env|^(?:~|\.{0,2})\/|\.[a-z]{2,5}$/i.test(text.prefix) ? 'path' : 'word', text),
  ],
  mode: (text) => [
    named('word', text, isMode, 'config', 'lets others write, or runs as its owner'),
  ],
} satisfies Readonly<Record<string, Judge>>;

function cut(text: Text, mark: string): Text {
  const prefix = text.prefix.split(mark)[0] ?? '';
  if (text.value !== undefined) return { value: text.value.split(mark)[0] ?? '', prefix };
  // The file is known when the mark is behind it.
  return text.prefix.includes(mark) ? { value: prefix, prefix } : { value: undefined, prefix };
}

function behindLast(text: Text, mark: string): Text {
  const prefix = text.prefix.slice(text.prefix.lastIndexOf(mark) + 1);
  return { value: text.value === undefined ? undefined : prefix, prefix };
}

function source(text: Text, role: 'path' | 'output' = 'path'): Judged {
  return text.prefix.startsWith('@')
    ? part(role, text, 'exec', `${shown(text)} has options in it that are not seen`)
    : part(role, text);
}

/** Which files of a tree are read. What begins with `!` is left out. */
function fileGlob(text: Text): readonly Judged[] {
  const glob = text.value ?? text.pattern;
  if (glob === undefined) return [part('path', text)];
  if (glob.startsWith('!')) return [part('filter', text)];
  // `--type-add name:*.x`; and a slash in front is the top of the tree.
  const own = glob.replace(/^\w+:/, '').replace(/^\/+/, '');
  return aimsAtSecrets(own)
    ? [part('filter', text, 'secret', `${shown(text)} can be files with secrets`)]
    : [part('filter', text)];
}

const FIGURES = /\.(out|prof|pprof|cov|lcov)$/;

/** Where numbers about a run go: a file that has no other use, or it would be overwritten. */
function figures(text: Text): Judged {
  return FIGURES.test(text.value ?? '')
    ? part('output', text)
    : part('write', text, 'write', `${shown(text)} ${DOES.write}`);
}

/** `a:/b`, `x=/b`, `{a,/b}`: whichever sign divides them, each is a file. */
function paths(text: Text): readonly Judged[] {
  if (text.value === undefined) return [part('path', text)];
  const own = text.value.split(/[:;=,{}]/).filter((one) => one !== '');
  if (own.length > PATHS_MAX) return [part('path', text, 'unknown', 'it names too many files')];
  return [text.value, ...own].map((value) => part('path', { value, prefix: value }));
}

const PATHS_MAX = 64; // a class path by hand has a few

const PRODUCTS = new RegExp(
  [
    '^(?:[\\w.-]+/)*(?:dist|build|out|output|_?site|vendor|target|storybook-static)',
    '(?:[-/][\\w./-]*)?$',
  ].join(''),
);

/** A directory that is emptied before it is written: one that has no other use. */
function fresh(text: Text): Judged {
  const { value = '' } = text;
  return PRODUCTS.test(value) && !value.includes('..')
    ? part('output', text)
    : part('delete', text, 'delete', `${shown(text)} is emptied first`);
}

/** `/dev/null` and `-` write no file: the caller only checks that the program works. */
function sink(text: Text): Judged {
  return text.value === '/dev/null' || text.value === '-'
    ? part('word', text)
    : part('write', text, 'write', `${shown(text)} ${DOES.write}`);
}

/** Only the owner may write, and there is no setuid or setgid bit. */
function isMode(value: string): boolean {
  return /^0*[0-7][0145][0145]$/.test(value);
}
