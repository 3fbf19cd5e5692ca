// The commands of `cuff record` as data: what they are called, take and say in their help. The
// recorder plugin declares them with it, the command line registers and parses with it, and the
// help is made from it, so that the three cannot disagree. Plain data: it costs nothing to load.

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

const DIRECTORY: RecordOption = {
  flag: '--directory',
  type: 'path',
  help: 'The journal (default: from settings, else .cuff/recordings here or above)',
};

const TRUST: RecordOption = {
  flag: '--trust',
  type: 'flag',
  help: 'The settings of this project count, for this command',
};

const JSON_FORMAT: RecordOption = { flag: '--json', type: 'flag', help: 'Same as --format json' };
const RAW: RecordOption = {
  flag: '--raw',
  type: 'flag',
  help: 'CSV: keep cells that a spreadsheet would take for formulas',
};
const JSON_OUTPUT: RecordOption = { flag: '--json', type: 'flag', help: 'One JSON document' };

function since(help: string): RecordOption {
  return { flag: '--since', type: 'text', help };
}

function format(choices: readonly string[], first: string, verb = 'Output'): RecordOption {
  const help = `${verb} format: ${choices.join(', ')} (default: ${first})`;
  return { flag: '--format', type: 'text', choices, default: first, help };
}

const LIST: RecordCommand = {
  name: 'list',
  help: 'List recording sessions',
  summary: 'List recording sessions',
  arguments: [],
  options: [
    since('Show sessions since date (YYYY-MM-DD or relative like "7d")'),
    {
      flag: '--limit',
      type: 'integer',
      default: 20,
      help: 'Maximum sessions to show (default: 20)',
    },
    format(['table', 'json', 'csv'], 'table'),
    { flag: '--verbose', type: 'flag', help: 'Show additional details' },
    RAW,
    JSON_FORMAT,
    DIRECTORY,
    TRUST,
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
    { flag: '--entries', type: 'flag', help: 'Show individual command entries' },
    { flag: '--output', type: 'flag', help: 'Show command output (requires --entries)' },
    format(['table', 'json', 'yaml'], 'table'),
    JSON_FORMAT,
    DIRECTORY,
    TRUST,
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
    since('Analyze sessions since date'),
    format(['table', 'json'], 'table'),
    JSON_FORMAT,
    DIRECTORY,
    TRUST,
  ],
  examples: ['cuff record stats', 'cuff record stats --since 30d'],
};

const GENERATE: RecordCommand = {
  name: 'generate',
  help: 'Generate policy rules from recordings',
  summary: 'Generate policy rules from recordings',
  arguments: [],
  options: [
    since('Analyze sessions since date'),
    {
      flag: '--min-frequency',
      type: 'integer',
      default: 2,
      help: 'Minimum command frequency to include (default: 2)',
    },
    format(['yaml', 'json'], 'yaml'),
    { flag: '--output', type: 'path', help: 'Write to file instead of stdout' },
    {
      flag: '--strategy',
      type: 'text',
      choices: ['exact', 'pattern', 'semantic'],
      default: 'pattern',
      help: 'Generation strategy: exact, pattern, semantic (default: pattern)',
    },
    JSON_FORMAT,
    DIRECTORY,
    TRUST,
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
    {
      flag: '--older-than',
      type: 'text',
      help: 'Delete recordings older than (default: from config)',
    },
    {
      flag: '--dry-run',
      type: 'flag',
      help: 'Show what would be deleted without deleting',
    },
    { flag: '--force', type: 'flag', help: 'Skip confirmation prompt' },
    JSON_OUTPUT,
    DIRECTORY,
    TRUST,
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
    format(['json', 'csv', 'sqlite', 'jsonl', 'asciicast', 'html'], 'json', 'Export'),
    { flag: '--output', type: 'path', help: 'Output file path (default: stdout)' },
    since('Filter sessions since date (when using "all")'),
    {
      flag: '--cast-version',
      type: 'text',
      choices: ['2', '3'],
      default: '2',
      help: 'Version of asciicast: 2, 3 (default: 2)',
    },
    { flag: '--force', type: 'flag', help: 'Overwrite the output file without asking' },
    RAW,
    JSON_FORMAT,
    DIRECTORY,
    TRUST,
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
    {
      flag: '--process',
      type: 'text',
      help: 'Only commands inside of which a process ran that has this in its argv',
    },
    { flag: '--regex', type: 'flag', help: 'TEXT, and that of --process, is a regular expression' },
    since('Only commands since date'),
    {
      flag: '--exit',
      type: 'text',
      help: 'Only commands with this exit code, or "nonzero"',
    },
    { flag: '--agent', type: 'text', help: 'Only commands of this agent' },
    { flag: '--limit', type: 'integer', default: 20, help: 'Maximum hits (default: 20)' },
    JSON_OUTPUT,
    DIRECTORY,
    TRUST,
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
  options: [JSON_OUTPUT, DIRECTORY, TRUST],
  examples: ['cuff record reindex'],
};

const IMPORT: RecordCommand = {
  name: 'import',
  help: 'Import commands from JSON lines, or a terminal session from an asciicast',
  summary: 'Import JSON lines or an asciicast',
  arguments: [{ name: 'FILE', help: 'JSON lines with at least {"command"}, or an asciicast' }],
  options: [
    { flag: '--rejects', type: 'path', help: 'Write lines that cannot be imported to a file' },
    JSON_OUTPUT,
    DIRECTORY,
    TRUST,
  ],
  examples: ['cuff record import history.jsonl', 'cuff record import demo.cast'],
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
];

export { LIST };

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
