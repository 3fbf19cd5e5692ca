// Writes docs/cli.md from the help that the programs print, so that the page and the programs
// cannot disagree. `--print` writes it to stdout; a test compares that with the file.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const PAGE = join(ROOT, 'docs', 'cli.md');

const INTRO = `# Commands

<!-- Written by \`node scripts/cli-reference.mjs\` from the help of the programs. Do not edit. -->

\`cuff\` is the whole program; \`derun\` is a small one with \`run\` and \`mcp\` only. Each text
below is what \`cuff help COMMAND\` prints. [record](record.md), [policy](policy.md),
[trace](trace.md) and [settings](settings.md) show the larger commands at work.

- **Ids.** Any unique part of an id is enough.
- **Streams.** Data goes to stdout, messages go to stderr. Commands that print data take
  \`--json\`.
- **Exit codes.** 0: done. 1: it failed, or nothing matched. 2: it was called wrongly.
  \`cuff run\` and \`derun run\` exit as their command did, with 126 or 127 if it could not be
  started and 124 if \`--kill-after\` ended it. \`cuff policy check\` exits 0 for allow, 1 for
  deny and 3 for ask.
- **Variables.** \`CUFF_STATE_ROOT\` is where captures are kept, \`CUFF_SETTINGS\` and
  \`CUFF_POLICY\` name files, \`CUFF_RUNNER=off\` chooses the portable runner, \`CUFF_LOG_LEVEL\`
  sets what a server prints on stderr.
`;

const page = `${INTRO}\n${[...sections('cuff', [], 2), section('derun', [], 2)].join('\n')}`;
if (process.argv.includes('--print')) process.stdout.write(page);
else writeFileSync(PAGE, page);

/** A command and, if its help lists any, its subcommands. */
function sections(program, words, depth) {
  const names = subcommands(helpOf(program, words)).filter((name) => name !== 'help');
  const below = words.length === 0 ? depth : depth + 1;
  return [
    ...(words.length === 0 ? [] : [section(program, words, depth)]),
    ...names.flatMap((name) => sections(program, [...words, name], below)),
  ];
}

function section(program, words, depth) {
  const title = [program, ...words].join(' ');
  const help = helpOf(program, words).trimEnd();
  return `${'#'.repeat(depth)} ${title}\n\n\`\`\`text\n${help}\n\`\`\`\n`;
}

function subcommands(help) {
  const listed = /^(?:Commands|Subcommands):\n((?: {2}.*\n?)*)/m.exec(help)?.[1] ?? '';
  return [...listed.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => name);
}

function helpOf(program, words) {
  // `cuff run --help` is answered before the commands are loaded and has the usage alone.
  const [first, ...rest] = words;
  const group = rest.length > 0 ? [first, 'help', ...rest] : ['help', ...words];
  const file = join(ROOT, 'dist', `${program}.cjs`);
  const { stdout, stderr, status } = spawnSync(process.execPath, [file, ...group], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });
  if (status !== 0) throw new Error(`${program} ${group.join(' ')}: ${status} ${stderr}`);
  return stdout;
}
