// The tools of `cuff_shell` as a model gets them: names, arguments, limits. Descriptions say what a
// model must know to use them well and no more, because it reads them with every conversation.

import type { JsonSchema, ToolDefinition } from '../../host/plugin.ts';

export const WAIT_MS_DEFAULT = 30_000; // below the patience of all clients we know
export const WAIT_MS_MAX = 600_000;
const KILL_AFTER_MS_MAX = 86_400_000; // a day, which is as long as output is kept
export const BYTES_DEFAULT = 10_000; // some 3,000 tokens; what is left out is named
export const BYTES_MAX = 1_000_000; // a message of 10 MiB ends some connections
export const PAGE_BYTES_MIN = 100; // so that every page has something
export const STDIN_BYTES_MAX = 1_000_000;
export const INPUT_BYTES_MAX = 65_536; // what a policy reads as one text
export const WRITE_WAIT_MS_DEFAULT = 2_000; // a program that takes longer is waited for
export const LIMIT_DEFAULT = 50;
export const LIMIT_MAX = 1_000;
export const LIST_MAX = 50;
export const CONTEXT_DEFAULT = 0;
const CONTEXT_MAX = 20;

export const VIEWS = ['auto', 'tail', 'head', 'middle', 'full', 'none', 'grep'] as const;
const SIGNALS = ['TERM', 'INT', 'HUP', 'QUIT', 'KILL'] as const;

type Defaults = { readonly wait_ms: number; readonly max_bytes: number };

type Properties = Readonly<Record<string, JsonSchema>>;

/** `brief`: what the policy says before anything is asked, if there is one. */
export function nativeTools(defaults: Defaults, brief = ''): readonly ToolDefinition[] {
  return [
    run(defaults, brief),
    read(defaults),
    wait(defaults),
    write(defaults),
    KILL,
    LIST,
    SEARCH,
  ];
}

function tool(
  name: string,
  description: string,
  properties: Properties,
  required: readonly string[],
  annotations: ToolDefinition['annotations'] = { readOnlyHint: true },
): ToolDefinition {
  const parameters = { type: 'object', properties, required, additionalProperties: false };
  return { name, plain: true, description, parameters, annotations };
}

const ID = { type: 'string', description: 'the id of a run, as answers name it' };

function waitMs(fallback: number): JsonSchema {
  const description = `how long to wait for the answer, in ms (default ${fallback}); never kills`;
  return { type: 'integer', minimum: 0, maximum: WAIT_MS_MAX, description };
}

function maxBytes(fallback: number): JsonSchema {
  const description = `most bytes of output in the answer (default ${fallback})`;
  return { type: 'integer', minimum: 0, maximum: BYTES_MAX, description };
}

const STREAM = {
  type: 'string',
  enum: ['stdout', 'stderr'],
  description: 'default stdout, or stderr if only that has output',
};

const REGEX = { type: 'boolean', description: 'take it as a JavaScript regular expression' };

const IGNORE_CASE = { type: 'boolean', description: 'upper and lower case are the same' };

const RUN_DESCRIPTION = [
  'Run a bash command. Each call is a new shell: cd and variables do not carry over.',
  'Answers when the shell is done, or after wait_ms: then the command goes on and is not killed;',
  'go on with shell_wait, shell_read or shell_kill. wait_ms 0 starts it in the background.',
  'Only kill_after_ms kills. stdin is empty unless given.',
  'The answer is the output (stdout, then [stderr]) and a line like',
  '[exit 0, 1.2 s; 12 lines, 300 bytes]. All output is kept: read more with shell_read or find it',
  'with shell_search instead of running again or piping into head, tail or grep.',
].join(' ');

const VIEW_DESCRIPTION =
  'which part of long output to show. auto: both ends, similar lines folded; ' +
  'middle: both ends; grep: only lines with pattern; none: nothing';

const READ_DESCRIPTION =
  'Read any part of the output of a run, also of one that is over. ' +
  'From the first line on unless from_line, from_byte, tail or grep is given.';

const WAIT_DESCRIPTION =
  'Wait until a run is over (also its background processes), or until its new output has a text. ' +
  'Gives only output that is new since the last answer about that run.';

function run(defaults: Defaults, brief: string): ToolDefinition {
  return tool(
    'shell_run',
    brief === '' ? RUN_DESCRIPTION : `${RUN_DESCRIPTION}\n${brief}`,
    {
      command: { type: 'string', description: 'the text for bash' },
      cwd: { type: 'string', description: 'working directory, absolute or below the default one' },
      env: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'variables to set in addition',
      },
      wait_ms: waitMs(defaults.wait_ms),
      kill_after_ms: {
        type: 'integer',
        minimum: 1,
        maximum: KILL_AFTER_MS_MAX,
        description: 'hard deadline in ms: the command and all its processes are killed',
      },
      view: {
        type: 'string',
        enum: VIEWS,
        description: VIEW_DESCRIPTION,
      },
      pattern: { type: 'string', description: 'with view grep: a regular expression' },
      max_bytes: maxBytes(defaults.max_bytes),
      combined: {
        type: 'boolean',
        description: 'stdout and stderr as one stream, in true order',
      },
      tty: {
        type: 'boolean',
        description: 'give it a terminal (120x40); type into it with shell_write',
      },
      stdin: { type: 'string', description: 'text for its stdin, then end of file' },
      description: {
        type: 'string',
        description: 'what it is for, in a few words, for the record',
      },
      compare: {
        type: 'string',
        enum: ['previous'],
        description: 'show a diff against the output of the last run of the same command',
      },
    },
    ['command'],
    { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  );
}

function read(defaults: Defaults): ToolDefinition {
  return tool(
    'shell_read',
    READ_DESCRIPTION,
    {
      id: ID,
      from_line: { type: 'integer', minimum: 1, description: 'first line, from 1' },
      lines: { type: 'integer', minimum: 1, description: 'most lines' },
      from_byte: {
        type: 'integer',
        minimum: 0,
        description: 'first byte, from 0; binary output is shown as hex',
      },
      tail: { type: 'integer', minimum: 1, description: 'the last lines, this many' },
      grep: { type: 'string', description: 'only lines with this text, with their numbers' },
      regex: { ...REGEX, description: 'grep is a JavaScript regular expression' },
      stream: STREAM,
      max_bytes: { ...maxBytes(defaults.max_bytes), minimum: PAGE_BYTES_MIN },
    },
    ['id'],
  );
}

function wait(defaults: Defaults): ToolDefinition {
  return tool(
    'shell_wait',
    WAIT_DESCRIPTION,
    {
      id: ID,
      wait_ms: waitMs(defaults.wait_ms),
      for: { type: 'string', description: 'answer as soon as a line of new output has this text' },
      regex: { ...REGEX, description: 'for is a JavaScript regular expression' },
      max_bytes: maxBytes(defaults.max_bytes),
    },
    ['id'],
  );
}

function write(defaults: Defaults): ToolDefinition {
  return tool(
    'shell_write',
    'Type into a run that was started with tty, and get the output that is new.',
    {
      id: ID,
      text: { type: 'string', description: 'what to type; \\n is Enter, \\u0003 Ctrl-C' },
      wait_ms: waitMs(WRITE_WAIT_MS_DEFAULT),
      max_bytes: maxBytes(defaults.max_bytes),
    },
    ['id', 'text'],
    { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  );
}

const KILL = tool(
  'shell_kill',
  'End every process of a run, background ones included: the signal, then KILL after 2 s.',
  {
    id: ID,
    signal: { type: 'string', enum: SIGNALS, description: 'the first signal (default TERM)' },
  },
  ['id'],
  { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
);

const LIST = tool(
  'shell_list',
  'List runs of this conversation that are running or left processes behind, newest first.',
  { all: { type: 'boolean', description: 'those that are over, too' } },
  [],
);

const SEARCH = tool(
  'shell_search',
  'Find lines in the output of the runs of this conversation, newest run first.',
  {
    pattern: { type: 'string', description: 'the text to find' },
    regex: REGEX,
    ignore_case: IGNORE_CASE,
    id: { ...ID, description: 'only in this run' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: LIMIT_MAX,
      description: `most matches (default ${LIMIT_DEFAULT})`,
    },
    context: {
      type: 'integer',
      minimum: 0,
      maximum: CONTEXT_MAX,
      description: 'lines to show around each match (default 0)',
    },
  },
  ['pattern'],
);
