// Where the star of an allowing rule covers something else than people expect: `cargo *` covers no
// `cargo build`, `node *` no script, and `npm run *` every script there will ever be. All of it is
// read from what is known of the programs.

import { wordArg } from './analyse/args.ts';
import type { Finding } from './lint-lists.ts';
import type { WordPattern } from './pattern.ts';
import type { Profile } from './profile.ts';
import { profileOf, readCall } from './profiles/index.ts';

type StarFinding = Pick<Finding, 'code' | 'message' | 'hint'>;

/** Of a pattern that ends in a star, with nothing but plain words before it. */
export function starSurprise(words: readonly WordPattern[]): StarFinding | undefined {
  const plain = words.slice(0, -1).flatMap((word) => (word.kind === 'literal' ? [word.value] : []));
  if (words.at(-1)?.kind !== 'rest' || plain.length !== words.length - 1) return undefined;
  return openSubcommand(plain) ?? openOperand(plain);
}

function openSubcommand(words: readonly string[]): StarFinding | undefined {
  const asking = Object.keys(innermost(words)?.subcommands ?? {})
    .filter((name) => /^[a-z][a-z-]*$/.test(name) && asksBehind(words, name))
    .sort((a, b) => rank(a) - rank(b));
  const [first, second = first] = asking;
  // Of a program whose main use is no subcommand, nothing is missed: `tox *`.
  if (first === undefined || !USUAL.includes(first)) return undefined;
  const line = words.join(' ');
  const both =
    first === second
      ? `is \`${line} ${first}\``
      : `are \`${line} ${first}\` and \`${line} ${second}\``;
  const list = first === second ? first : `{${first},${second}}`;
  return {
    code: 'star.narrow',
    message: `\`${line} *\` covers what only reads: asked about ${both}.`,
    hint: `Name what may run: \`${line} ${list} *\`.`,
  };
}

/** The profile of the program, or of the subcommand that these words name. */
function innermost([program = '', ...names]: readonly string[]): Profile | undefined {
  return names.reduce<Profile | undefined>(
    (profile, name) => profile?.subcommands?.[name],
    profileOf(program),
  );
}

function asksBehind(words: readonly string[], name: string): boolean {
  const call = readCall([...words, name].map(wordArg));
  const at = words.length;
  if (call === undefined || call.kind === 'read') return false;
  return call.subcommands.includes(at) && !call.alike.includes(at);
}

/** What most people use is the better example. */
const USUAL = 'build test run check install commit add up plan apply sync'.split(' ');

function rank(name: string): number {
  const at = USUAL.indexOf(name);
  return at < 0 ? USUAL.length : at;
}

function openOperand(words: readonly string[]): StarFinding | undefined {
  const call = readCall([...words, 'name'].map(wordArg));
  const part = call?.parts.find(({ index, role }) => index === words.length && role !== 'option');
  const line = words.join(' ');
  if (part?.role === 'program') {
    const message = `\`${line} *\` covers no program: which one it starts has to be in the rule.`;
    return { code: 'star.narrow', message, hint: `Name it: \`${line} NAME *\`.` };
  }
  if (part?.role === 'script') {
    const message = `\`${line} *\` covers every script or target, also one that deploys.`;
    return { code: 'star.wide', message, hint: `Name them: \`${line} {build,test} *\`.` };
  }
  if (part?.effect !== 'exec') return undefined;
  const message = `\`${line} *\` covers nothing that it would run, so that is asked about.`;
  return { code: 'star.narrow', message, hint: `Name the file or module: \`${line} FILE *\`.` };
}
