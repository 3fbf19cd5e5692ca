// Where everything is allowed but a few things: whatever could hide one of them is asked about. A
// text cannot show what an interpreter or an unknown program does with its words, but it shows when
// a denied program is named in them.

import { equivalentObjection } from './equivalents.ts';
import type { Objection } from './facts.ts';
import type { Places } from './paths.ts';
import type { Call } from './profile.ts';
import { isClosed, isOpaque, isOwnPath, isShell, runsItsInput, tellsPrograms } from './programs.ts';
import type { Rules } from './rules.ts';
import type { Arg, Unit } from './unit.ts';

export type Line = { readonly argv: readonly Arg[]; readonly call: Call | undefined };

type Hiding = {
  readonly rules: Rules;
  readonly places: Places;
  /** The whole command. */
  readonly text: string;
  /** It writes files and starts programs by their path. */
  readonly makes: boolean;
  /** Processes are judged again when they start. */
  readonly gated: boolean;
};

export function hides(unit: Unit, lines: readonly Line[], given: Hiding): Objection | undefined {
  const { deny, ask } = given.rules.strict;
  if (deny.length + ask.length === 0) return undefined;
  for (const line of lines) {
    const [first] = line.argv;
    const program = first?.kind === 'literal' ? first.value : '';
    const opaque = isOpaque(program);
    const named = namesDenied(unit, line, given);
    const unseen =
      isShell(program) ||
      runsItsInput(unit) ||
      isClosed(line.argv) ||
      // Both the program and the words that `xargs` adds are unknown.
      (unit.via.includes('xargs') && line.call === undefined) ||
      (given.makes && isOwnPath(program)) ||
      line.call?.parts.some(({ effect }) => effect === 'exec') === true;
    if (opaque || named || (unseen && !given.gated)) {
      return {
        code: opaque ? 'program.opaque' : 'code.unseen',
        detail: undefined,
        span: unit.span,
        message: 'it can run code that cannot be judged by this text',
        hint: 'Run the commands themselves.',
      };
    }
  }
  const all = lines.map(({ argv }) => argv);
  return equivalentObjection(unit, all, [...deny, ...ask], given.places);
}

/**
 * Whether a denied program is named where it could be started from: in any word of a program that
 * without a profile, in words whose effect is not harmless, or by its path.
 */
function namesDenied(unit: Unit, { argv, call }: Line, { rules, text, makes }: Hiding): boolean {
  const names = rules.deniedNames;
  if (names === undefined) return false;
  const [first] = argv;
  const program = first?.kind === 'literal' ? first.value : '';
  const anywhere = call === undefined || tellsPrograms(program);
  const doubtful = new Set(
    call?.parts.flatMap(({ effect, index }) => (effect === undefined ? [] : [index])),
  );
  // What it reads, or finds in a file that this text makes, may be what it runs.
  const fed = makes || unit.stdin === 'pipe' || unit.stdin === 'text' || unit.stdin === 'file';
  const runs = call === undefined || call.kind === 'exec' || call.kind === 'net';
  if (runs && fed && names.test(text)) return true;
  const reads = unit.redirects.some(({ target }) => isDeniedPath(target, names));
  return (
    reads ||
    argv.some((arg, at) => {
      if (at === 0 || arg.kind !== 'literal') return false;
      if (anywhere || doubtful.has(at)) return names.test(arg.value);
      return isDeniedPath(arg, names);
    })
  );
}

/** `/bin/rm`, also in `if=/bin/rm`. */
function isDeniedPath(arg: Arg | undefined, names: RegExp): boolean {
  if (arg?.kind !== 'literal') return false;
  return /(?:^|=)\/(?:[^=]*\/)?s?bin\//.test(arg.value) && names.test(arg.value);
}

const WRITERS = /^(?:cp|mv|ln|install|tee|dd|curl|wget|tar|unzip|rsync|scp|base64|xxd|sed|patch)$/;

/** Whether a text makes a file: then a program that it starts by its path may be that file. */
export function makesFiles(units: readonly Unit[]): boolean {
  return units.some(
    ({ argv, redirects }) =>
      (argv[0]?.kind === 'literal' && WRITERS.test(argv[0].value)) ||
      redirects.some(({ effect, target }) => {
        const value = target?.kind === 'literal' ? target.value : '';
        return /^(?:write|append|readwrite)$/.test(effect) && !value.startsWith('/dev/');
      }),
  );
}
