// Whether one part of a command may put a link where another part writes: where a path leads is
// looked up before the command runs, so what is written behind `ln -s` or `git checkout` is not
// known to land where it seems to. What runs code of the project could write there by itself.

import { literalOf } from './analyse/args.ts';
import { factsOf } from './facts.ts';
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

function mayMove({ argv }: Unit): boolean {
  const call = readCall(argv);
  const name = programName(literalOf(argv[0]));
  const { makesNoLinks } = factsOf(name) ?? {};
  if (makesNoLinks !== undefined && makesNoLinks !== 'yes') {
    const at = call?.subcommands[0];
    return at === undefined || !makesNoLinks.split(' ').includes(literalOf(argv[at]));
  }
  const writes = call !== undefined && call.kind !== 'read' && call.kind !== 'exec';
  return writes && makesNoLinks === undefined;
}
