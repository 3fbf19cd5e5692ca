// `cuff policy`: its subcommands as data for their parser. What each does is in the file of its
// name and loaded only when it is asked for.

import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { type JournalLocation, locatedByName, usualJournal } from '../../recordings/directory.ts';
import { parseSince } from '../../text/dates.ts';
import { examples, JSON_DOCUMENT } from '../help.ts';
import { policyTrouble } from './trouble.ts';

export function addPolicyCommands(program: Command): void {
  const policy = program
    .command('policy')
    .description('what agents may run: check, lint, test, compare, approve and export rules')
    .usage('<subcommand>')
    .helpCommand('help [subcommand]', 'what a subcommand does');
  addCheck(policy);
  addLint(policy);
  addTest(policy);
  addDiff(policy);
  addApprove(policy);
  addExport(policy);
  for (const command of policy.commands) {
    command
      .showHelpAfterError(`Try \`cuff policy help ${command.name()}\`.`)
      .helpOption('-h, --help', 'this text');
  }
}

const POLICY = 'a policy.yml; without it the files that apply here';
const TRUST_POLICY = 'the policy of this project counts, for this command';
const TRUST_SETTINGS = 'the settings of this project count, for this command';

function addCheck(policy: Command): void {
  policy
    .command('check')
    .description('whether a command may run, and why: exit 0 allow, 1 deny, 3 ask')
    .addArgument(new Argument('[command]', 'its whole text as one argument, in quotes'))
    .option('--policy <file>', POLICY)
    .option('--cwd <dir>', 'where it would run (default: here)')
    .option('--project <dir>', 'the project (default: found by the directory)')
    .option('--batch <file>', 'JSON lines {id, command, cwd, policy}; - is stdin')
    .option('--json', `${JSON_DOCUMENT}, for a batch one for each line`)
    .option('--trust', TRUST_POLICY)
    .addHelpText(
      'after',
      examples(
        "cuff policy check 'git log --oneline | head'",
        "cuff policy check 'npm test' --policy policy.yml --json",
        'cuff policy check --batch commands.jsonl --json',
      ),
    )
    .action(async (command, flags) => (await import('./check.ts')).checkPolicy(command, flags));
}

function addLint(policy: Command): void {
  policy
    .command('lint')
    .description('errors in a policy, and rules that probably do not mean what they say')
    .addArgument(new Argument('[file...]', POLICY))
    .option('--strict', 'exit 1 when there is a warning')
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff policy lint', 'cuff policy lint --strict policy.yml'))
    .action(async (files, flags) => (await import('./lint.ts')).lintPolicies(files, flags));
}

type HistoryFlags = {
  readonly since?: Since;
  readonly directory?: string;
  readonly json?: boolean;
  readonly trust?: boolean;
};

function addTest(policy: Command): void {
  policy
    .command('test')
    .description('what a policy would have said about everything in the journal')
    .addArgument(new Argument('<policy>', 'a policy.yml'))
    .addOption(new Option('--since <date>', SINCE).argParser(since))
    .option('--directory <dir>', DIRECTORY)
    .option('--json', JSON_DOCUMENT)
    .option('--trust', TRUST_SETTINGS)
    .addHelpText('after', examples('cuff policy test policy.yml --since 30d'))
    .action(async (file: string, flags: HistoryFlags) => {
      const { policyTest } = await import('./test.ts');
      const journal = await journalOf(flags);
      const { at, text } = flags.since ?? {};
      await policyTrouble(() => policyTest({ ...journal, file, since: at, sinceText: text }));
    });
}

function addDiff(policy: Command): void {
  policy
    .command('diff')
    .description('what changes between two policies: rules, and commands of the journal')
    .addArgument(new Argument('<before>', 'a policy.yml'))
    .addArgument(new Argument('<after>', 'another one'))
    .addOption(new Option('--since <date>', SINCE).argParser(since))
    .option('--directory <dir>', DIRECTORY)
    .option('--json', JSON_DOCUMENT)
    .option('--trust', TRUST_SETTINGS)
    .addHelpText('after', examples('cuff policy diff old.yml new.yml'))
    .action(async (before: string, after: string, flags: HistoryFlags) => {
      const { policyDiff } = await import('./diff.ts');
      const journal = await journalOf(flags);
      await policyTrouble(() => policyDiff({ ...journal, before, after, since: flags.since?.at }));
    });
}

function addApprove(policy: Command): void {
  policy
    .command('approve')
    .description('list the refused commands that you may allow; with an id, allow that one once')
    .addArgument(new Argument('[id]', 'the id that the refusal names'))
    .option('--always', 'as a rule of the project, for exactly this command')
    .option('--user', 'as a rule of yours, for all projects')
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff policy approve', 'cuff policy approve 3fk2m7qa --always'))
    .action(async (id, flags) => (await import('./approve.ts')).approvePolicy(id, flags));
}

function addExport(policy: Command): void {
  policy
    .command('export')
    .description('the rules in the format of another tool, and what that format cannot express')
    .addArgument(new Argument('[file]', POLICY))
    .requiredOption('--to <tool>', 'claude, codex, opencode or gemini')
    .option('--loose', 'write also rules that would allow more there than here')
    .option('--trust', TRUST_POLICY)
    .addHelpText('after', examples('cuff policy export --to claude policy.yml'))
    .action(async (file, flags) => (await import('./export.ts')).exportRules(file, flags));
}

const SINCE = 'only what began since: 2026-01-18, or a time ago like 30d';
const DIRECTORY = 'the journal (default: that of the project)';

type Since = { readonly at: number; readonly text: string };

function since(text: string): Since {
  const at = parseSince(text, Date.now());
  if (at === undefined) {
    throw new InvalidArgumentError('It is not a date like 2026-01-18 or a time ago like 7d.');
  }
  return { at, text };
}

async function journalOf({ directory, json, trust }: HistoryFlags) {
  const located = await locate(directory, trust);
  const { openJournal } = await import('../record/opened.ts');
  const { sayUnreadable } = await import('../record/unreadable.ts');
  const opened = openJournal(located);
  sayUnreadable(opened.directory);
  return { directory: opened.directory, json: json === true };
}

async function locate(name: string | undefined, trusted = false): Promise<JournalLocation> {
  if (name !== undefined) return locatedByName(name);
  const usual = usualJournal(process.cwd(), process.env, trusted);
  if (usual !== undefined) return usual;
  const { journalSettings } = await import('../record/record-settings.ts');
  return journalSettings(process.cwd(), process.env, trusted);
}
