// `cuff trust`: lets the settings, the modules and the policy of a project count, with exactly the
// content they have now. Only a person at a terminal may say so.

import { type Command, Option } from 'commander';
import { AppError } from '../errors.ts';
import { counted } from '../text/plural.ts';
import { printable } from '../text/printable.ts';
import { examples } from './help.ts';
import { put, putJson, say } from './output.ts';

type Options = {
  readonly show?: boolean;
  readonly remove?: boolean;
  readonly list?: boolean;
  readonly json?: boolean;
};

const EXAMPLES = examples(
  'cuff trust                 the settings and the policy here count from now on',
  'cuff trust --show ../app   what is there, what is trusted, what has changed',
  'cuff trust --remove        they wait again',
  'cuff trust --list          every directory that is trusted',
);

export function addTrustCommand(program: Command): void {
  program
    .command('trust')
    .description('let the settings and the policy of a project count, as they are now')
    .argument('[dir]', 'the project (default: this directory)')
    .addOption(new Option('--show', 'only say what is there').conflicts(['remove', 'list']))
    .addOption(new Option('--remove', 'trust it no more').conflicts(['list']))
    .addOption(new Option('--list', 'the directories that are trusted'))
    .option('--json', 'with --show and --list: one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(trust);
}

async function trust(given: string | undefined, options: Options): Promise<void> {
  const { env } = process;
  if (options.list === true) return list(options);
  const project = await directory(given ?? '.');
  if (options.show === true) return show(project, options);
  if (options.json === true) {
    throw new AppError('usage', '--json goes with --show and --list.');
  }
  const [{ requirePerson }, trusting] = await Promise.all([
    import('../trust/person.ts'),
    import('../trust/trust.ts'),
  ]);
  requirePerson(env, 'trust a project');
  if (options.remove === true) {
    const gone = trusting.distrustProject(project, env);
    say(gone ? `${printable(project)} is trusted no more.` : 'It was not trusted.');
    return;
  }
  const { files, modules } = trusting.trustProject(project, env);
  const names = Object.keys(files);
  if (names.length === 0) {
    return say(`Trusted ${printable(project)}: it has no settings and no policy so far.`);
  }
  say(`Trusted in ${printable(project)}, as they are now:`);
  for (const name of names) say(`  ${printable(name)}`);
  const count = Object.keys(modules).length;
  if (count > 0) say(`  ${counted(count, 'file')} that the modules load`);
}

async function directory(path: string): Promise<string> {
  const [{ statSync }, { resolve }] = await Promise.all([import('node:fs'), import('node:path')]);
  const project = resolve(path);
  if (statSync(project, { throwIfNoEntry: false })?.isDirectory() === true) return project;
  throw new AppError('cwd_missing', `${printable(project)} is not a directory.`);
}

/** `--json`: {"directory","trusted_at","files":[{"file","state","keys"}]}. */
async function show(project: string, { json }: Options): Promise<void> {
  const { trustState } = await import('../trust/trust.ts');
  const state = trustState(project, process.env);
  const { directory: path, trustedAt, files } = state;
  if (json === true) return putJson({ directory: path, trusted_at: trustedAt ?? null, files });
  const since = trustedAt === undefined ? 'not trusted' : `trusted since ${trustedAt}`;
  await put(`${printable(path)}: ${since}\n`);
  if (files.length === 0) await put('  no settings and no policy\n');
  for (const { file, state: found, keys } of files) {
    await put(`  ${printable(file)}: ${found}\n`);
    for (const key of keys ?? []) await put(`    ${printable(key)}\n`);
  }
}

/** `--json`: [{"directory","trusted_at","files":[name...]}]. */
async function list({ json }: Options): Promise<void> {
  const { trustedDirectories } = await import('../trust/list.ts');
  const rows = [...trustedDirectories(process.env)].map(([path, { trustedAt, files }]) => ({
    directory: path,
    trusted_at: trustedAt,
    files: Object.keys(files),
  }));
  if (json === true) return putJson(rows);
  if (rows.length === 0) return put('No directory is trusted.\n');
  for (const { directory: path, files } of rows) {
    await put(`${printable(path)}  ${files.map(printable).join(', ')}\n`);
  }
}
