// The commands of `cuff record` as data: what they are called, take and say in their help. The
// recorder plugin declares them with it, the command line registers and parses with it, and the
// help is made from it, so that the three cannot disagree. Plain data: it costs nothing to load.

import { DEED_KINDS } from '../policy/deed-kinds.ts';
import { TRANSCRIPT_AGENTS } from './transcripts/agents.ts';

/** What `review` shows, the most serious first. */
export const REVIEW_KINDS = [...DEED_KINDS, 'failing'] as const;

export type RecordOption = {
  /** As it is typed, with its two dashes. */
  readonly flag: string;
  readonly help: string;
  readonly type: 'text' | 'integer' | 'path' | 'flag';
  readonly default?: string | number;
  readonly choices?: readonly string[];
};

type RecordArgument = {
  readonly name: string;
  readonly help: string;
  /** With this option it may be left out. */
  readonly unless?: string;
};

export type RecordCommand = {
  readonly name: string;
  readonly help: string;
  /** Its line in the help of the group. */
  readonly summary: string;
  readonly arguments: readonly RecordArgument[];
  readonly options: readonly RecordOption[];
  readonly examples: readonly string[];
};

function flag(name: string, help: string): RecordOption {
  return { flag: name, type: 'flag', help };
}

function text(name: string, help: string): RecordOption {
  return { flag: name, type: 'text', help };
}

function path(name: string, help: string): RecordOption {
  return { flag: name, type: 'path', help };
}

/** With what it is when it is not given. */
function count(name: string, otherwise: number, help: string): RecordOption {
  const whole = `${help} (default: ${otherwise})`;
  return { flag: name, type: 'integer', default: otherwise, help: whole };
}

/** One of these, of which the first is the default. */
function choice(name: string, choices: readonly string[], help: string, first?: string) {
  const otherwise = first ?? choices[0] ?? '';
  const whole = `${help}: ${choices.join(', ')} (default: ${otherwise})`;
  return { flag: name, type: 'text', choices, default: otherwise, help: whole } as const;
}

/** One of these, or not given. */
function oneOf(name: string, choices: readonly string[], help: string): RecordOption {
  return { flag: name, type: 'text', choices, help: `${help}: ${choices.join(', ')}` };
}

const DIRECTORY = path(
  '--directory',
  'The journal (default: from settings, else .cuff/recordings here or above)',
);
/** What every command takes. */
const COMMON = [DIRECTORY, flag('--trust', 'The settings of this project count, for this command')];
const JSON_FORMAT = flag('--json', 'Same as --format json');
const JSON_OUTPUT = flag('--json', 'One JSON document');
const RAW = flag('--raw', 'CSV: keep cells that a spreadsheet would take for formulas');

export const LIST: RecordCommand = {
  name: 'list',
  help: 'List recording sessions',
  summary: 'List recording sessions',
  arguments: [],
  options: [
    text('--since', 'Show sessions since date (YYYY-MM-DD or relative like "7d")'),
    count('--limit', 20, 'Maximum sessions to show'),
    choice('--format', ['table', 'json', 'csv'], 'Output format'),
    flag('--verbose', 'Show additional details'),
    RAW,
    JSON_FORMAT,
    ...COMMON,
  ],
  examples: [
    'cuff record list',
    'cuff record list --since 7d --limit 50',
    'cuff record list --format json',
  ],
};

const SHOW: RecordCommand = {
  name: 'show',
  help: 'Show recording session details',
  summary: 'Show details of a recording session',
  arguments: [{ name: 'SESSION_ID', help: 'Session ID or partial match' }],
  options: [
    flag('--entries', 'Show individual command entries'),
    flag('--output', 'Show command output (requires --entries)'),
    choice('--format', ['table', 'json', 'yaml'], 'Output format'),
    JSON_FORMAT,
    ...COMMON,
  ],
  examples: [
    'cuff record show 20260118_143052_a7b3c9d2',
    'cuff record show 143052 --entries',
    'cuff record show 143052 --entries --output',
  ],
};

const STATS: RecordCommand = {
  name: 'stats',
  help: 'Show recording statistics',
  summary: 'Show statistics across recordings',
  arguments: [],
  options: [
    text('--since', 'Analyze sessions since date'),
    choice('--format', ['table', 'json'], 'Output format'),
    JSON_FORMAT,
    ...COMMON,
  ],
  examples: ['cuff record stats', 'cuff record stats --since 30d'],
};

const GENERATE: RecordCommand = {
  name: 'generate',
  help: 'Generate policy rules from recordings',
  summary: 'Generate policy rules from recordings',
  arguments: [],
  options: [
    text('--since', 'Analyze sessions since date'),
    count('--min-frequency', 2, 'Minimum command frequency to include'),
    choice('--format', ['yaml', 'json'], 'Output format'),
    path('--output', 'Write to file instead of stdout'),
    choice('--strategy', ['exact', 'pattern', 'semantic'], 'Generation strategy', 'pattern'),
    JSON_FORMAT,
    ...COMMON,
  ],
  examples: [
    'cuff record generate --since 7d',
    'cuff record generate --strategy exact --output policies.yml',
  ],
};

const CLEAN: RecordCommand = {
  name: 'clean',
  help: 'Clean old recordings',
  summary: 'Clean old recordings based on retention policy',
  arguments: [],
  options: [
    text('--older-than', 'Delete recordings older than (default: from config)'),
    flag('--dry-run', 'Show what would be deleted without deleting'),
    flag('--force', 'Skip confirmation prompt'),
    JSON_OUTPUT,
    ...COMMON,
  ],
  examples: [
    'cuff record clean --dry-run',
    'cuff record clean --older-than 90d',
    'cuff record clean --force',
  ],
};

const EXPORT: RecordCommand = {
  name: 'export',
  help: 'Export recordings',
  summary: 'Export recordings to various formats',
  arguments: [{ name: 'SESSION_ID', help: 'Session ID or "all" for all sessions' }],
  options: [
    choice('--format', ['json', 'csv', 'sqlite', 'jsonl', 'asciicast', 'html'], 'Export format'),
    path('--output', 'Output file path (default: stdout)'),
    text('--since', 'Filter sessions since date (when using "all")'),
    choice('--cast-version', ['2', '3'], 'Version of asciicast'),
    flag('--force', 'Overwrite the output file without asking'),
    RAW,
    JSON_FORMAT,
    ...COMMON,
  ],
  examples: [
    'cuff record export 20260118_143052_a7b3c9d2 --format json',
    'cuff record export all --format sqlite --output recordings.db',
  ],
};

export const SEARCH: RecordCommand = {
  name: 'search',
  help: 'Search commands and their output',
  summary: 'Search commands and their output',
  arguments: [
    { name: 'TEXT', help: 'What to look for; may be left out with --process', unless: '--process' },
  ],
  options: [
    text('--process', 'Only commands inside of which a process ran that has this in its argv'),
    flag('--regex', 'TEXT, and that of --process, is a regular expression'),
    text('--since', 'Only commands since date'),
    text('--exit', 'Only commands with this exit code, or "nonzero"'),
    text('--agent', 'Only commands of this agent'),
    count('--limit', 20, 'Maximum hits'),
    JSON_OUTPUT,
    ...COMMON,
  ],
  examples: [
    'cuff record search "permission denied" --since 7d',
    'cuff record search --regex "rm -rf .*" --exit nonzero',
    'cuff record search --process "git push"',
  ],
};

const REINDEX: RecordCommand = {
  name: 'reindex',
  help: 'Rebuild what is derived from the session files',
  summary: 'Rebuild index and catalog from the session files',
  arguments: [],
  options: [JSON_OUTPUT, ...COMMON],
  examples: ['cuff record reindex'],
};

const FROM = [...TRANSCRIPT_AGENTS, 'all'];
const PROJECT = path('--project', 'Only sessions that worked in this directory, or below it');

const IMPORT: RecordCommand = {
  name: 'import',
  help: 'Import what agents ran from their own transcripts, JSON lines, or an asciicast',
  summary: "Import agents' transcripts, JSON lines or an asciicast",
  arguments: [
    {
      name: 'FILE',
      help: 'JSON lines with at least {"command"}, or an asciicast; not with --from',
      unless: '--from',
    },
  ],
  options: [
    oneOf('--from', FROM, 'Import the transcripts of this agent, where it keeps them'),
    text('--since', 'With --from: only commands since date'),
    { ...PROJECT, help: 'With --from: sessions of this project, into its journal (default: here)' },
    flag('--all-projects', 'With --from: every session, into one journal of the user'),
    flag('--dry-run', 'With --from: show what would be imported, and write nothing'),
    path('--rejects', 'Write lines that cannot be imported to a file'),
    JSON_OUTPUT,
    ...COMMON,
  ],
  examples: [
    'cuff record import --from all --since 90d',
    'cuff record import history.jsonl',
    'cuff record import demo.cast',
  ],
};

const REVIEW: RecordCommand = {
  name: 'review',
  help: 'Show what agents did that deserves a look; writes nothing',
  summary: 'Show what agents did that deserves a look',
  arguments: [],
  options: [
    oneOf('--from', FROM, 'Review the transcripts of this agent instead of the journal'),
    { ...text('--since', 'Only commands since date (default: 90d)'), default: '90d' },
    PROJECT,
    oneOf('--only', REVIEW_KINDS, 'Show all findings of one kind'),
    count('--limit', 50, 'With --only: maximum findings to show'),
    JSON_OUTPUT,
    ...COMMON,
  ],
  examples: ['cuff record review --from all', 'cuff record review --from claude --only deleted'],
};

const LEAKS: RecordCommand = {
  name: 'leaks',
  help: 'Find secrets in recorded commands and their output, without showing them; exit 1 if any',
  summary: 'Find secrets in commands and their output',
  arguments: [],
  options: [text('--since', 'Only commands since date'), JSON_OUTPUT, ...COMMON],
  examples: ['cuff record leaks --since 30d', 'cuff record leaks --json'],
};

/** Those that seed 000 names come first, in its order. */
export const RECORD_COMMANDS: readonly RecordCommand[] = [
  LIST,
  SHOW,
  STATS,
  GENERATE,
  CLEAN,
  EXPORT,
  SEARCH,
  REINDEX,
  IMPORT,
  REVIEW,
  LEAKS,
];

/** What `cuff record --help` prints. */
export function groupHelp(): string {
  const lines = RECORD_COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`);
  return `Usage: cuff record <subcommand>

Subcommands:
${lines.join('\n')}

Help for one of them: cuff record <subcommand> --help
`;
}

const PLACES = { text: ' TEXT', integer: ' INTEGER', path: ' FILE', flag: '' } as const;

/** What `cuff record <subcommand> --help` prints. */
export function commandHelp(command: RecordCommand): string {
  const names = command.arguments.map(({ name }) => ` ${name}`).join('');
  const options = command.options.map((option) => [placed(option), option.help] as const);
  const blocks = [
    `Usage: cuff record ${command.name} [OPTIONS]${names}`,
    command.help,
    ...section(
      'Arguments',
      command.arguments.map(({ name, help }) => [name, help] as const),
    ),
    ...section('Options', [...options, ['--help', 'Show this text']]),
    `Examples:\n${command.examples.map((line) => `  ${line}`).join('\n')}`,
  ];
  return `${blocks.join('\n\n')}\n`;
}

function placed({ flag, type }: RecordOption): string {
  return flag === DIRECTORY.flag ? `${flag} DIR` : `${flag}${PLACES[type]}`;
}

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([name]) => name.length)) + 3;
  return [`${title}:\n${rows.map(([name, help]) => `  ${name.padEnd(width)}${help}`).join('\n')}`];
}
