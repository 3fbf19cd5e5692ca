// Other commands to the same end as a denied one: `npm ci` installs as `npm install` does, and
// `yarn deploy` runs the script of `npm run deploy`. Who denies one may well want the other, so
// that they are not the same; but where all is allowed that no rule denies, a person is asked.

import { subcommandName } from './aliases.ts';
import { literalOf, wordArg } from './analyse/args.ts';
import type { Objection } from './facts.ts';
import type { Places } from './paths.ts';
import { baseName, showsEnvironment } from './programs.ts';
import type { Rule } from './rules.ts';
import { strictMatch } from './strict.ts';
import type { Arg, Unit } from './unit.ts';

export function equivalentObjection(
  unit: Unit,
  lines: readonly (readonly Arg[])[],
  rules: readonly Rule[],
  places: Places,
): Objection | undefined {
  const place = { ...places, cwds: unit.cwds };
  const others = [...lines.flatMap(equivalents), ...(showsEnvironment(unit) ? ENVIRONMENT : [])];
  for (const { argv, said } of others) {
    const found = rules.find(
      ({ words }) =>
        // `npm *` is about npm, and says nothing of what others do.
        words.filter(({ kind }) => kind === 'literal').length >= said &&
        strictMatch(words, argv, place) === 'yes',
    );
    if (found === undefined) continue;
    return {
      code: 'rule.ask',
      detail: undefined,
      span: unit.span,
      message: `it does what the rule \`${found.ref.pattern}\` is about`,
    };
  }
  return undefined;
}

/** `said`: how many words a rule has to name for it. */
type Other = { readonly argv: readonly Arg[]; readonly said: number };

const ENVIRONMENT: readonly Other[] = [other('env', []), other('printenv', [])];

function equivalents(argv: readonly Arg[]): readonly Other[] {
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
  if (!/^(?:npm|pnpm|yarn|bun)$/.test(name)) return [];
  const command = subcommandName(name, first);
  if (command === 'run') return scripts(second);
  if (/^(?:test|start|stop|restart)$/.test(command)) return scripts(command);
  if (name !== 'npm') return COMMANDS.has(first) ? [] : scripts(first);
  return command === 'ci' ? [other('npm install', operands.slice(1))] : [];
}

/** What these managers do themselves: `pnpm add` is no script. */
const COMMANDS: ReadonlySet<string> = new Set(
  `add audit bin cache ci config create dedupe dlx exec global help i import info init install
  link list ll ls login logout node npm outdated owner pack patch plugin pm prune publish rebuild
  remove rm set store un uninstall unlink up update upgrade version view why workspace workspaces
  x`.split(/\s+/),
);

/** All ways to run a script of the project. */
function scripts(script: string): readonly Other[] {
  if (script === '') return [];
  const bare = COMMANDS.has(script) ? [] : ['pnpm', 'yarn'];
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
