// The commands of `cuff` as data for their parser: names, flags, help and examples. What a command
// does is in the file of its name and loaded only when it is asked for. Wrong calls exit 2.

import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { ENTRY_PARTS, type EntryPart, partsNamed } from '../ledger/commitments.ts';
import { AGENT_IDS } from '../text/agents.ts';
import type { CaptureState } from '../types.ts';
import { count, countOrNone, duration } from './arguments.ts';
import { examples, JSON_DOCUMENT } from './help.ts';
import { addIdentityCommand } from './identity.ts';
import { addInitCommand } from './init/init.ts';
import { addMcpCommand } from './mcp.ts';
import type { ReadyFront } from './mcp-front.ts';
import { addPlayCommand } from './play/index.ts';
import { addPolicyCommands } from './policy/index.ts';
import { addRecordCommands } from './record/index.ts';
import { safeWords } from './safe-words.ts';
import { addSealCommands } from './seal/index.ts';
import { addStatusCommand } from './status.ts';
import { addTraceCommand } from './trace/index.ts';
import { addTrustCommand } from './trust.ts';
import { addUiCommand } from './ui.ts';

const STATES: readonly CaptureState[] = [
  'starting',
  'running',
  'exited',
  'signaled',
  'failed',
  'expired',
];

const ID = 'an id of `cuff ls`, or any part of it that no other id has';

export async function cuff(args: readonly string[], front?: ReadyFront): Promise<void> {
  const top = new Command('cuff')
    .description('A shell that remembers: captures every byte, journals what agents do.')
    .version(packageJson.version)
    .exitOverride()
    .enablePositionalOptions()
    .showHelpAfterError('Try `cuff help`.')
    .helpCommand('help [command]', 'what a command does')
    .configureOutput({
      outputError: (words, write) => write(safeWords(words.replace(/^error: /, 'cuff: '))),
    });
  addRun(top);
  addShell(top);
  addReading(top);
  addPlayCommand(top, ID);
  addTraceCommand(top, ID);
  addLiving(top);
  addKeeping(top);
  addIdentityCommand(top);
  addInitCommand(top);
  addTrustCommand(top);
  addMcpCommand(top, front);
  addHook(top);
  addRecordCommands(top);
  addPolicyCommands(top);
  addStatusCommand(top);
  addUiCommand(top);
  addSealCommands(top);
  addEvidence(top);
  addRedact(top);
  addOthers(top);
  for (const command of top.commands) {
    command
      .copyInheritedSettings(top)
      .showHelpAfterError(`Try \`cuff help ${command.name()}\`.`)
      .helpOption('-h, --help', 'this text');
  }
  if (args.length === 0) return (await import('./first-screen.ts')).firstScreen();
  try {
    await top.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // It has printed its message; its exit codes are not ours.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  }
}

function addShell(top: Command): void {
  // Only for the help: `sh` itself never comes here.
  top
    .command('sh')
    .description('a shell that records what agents run in it; its words are those of bash')
    .usage('[--as bash|zsh] [words of the shell...]')
    .option('--as <shell>', 'bash (default) or zsh')
    .addHelpText('after', examples("cuff sh -c 'npm test'"));
  top
    .command('exec')
    .description('start an agent whose commands are recorded, without a word in its configuration')
    .usage('<agent> [args...]')
    .argument(
      '<agent>',
      'claude, codex, gemini, qwen, opencode, pi, goose or aider; or a path to it',
    )
    .argument('[args...]', 'for the agent')
    .passThroughOptions()
    .allowUnknownOption()
    .addHelpText(
      'after',
      examples('cuff exec aider --model m', 'cuff exec gemini -p "run the tests"'),
    )
    .action(async (agent, args) => (await import('./exec.ts')).exec(agent, args));
}

/** Only for the help: `run` itself never comes here. */
function addRun(top: Command): void {
  top
    .command('run')
    .description('run a command as if cuff were not there, and capture it')
    .usage('[options] -- <command> [args...]')
    .option('--session-id <id>', 'the id of the capture, which must be new')
    .option('--retention <duration>', 'how long the capture is kept (default: 24h)')
    .option('--tty, --no-tty', 'a terminal, or none (default: as stdout is)')
    .option('--trace, --no-trace', 'record every process inside the run, or none (default: none)')
    .option('--kill-after <duration>', 'end the command after this time, with exit code 124')
    .option('--cwd <dir>', 'where the command runs')
    .option('--env <NAME=VALUE>', 'set a variable; may be given more than once')
    .option('--strict', 'refuse to start, or end, what cannot be recorded')
    .option('--journal', 'write an entry in the journal of the project, before this ends')
    .option('--agent <name>', 'the agent whose command it is, for the entry')
    .option('--session <id>', 'the session or conversation of the agent, for the entry')
    .option('--tool-call <id>', 'the call of the agent, for the entry')
    .option('--description <text>', 'what the command is for, for the entry')
    .addHelpText('after', examples('cuff run -- npm test', 'cuff run --kill-after 10m -- make'));
}

function addReading(top: Command): void {
  top
    .command('ls')
    .description('captures, newest first')
    .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
    .addOption(new Option('--limit <n>', 'at most so many').argParser(count).default(20))
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff ls --state running', 'cuff ls --limit 100 --json'))
    .action(async (options) => (await import('./ls.ts')).ls(options));
  top
    .command('tail')
    .description('the last lines of a capture, as they were printed')
    .addArgument(new Argument('<id>', ID))
    .addOption(new Option('-n, --lines <n>', 'how many').argParser(countOrNone).default(10))
    .option('-f, --follow', 'go on until nothing more can come')
    .option('--json', JSON_CHUNKS)
    .addHelpText('after', examples('cuff tail 1a2b', 'cuff tail -f -n 100 1a2b'))
    .action(async (id, options) => (await import('./tail.ts')).tail(id, options));
  top
    .command('cat')
    .description('everything a capture has, byte for byte')
    .addArgument(new Argument('<id>', ID))
    .addOption(new Option('--stdout', 'only what went to stdout').conflicts('stderr'))
    .option('--stderr', 'only what went to stderr')
    .option('--json', JSON_CHUNKS)
    .addHelpText('after', examples('cuff cat 1a2b', 'cuff cat --stderr 1a2b | less'))
    .action(async (id, options) => (await import('./cat.ts')).cat(id, options));
}

function addLiving(top: Command): void {
  top
    .command('ps')
    .description('live runs, their processes, and which of them can still write output')
    .option('--session <id>', 'only what an agent started in this session of its own')
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff ps', 'cuff ps --session 7f3c'))
    .action(async (options) => (await import('./ps.ts')).ps(options));
  top
    .command('kill')
    .description('end every process of a run: TERM, a grace, then KILL')
    .addArgument(new Argument('<id>', ID))
    .option('--signal <signal>', 'send only this signal, and no KILL after it')
    .addOption(new Option('--grace <duration>', 'time until KILL (default: 2s)').argParser(grace))
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff kill 1a2b', 'cuff kill 1a2b --signal HUP'))
    .action(async (id, options) => (await import('./kill.ts')).kill(id, options));
}

function addKeeping(top: Command): void {
  top
    .command('pin')
    .description('keep a capture, whatever its age')
    .addArgument(new Argument('<id>', ID))
    .option('--off', 'remove it again when its retention is over')
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff pin 1a2b', 'cuff pin --off 1a2b'))
    .action(async (id, options) => (await import('./pin.ts')).pin(id, options));
  top
    .command('sweep')
    .description('remove captures whose retention is over, seal and pack those that stay')
    .option('--dry-run', 'only say which')
    .option('--json', 'one line of JSON for every capture looked at')
    .addHelpText('after', examples('cuff sweep --dry-run'))
    .action(async (options) => (await import('./sweep.ts')).sweep(options));
}

/** Only for the help: `hook` itself never comes here. */
function addHook(top: Command): void {
  const modes = ['enforce', 'record'];
  top
    .command('hook')
    .description("answer an agent's hook: one JSON document in, one or nothing out")
    .addOption(
      new Option('--agent <name>', 'who calls, where the document leaves it open').choices(
        AGENT_IDS,
      ),
    )
    .addOption(
      new Option('--mode <mode>', 'record: refuse nothing').choices(modes).default('enforce'),
    )
    .option('--rewrite', "start commands in cuff's own shell, which bypasses the client's rules")
    .addHelpText('after', examples('cuff hook < event.json', 'cuff hook --mode record'));
}

function addEvidence(top: Command): void {
  top
    .command('verify')
    .description('whether the record is what was sealed, and how far that reaches')
    .argument('[what]', 'a session, an entry, or the file of a proof (default: this project)')
    .addOption(new Option('--all', 'every journal that the ledger knows'))
    .option('--vkey <key>', 'the public key of the ledger, or a file that has it')
    .option('--at <code|file>', 'a code or a checkpoint that you kept: the ledger must contain it')
    .option('--policy <file>', 'which witnesses must have seen it (C2SP tlog-policy)')
    .addOption(
      new Option('--require-anchor <duration>', 'exit 1 if the anchor is older').argParser(
        duration,
      ),
    )
    .option('--deep', 'hash the captures, too')
    .option('--json', JSON_DOCUMENT)
    .addHelpText(
      'after',
      examples(
        'cuff verify',
        'cuff verify --all --deep --require-anchor 1h',
        "cuff verify --at 'CUFF 1190 7KQ2-M3XA-4B-...'",
        'cuff verify test.proof --vkey ledger.vkey',
      ),
    )
    .action(async (what, options) => (await import('./verify.ts')).verify(what, options));
  top
    .command('prove')
    .description('the proof of one command, for others to verify offline')
    .argument(
      '[entry]',
      'the id of an entry, or SESSION#N; of any journal of yours on this machine',
    )
    .addOption(
      new Option(
        '--show <parts>',
        `what it shows, of ${ENTRY_PARTS.join(', ')} (default: facts)`,
      ).argParser(parts),
    )
    .addOption(
      new Option('--format <format>', 'in-toto: attestations in DSSE envelopes, a line for each')
        .choices(['cuff', 'in-toto'])
        .default('cuff'),
    )
    .option('--output <file>', 'write to a new file (default: stdout)')
    .option('--verifier', 'print a program for plain Python 3 that verifies such a proof')
    .addHelpText(
      'after',
      examples(
        'cuff prove e_20260118_143052_001-e4f5 --show facts,text --output test.proof',
        'cuff prove 20260118_143052_a7b3c9d2#1 --format in-toto',
        'cuff prove --verifier > verify.py; python3 verify.py test.proof ledger.vkey',
      ),
    )
    .action(async (id, options) => (await import('./prove.ts')).prove(id, options));
}

function addRedact(top: Command): void {
  top
    .command('redact')
    .description(
      'take something out of the record for good, with a leaf in the ledger that says so',
    )
    .argument('[session]', 'an id of `cuff record list`, or a part of it')
    .argument('[number]', 'of the entry in it')
    .addOption(new Option('--parts <parts>', 'of the entry: text,stdout,stderr,capture'))
    .addOption(
      new Option(
        '--secret <value>',
        'instead of an entry: this value, wherever it was recorded; - asks for it, or reads stdin',
      ).conflicts('parts'),
    )
    .option('--why <text>', 'for the ledger, where it stays readable')
    .option('--yes', 'do not ask')
    .option('--json', JSON_DOCUMENT)
    .addHelpText(
      'after',
      examples(
        "cuff redact 143052 3 --parts stdout,capture --why 'customer data'",
        'cuff redact --secret -',
        'pass show old-token | cuff redact --secret - --yes',
      ),
    )
    .action(async (session, number, options) =>
      (await import('./redact.ts')).redact(session, number, options),
    );
}

function addOthers(top: Command): void {
  top
    .command('doctor')
    .description('what this machine can do for a run, and how to get what is missing')
    .option('--agents', 'whether cuff works with each agent: its hook is tried')
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff doctor', 'cuff doctor --agents'))
    .action(async (options) => (await import('./doctor.ts')).doctor(options));
  top
    .command('demo')
    .description('a short tour that leaves nothing behind')
    .action(async () => (await import('./demo.ts')).demo());
}

const JSON_CHUNKS =
  'one line of JSON for every chunk: offset, length, channel, timestamp, data (base64)';

function parts(text: string): readonly EntryPart[] {
  const named = partsNamed(text);
  if (named !== undefined) return named;
  throw new InvalidArgumentError(`It must be of ${ENTRY_PARTS.join(', ')}, with commas between.`);
}

const GRACE_MS_MAX = 3_600_000; // what the runner takes

function grace(text: string): number {
  const ms = duration(text);
  if (ms > GRACE_MS_MAX) throw new InvalidArgumentError('An hour is the most.');
  return ms;
}
