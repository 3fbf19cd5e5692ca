// `cuff policy`: its subcommands as data for their parser. What each does is in the file of its
// name and loaded only when it is asked for.

import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { PRESETS, type Preset } from '../../policies/init/presets.ts';
import { type JournalLocation, locatedByName, usualJournal } from '../../recordings/directory.ts';
import { parseSince } from '../../text/dates.ts';
import { examples, JSON_DOCUMENT } from '../help.ts';
import { policyTrouble } from './trouble.ts';

export function addPolicyCommands(program: Command): void {
  const policy = program
    .command('policy')
    .description('what agents may run: make, check, test, compare, approve, revoke, export rules')
    .usage('<subcommand>')
    .helpCommand('help [subcommand]', 'what a subcommand does');
  addInit(policy);
  addCheck(policy);
  addLint(policy);
  addTest(policy);
  addDiff(policy);
  addApprove(policy);
  addChanges(policy);
  addGrants(policy);
  addExport(policy);
  for (const command of policy.commands) {
    command
      .showHelpAfterError(`Try \`cuff policy help ${command.name()}\`.`)
      .helpOption('-h, --help', 'this text');
  }
}

const AGENT = 'as if this agent asked, like claude-code, with a proven name';
const POLICY = 'a policy.yml; without it the files that apply here';
const TRUST_POLICY = 'the policy of this project counts, for this command';
const TRUST_SETTINGS = 'the settings of this project count, for this command';

function addInit(policy: Command): void {
  const preset = new Option('--preset <preset>', 'how much it allows').choices(PRESETS);
  policy
    .command('init')
    .description('write a first policy for this project: shown, tried, and written after a yes')
    .addOption(preset.default('dev'))
    .option('--from-history', "try it on agents' own transcripts, not on the journal")
    .addOption(new Option('--since <date>', SINCE).argParser(since).default(since('90d'), '90d'))
    .option('--directory <dir>', DIRECTORY)
    .option('--yes', 'write it without asking; never over a policy that is there')
    .option('--trust', TRUST_SETTINGS)
    .addHelpText('after', INIT_HELP)
    .action(async (flags: InitFlags) => {
      const { initPolicy } = await import('./init.ts');
      const { directory } = flags.fromHistory === true ? {} : await journalOf(flags);
      const { preset, fromHistory = false, yes = false } = flags;
      const { at, text } = flags.since;
      await initPolicy({ preset, fromHistory, yes, directory, since: at, sinceText: text });
    });
}

type InitFlags = HistoryFlags & {
  readonly preset: Preset;
  readonly fromHistory?: boolean;
  readonly since: Since;
  readonly yes?: boolean;
};

const INIT_HELP = `
Presets:
  dev        reading, building, testing, local commits, files of the project; the rest asks
  read-only  reading; whatever writes asks
  ci         reading, locked installs, builds and tests; the rest is refused

Exit 0: written, 1: you said no, 2: no terminal to ask at and no --yes, so nothing was written.
${examples('cuff policy init --from-history', 'cuff policy init --preset ci --yes')}`;

function addCheck(policy: Command): void {
  policy
    .command('check')
    .description('whether a command may run, and why: exit 0 allow, 1 deny, 3 ask')
    .addArgument(new Argument('[command]', 'its whole text as one argument, in quotes'))
    .option('--policy <file>', POLICY)
    .option('--cwd <dir>', 'where it would run (default: here)')
    .option('--project <dir>', 'the project (default: found by the directory)')
    .option('--agent <name>', AGENT)
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
  readonly agent?: string;
};

function addTest(policy: Command): void {
  policy
    .command('test')
    .description('what a policy would have said about everything in the journal')
    .addArgument(new Argument('<policy>', 'a policy.yml'))
    .addOption(new Option('--since <date>', SINCE).argParser(since))
    .option('--directory <dir>', DIRECTORY)
    .option('--agent <name>', AGENT)
    .option('--json', JSON_DOCUMENT)
    .option('--trust', TRUST_SETTINGS)
    .addHelpText('after', examples('cuff policy test policy.yml --since 30d'))
    .action(async (file: string, flags: HistoryFlags) => {
      const { policyTest } = await import('./test.ts');
      const journal = await journalOf(flags);
      const { at, text } = flags.since ?? {};
      await policyTrouble(() =>
        policyTest({ ...journal, file, since: at, sinceText: text, agent: flags.agent }),
      );
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
    .option('--agent <name>', AGENT)
    .option('--json', JSON_DOCUMENT)
    .option('--trust', TRUST_SETTINGS)
    .addHelpText('after', examples('cuff policy diff old.yml new.yml'))
    .action(async (before: string, after: string, flags: HistoryFlags) => {
      const { policyDiff } = await import('./diff.ts');
      const journal = await journalOf(flags);
      const { since: from, agent } = flags;
      await policyTrouble(() => policyDiff({ ...journal, before, after, since: from?.at, agent }));
    });
}

function addApprove(policy: Command): void {
  policy
    .command('approve')
    .description('list the refused commands that you may allow; with an id, allow that one once')
    .addArgument(new Argument('[id]', 'the id that the refusal names'))
    .option('--hour', 'for an hour, exactly this under the same policy')
    .option('--conversation', 'the same until the conversation that asked is over')
    .option('--always', 'as a rule of the project, for exactly this command')
    .option('--pattern [pattern]', 'as a rule for what it covers; without one cuff proposes it')
    .option('--user', 'as a rule of yours, for all projects')
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff policy approve', 'cuff policy approve 3fk2m7qa --always'))
    .action(async (id, flags) => (await import('./approve.ts')).approvePolicy(id, flags));
}

function addChanges(policy: Command): void {
  policy
    .command('changes')
    .description(
      'protected files that changed in the sandbox: until you accept, nothing runs there',
    )
    .option('--accept', 'you have looked at all that is listed: commands may run again')
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff policy changes', 'cuff policy changes --accept'))
    .action(async (flags) => (await import('./changes.ts')).protectedChanges(flags));
}

function addGrants(policy: Command): void {
  policy
    .command('approvals')
    .description('what a person has approved and still holds: once, for an hour, a conversation')
    .option('--json', JSON_DOCUMENT)
    .action(async (flags) => (await import('./grants.ts')).listGrants(flags));
  policy
    .command('revoke')
    .description('take approvals back; rules are edited in the policy')
    .addArgument(new Argument('[id...]', 'ids of `cuff policy approvals`'))
    .option('--all', 'all of them')
    .addHelpText('after', examples('cuff policy revoke 3fk2m7qa', 'cuff policy revoke --all'))
    .action(async (ids, flags) => (await import('./grants.ts')).revokeGrants(ids, flags));
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
