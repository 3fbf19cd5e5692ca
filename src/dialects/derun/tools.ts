// The four tools of seed 004 as their callers see them: names, schemas and what they are for. Plain
// data; no schema has a combination at its top, which some clients refuse.

import type { JsonSchema, ToolDefinition } from '../../host/plugin.ts';
import { READ_BYTES_DEFAULT } from '../../limits.ts';
import type { CaptureState } from '../../types.ts';
import { BYTES_MAX, type Encoding } from './output.ts';

export const STATES: readonly CaptureState[] = [
  'starting',
  'running',
  'exited',
  'signaled',
  'failed',
  'expired',
];
export const ENCODINGS: readonly Encoding[] = ['base64', 'text'];

export const LIST_DEFAULT = 50;
export const LIST_MAX = 500;
export const WAIT_MS_DEFAULT = 30_000;
export const WAIT_MS_MAX = 60_000;

const READ_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

const SESSION_ID = {
  type: 'string',
  minLength: 1,
  description: 'A session_id of derun_list_sessions. There is no implicit latest session.',
};

const ENCODING = {
  type: 'string',
  enum: ENCODINGS,
  default: 'base64',
  description:
    'base64: the exact bytes, as data. text: as text, without escape sequences and control ' +
    'characters; a character is never cut in two.',
};

function cursor(words: string): JsonSchema {
  return { type: 'string', pattern: '^(0|[1-9][0-9]{0,19})$', description: words };
}

function parameters(
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[],
): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

export const TOOLS: readonly ToolDefinition[] = [
  {
    name: 'list_sessions',
    title: 'List sessions',
    description:
      'Commands that were run through cuff or derun on this machine, newest first, with their ' +
      'session_id and state. Their output is read with derun_read_output.',
    parameters: parameters(
      {
        state: { type: 'string', enum: STATES, description: 'Only sessions in this state.' },
        limit: {
          type: 'integer',
          minimum: 1,
          default: LIST_DEFAULT,
          description: `How many at most; never more than ${LIST_MAX}.`,
        },
      },
      [],
    ),
    annotations: READ_ONLY,
  },
  {
    name: 'get_session',
    title: 'Get session',
    description:
      'One session in full: lifecycle (state, exit code or signal, times), execution (command, ' +
      'working directory, pid), transport and retention.',
    parameters: parameters({ session_id: SESSION_ID }, ['session_id']),
    annotations: READ_ONLY,
  },
  {
    name: 'read_output',
    title: 'Read output',
    description:
      'What a session has printed, from a cursor on, without waiting. Pass next_cursor to go on. ' +
      'eof: this was all there is for now. final: nothing more can come.',
    parameters: parameters(
      {
        session_id: SESSION_ID,
        cursor: { ...cursor('Byte offset to start at, as a string.'), default: '0' },
        max_bytes: {
          type: 'integer',
          minimum: 1,
          default: READ_BYTES_DEFAULT,
          description: `How many bytes at most; never more than ${BYTES_MAX}.`,
        },
        encoding: ENCODING,
      },
      ['session_id'],
    ),
    annotations: READ_ONLY,
  },
  {
    name: 'wait_output',
    title: 'Wait for output',
    description:
      'Waits for output of a running session behind a cursor and answers as soon as there is ' +
      'some, the session has ended, or the time is over. Pass next_cursor to follow it live.',
    parameters: parameters(
      {
        session_id: SESSION_ID,
        cursor: cursor('The next_cursor of the last answer, or "0".'),
        timeout_ms: {
          type: 'integer',
          minimum: 0,
          default: WAIT_MS_DEFAULT,
          description: `How long to wait at most; never longer than ${WAIT_MS_MAX}.`,
        },
        encoding: ENCODING,
      },
      ['session_id', 'cursor'],
    ),
    annotations: READ_ONLY,
  },
];
