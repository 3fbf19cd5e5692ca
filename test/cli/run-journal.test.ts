// `cuff run --journal`: an entry for any run, written before the run is reported as over.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { recorderSettings } from '../../src/dialects/bash_recorder/config.ts';
import { DEFAULT_RECORDING } from '../../src/recorder/settings.ts';
import type { Entry } from '../../src/types.ts';
import { Cli } from './helper.ts';

const cli = new Cli();
const base = mkdtempSync(join(tmpdir(), 'cuff-journal-'));
afterAll(async () => {
  await cli.close();
  rmSync(base, { recursive: true, force: true });
});

let made = 0;
function project(): string {
  made += 1;
  const folder = join(base, `p${made}`);
  mkdirSync(folder);
  return folder;
}

function entriesIn(folder: string): Entry[] {
  const sessions = join(folder, '.cuff', 'recordings', 'sessions');
  const files = readdirSync(sessions).filter((name) => /^[^.]+\.jsonl$/.test(name));
  const lines = files.flatMap((name) => readFileSync(join(sessions, name), 'utf8').split('\n'));
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
}

const CALL = ['--agent', 'robot', '--session', 's1', '--tool-call', 't1', '--journal'];

test('an entry has the agent, session and call, the command, output and exit', async () => {
  const cwd = project();
  const words = ['run', ...CALL, '--description', 'try it', '--cwd', cwd, '--'];
  const ended = await cli.cuff(...words, 'sh', '-c', 'echo out; echo err >&2; exit 3');
  expect(ended).toMatchObject({ code: 3, out: 'out\n', err: 'err\n' });
  expect(entriesIn(cwd)).toMatchObject([
    {
      agent_id: 'robot',
      conversation_id: 's1',
      tool_call_id: 't1',
      context_source: 'self-reported',
      description: 'try it',
      command: "sh -c 'echo out; echo err >&2; exit 3'",
      working_directory: cwd,
      stdout: 'out\n',
      stderr: 'err\n',
      exit_code: 3,
      end_reason: 'itself',
    },
  ]);
});

test('calls of one session share it; a signal and a deadline are told as they were', async () => {
  const cwd = project();
  const run = (...more: string[]) => cli.cuff('run', ...CALL, '--cwd', cwd, ...more);
  expect(await run('--', 'sh', '-c', 'kill -TERM $$')).toMatchObject({ signal: 'SIGTERM' });
  expect(await run('--kill-after', '1s', '--', 'sleep', '60')).toMatchObject({ code: 124 });
  const entries = entriesIn(cwd);
  expect(entries).toMatchObject([
    { sequence_number: 1, signal: 'SIGTERM', exit_code: null },
    { sequence_number: 2, timed_out: true, end_reason: 'timeout', exit_code: null },
  ]);
  expect(new Set(entries.map(({ session_id }) => session_id)).size).toBe(1);
});

test('words about an entry without --journal are refused, and nothing runs', async () => {
  const cwd = project();
  const ended = await cli.cuff('run', '--agent', 'x', '--cwd', cwd, '--', 'touch', 'ran');
  expect(ended.code).toBe(2);
  expect(ended.err).toContain("'--agent' is for the entry of --journal.");
  expect(readdirSync(cwd)).toEqual([]);
});

test('the journal is that of the repository, from a directory below it, too', async () => {
  const cwd = project();
  mkdirSync(join(cwd, '.git'));
  mkdirSync(join(cwd, 'below'));
  await cli.cuff('run', '--journal', '--cwd', join(cwd, 'below'), '--', 'true');
  expect(entriesIn(cwd)).toMatchObject([{ command: 'true', agent_id: null, context_source: null }]);
});

test('a shared directory above is no project', async () => {
  const shared = project();
  chmodSync(shared, 0o1777);
  mkdirSync(join(shared, '.cuff', 'recordings'), { recursive: true });
  const cwd = join(shared, 'mine');
  mkdirSync(cwd);
  await cli.cuff('run', '--journal', '--cwd', cwd, '--', 'true');
  expect(entriesIn(cwd)).toHaveLength(1);
});

test('a journal that cannot be written changes nothing about the command', async () => {
  const cwd = project();
  writeFileSync(join(cwd, '.cuff'), 'a file in its place');
  const ended = await cli.cuff('run', '--journal', '--cwd', cwd, '--', 'sh', '-c', 'exit 4');
  expect(ended).toMatchObject({ code: 4, out: '', err: '' });
  const strict = await cli.cuff('run', '--journal', '--strict', '--cwd', cwd, '--', 'true');
  expect(strict.code).toBe(1);
});

test('without settings a run is recorded as bash_recorder records by default', () => {
  const { directory, because, ...rest } = recorderSettings({}, base, cli.root).recording;
  expect(directory).toBe(join(base, '.cuff', 'recordings'));
  expect(because).toBeUndefined();
  expect(DEFAULT_RECORDING).toEqual(rest);
});
