// Where everything is allowed but a few things: a person is asked about commands that could hide
// one of them. A text cannot show what an interpreter or an unknown program does with its words,
// but it shows when a denied program is named in them.

import { baseName } from '../text/base-name.ts';
import { literalOf, wordArg } from './analyse/args.ts';
import type { Objection } from './bounds.ts';
import { subcommandName } from './equivalents.ts';
import { hasTrait, isListed } from './facts.ts';
import { inputUse } from './input.ts';
import type { Roots } from './paths.ts';
import type { Call } from './profile.ts';
import {
  isClosed,
  isOpaque,
  isOwnPath,
  isShell,
  showsEnvironment,
  tellsPrograms,
} from './programs.ts';
import type { Rule, Rules } from './rules.ts';
import { strictMatch } from './strict.ts';
import type { Arg, Unit } from './unit.ts';

export type Line = { readonly argv: readonly Arg[]; readonly call: Call | undefined };

type EvasionContext = {
  readonly rules: Rules;
  readonly roots: Roots;
  /** The whole command. */
  readonly text: string;
  /** It writes files and starts programs by their path. */
  readonly makes: boolean;
  /** Processes are judged again when they start. */
  readonly gated: boolean;
};

export function hides(
  unit: Unit,
  lines: readonly Line[],
  given: EvasionContext,
): Objection | undefined {
  const { deny, ask } = given.rules.strict;
  if (deny.length + ask.length === 0) return undefined;
  for (const line of lines) {
    const [first] = line.argv;
    const program = literalOf(first);
    const opaque = isOpaque(program);
    const named = namesDenied(unit, line, given);
    const unseen =
      isShell(program) ||
      inputUse(unit, lines) === 'code' ||
      isClosed(line.argv) ||
      // Both the program and the words that `xargs` adds are unknown.
      (unit.via.includes('xargs') && line.call === undefined) ||
      (given.makes && isOwnPath(program)) ||
      line.call?.parts.some(({ effect }) => effect === 'exec') === true;
    if (opaque || named || (unseen && !given.gated)) {
      return {
        code: opaque ? 'program.opaque' : 'code.unseen',
        message: 'it can run code that cannot be judged by this text',
        hint: 'Run the commands themselves.',
      };
    }
  }
  const argvs = lines.map(({ argv }) => argv);
  return substituteObjection(unit, argvs, [...deny, ...ask], given.roots);
}

/**
 * Whether a denied program is named where it could be started from: in any word of a program
 * without a profile, in words whose effect is not harmless, or by its path.
 */
function namesDenied(
  unit: Unit,
  { argv, call }: Line,
  { rules, text, makes }: EvasionContext,
): boolean {
  const names = rules.deniedNames;
  if (names === undefined) return false;
  const [first] = argv;
  const program = literalOf(first);
  const anywhere = call === undefined || tellsPrograms(program);
  const doubtful = new Set(
    call?.parts.flatMap(({ effect, index }) => (effect === undefined ? [] : [index])),
  );
  // It may run its input, or a file that this text makes.
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

/** Whether a text makes a file: then a program that it starts by its path may be that file. */
export function makesFiles(units: readonly Unit[]): boolean {
  return units.some(
    ({ argv, redirects }) =>
      hasTrait(literalOf(argv[0]), 'makes-files') ||
      redirects.some(({ effect, target }) => {
        const value = literalOf(target);
        return /^(?:write|append|readwrite)$/.test(effect) && !value.startsWith('/dev/');
      }),
  );
}

/**
 * Other commands to the same end as a denied one: `npm ci` installs as `npm install` does, and
 * `yarn deploy` runs the script of `npm run deploy`. The author of a rule about one may want the
 * other, so they do not count as the same; but where everything else is allowed, a person is asked.
 */
function substituteObjection(
  unit: Unit,
  lines: readonly (readonly Arg[])[],
  rules: readonly Rule[],
  roots: Roots,
): Objection | undefined {
  const context = { ...roots, cwds: unit.cwds };
  const others = [...lines.flatMap(substitutes), ...(showsEnvironment(unit) ? ENVIRONMENT : [])];
  for (const { argv, said } of others) {
    const found = rules.find(
      ({ words }) =>
        // `npm *` is about npm, and says nothing of what others do.
        words.filter(({ kind }) => kind === 'literal').length >= said &&
        strictMatch(words, argv, context) === 'yes',
    );
    if (found === undefined) continue;
    return {
      code: 'rule.ask',
      message: `it does what the rule \`${found.ref.pattern}\` is about`,
    };
  }
  return undefined;
}

/** `said`: how many words a rule has to name for it. */
type Other = { readonly argv: readonly Arg[]; readonly said: number };

const ENVIRONMENT: readonly Other[] = [other('env', []), other('printenv', [])];

function substitutes(argv: readonly Arg[]): readonly Other[] {
  const [program, ...rest] = argv;
  if (program?.kind !== 'literal') return [];
  const name = baseName(program.value);
  const operands = rest.filter((arg) => !/^-./.test(literalOf(arg)));
  const [first = '', second = ''] = operands.map(literalOf);
  if (name === 'uv') {
    return first === 'pip'
      ? [other('pip', rest.slice(rest.indexOf(operands[0] ?? program) + 1))]
      : [];
  }
  if (name === 'node') {
    const script = /(?:^| )--run[ =](\S+)/.exec(rest.map(literalOf).join(' '))?.[1];
    return script === undefined ? [] : scripts(script);
  }
  if (!hasTrait(name, 'manager')) return [];
  const command = subcommandName(name, first);
  if (command === 'run') return scripts(second);
  if (/^(?:test|start|stop|restart)$/.test(command)) return scripts(command);
  if (name !== 'npm') return isListed('manager-commands', first) ? [] : scripts(first);
  return command === 'ci' ? [other('npm install', operands.slice(1))] : [];
}

/** All ways to run a script of the project. */
function scripts(script: string): readonly Other[] {
  if (script === '') return [];
  const bare = isListed('manager-commands', script) ? [] : ['pnpm', 'yarn'];
  const own = /^(?:test|start|stop|restart)$/.test(script) ? ['npm'] : [];
  return ['npm run', 'pnpm run', 'yarn run', 'bun run', ...bare, ...own].map((runner) =>
    other(`${runner} ${script}`, []),
  );
}

function other(words: string, rest: readonly Arg[]): Other {
  const said = words.split(' ');
  // `uv pip install`: the verb is in the rest.
  return { argv: [...said.map(wordArg), ...rest], said: words === 'pip' ? 2 : said.length };
}
