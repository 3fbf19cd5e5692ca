// Whether one part of a command may put a link where another part writes: where a path leads is
// looked up before the command runs, so what is written behind `ln -s` or `git checkout` is not
// known to land where it seems to. What runs code of the project could write there by itself.

import { literalOf } from './analyse/args.ts';
import { readCall } from './profiles/index.ts';
import { programName } from './programs.ts';
import type { Analysis, Unit } from './unit.ts';

/** The order of the text is not that of what runs. */
const ANY_ORDER =
  /(?<![|>&])[|&](?![|&>])|\b(?:for|while|until|select|function|trap|coproc)\b|\(\s*\)/;

export function movesIn({ text, units }: Analysis): (unit: Unit) => boolean {
  let movers: readonly Unit[] | undefined;
  return (unit) => {
    movers ??= units.filter(mayMove);
    if (movers.length === 0) return false;
    const at = unit.span?.from;
    if (at === undefined || ANY_ORDER.test(text)) return movers.some((one) => one !== unit);
    return movers.some(({ span }) => span === undefined || span.from < at);
  };
}

/** They write, and make no links of what they are given. */
const PLAIN = new Set(
  (
    'mkdir touch tee truncate sed gsed awk gawk mawk sort rm rmdir chmod split csplit dd curl ' +
    'wget npm pnpm yarn bun pip pip3 uv poetry cargo go black isort ruff prettier eslint biome ' +
    'gofmt goimports rustfmt clang-format shfmt'
  ).split(' '),
);

/** They change no file that git tracks. */
const GIT_PLAIN = new Set(
  (
    'add commit status log diff show push fetch branch tag config rev-parse ls-files remote ' +
    'blame describe shortlog reflog grep cat-file rev-list merge-base ls-remote ls-tree version'
  ).split(' '),
);

function mayMove({ argv }: Unit): boolean {
  const call = readCall(argv);
  const [program = '', ...words] = argv.map(literalOf);
  const name = programName(program);
  if (name === 'git') {
    const at = call?.subcommands[0];
    return at === undefined || !GIT_PLAIN.has(words[at - 1] ?? '');
  }
  return call !== undefined && call.kind !== 'read' && call.kind !== 'exec' && !PLAIN.has(name);
}
