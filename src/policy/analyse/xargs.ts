// `xargs`: a command that gets unknown words from its input.

import type { Arg } from '../unit.ts';
import { readOptions, type Spec } from './options.ts';

const SPEC: Spec = {
  flags: '0rtpxo',
  values: 'adEILnPs',
  optional: 'eil',
  long: [
    'null no-run-if-empty verbose interactive exit open-tty arg-file=',
    'delimiter= eof[=] replace[=] max-lines[=] max-args= max-procs=',
    'max-chars=',
  ].join(' '),
};

type PeeledXargs = {
  readonly name: string;
  readonly argv: readonly Arg[];
  readonly inShell: boolean;
  readonly reads?: Arg;
};

export function peelXargs(argv: readonly Arg[]): PeeledXargs | undefined {
  const options = readOptions(argv, SPEC);
  if (options === undefined) return undefined;
  const { found, at } = options;
  const mark = found.get('I') ?? found.get('i') ?? found.get('replace');
  if (mark !== undefined && mark.kind !== 'literal') return undefined;
  const echo: Arg = { kind: 'literal', value: 'echo', source: 'echo', span: undefined };
  const words = at < argv.length ? argv.slice(at) : [echo];
  const file = found.get('a') ?? found.get('arg-file');
  // What it reads can be any path: it is not written here, as what `find` finds is.
  const marked =
    mark === undefined
      ? words
      : replaced(words, mark.value || '{}').map((arg, at) =>
          arg === words[at] ? arg : { ...arg, source: 'xargs', span: undefined },
        );
  // Of `-I`, `-n` and `-L` the last one wins: then it gets both.
  const appends =
    mark === undefined || ['n', 'L', 'l', 'max-args', 'max-lines'].some((o) => found.has(o));
  const inner = appends ? [...marked, more()] : marked;
  const base = { name: 'xargs', argv: inner, inShell: false };
  return file === undefined ? base : { ...base, reads: file };
}

function more(): Arg {
  return { kind: 'unknown', prefix: '', one: false, source: 'xargs', span: undefined };
}

/** Words in which `mark` stands for one that is not known. */
export function replaced(words: readonly Arg[], mark: string, prefix = ''): readonly Arg[] {
  return words.map((word): Arg => {
    if (word.kind === 'literal') {
      const at = word.value.indexOf(mark);
      if (at === -1) return word;
      return {
        kind: 'unknown',
        prefix: word.value.slice(0, at) + prefix,
        one: true,
        source: word.source,
        span: word.span,
      };
    }
    // What is not known may complete the mark, or have it in it.
    const [first = ''] = mark;
    const at = word.prefix.indexOf(first);
    const known = at === -1 ? word.prefix : word.prefix.slice(0, at);
    const one = word.kind === 'unknown' && word.one;
    return { kind: 'unknown', prefix: known, one, source: word.source, span: word.span };
  });
}
