// Commands that leave somebody behind: the answer does not wait, the survivor is listed and lives,
// its later output is captured, and a kill leaves nobody.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { alive, Cli, until } from '../cli/helper.ts';

const cli = new Cli();
afterAll(() => cli.close());

const SLEEPERS = [
  ['in the background', 'sleep 100 & echo hi'],
  ['with its stdout elsewhere', 'sleep 100 >/dev/null & echo hi'],
  ['with all streams elsewhere', 'sleep 100 >/dev/null 2>&1 </dev/null & echo hi'],
  ['from a subshell', '(sleep 100 &); echo hi'],
  ['with nohup', 'nohup sleep 100 & echo hi'],
  ['with setsid', 'setsid sleep 100 & echo hi'],
  ['with setsid --fork', 'setsid --fork sleep 100; echo hi'],
  ['without environment', 'env -i setsid sleep 100 & echo hi'],
  ['as a coprocess', 'coproc sleep 100; echo hi'],
  [
    'as a daemon, twice forked',
    // It is listed once the one in between is gone.
    `f=$(mktemp); (setsid bash -c "sleep 100 & echo \\$\\$ > $f" &)
     until [ -s $f ] && ! kill -0 $(< $f) 2>/dev/null; do sleep 0.01; done; rm $f; echo hi`,
  ],
] as const;

/** A requirement, of the runner and not of a machine that is busy elsewhere: of one of so many. */
const ADDED_MS_MAX = 500;
const ATTEMPTS = 40;

test.each(SLEEPERS)('a sleeper %s holds nobody up and dies by `cuff kill`', async (name, text) => {
  const added: number[] = [];
  do {
    const id = `s-${SLEEPERS.findIndex(([other]) => other === name)}-${added.length}`;
    added.push(await leavesSleeper(id, text));
  } while (Math.min(...added) >= ADDED_MS_MAX && added.length < ATTEMPTS);
  expect(Math.min(...added)).toBeLessThan(ADDED_MS_MAX);
});

/** What the runner itself added: from the shell's end to the answer. */
async function leavesSleeper(id: string, text: string): Promise<number> {
  await cli.leaving(id, 'bash', '-c', text);
  const events = readFileSync(join(cli.dir(id), 'events.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  const told = events.map((line) => JSON.parse(line));
  const exited = Date.parse(told.find(({ type }) => type === 'shell_exited').timestamp);
  const survivors = told.find(({ type }) => type === 'survivors');
  expect(readFileSync(join(cli.dir(id), 'output.bin'), 'utf8')).toContain('hi\n');
  const [survivor] = survivors.processes;
  expect(survivor.command).toMatch(/sleep/); // or the shell that is about to become it
  expect(alive(survivor.pid)).toBe(true);
  expect((await cli.cuff('kill', id)).code).toBe(0);
  expect(alive(survivor.pid)).toBe(false);
  expect((await cli.ps()).some((run) => run.session_id === id)).toBe(false);
  return Date.parse(survivors.timestamp) - exited;
}

test('process substitution at the end of a command loses nothing', async () => {
  const file = join(cli.root, 'copy');
  const ended = await cli.run('tee', 'bash', '-c', `exec > >(tee ${file}) 2>&1; echo hi`);
  expect(ended).toMatchObject({ code: 0, out: 'hi\n' });
  expect(readFileSync(file, 'utf8')).toBe('hi\n');
});

test('what a survivor prints later is captured, and only then the capture is closed', async () => {
  const text = '(read < "$0"; echo late; echo late >&2) & echo early';
  const fifo = join(cli.root, 'go');
  await cli.start(['mkfifo', fifo]).result;
  await cli.leaving('late', 'bash', '-c', text, fifo);
  const output = join(cli.dir('late'), 'output.bin');
  const final = (): { output_closed: boolean; exit_code: number; survivors: unknown[] } =>
    JSON.parse(readFileSync(join(cli.dir('late'), 'final.json'), 'utf8'));
  expect(readFileSync(output, 'utf8')).toBe('early\n');
  expect(final()).toMatchObject({ exit_code: 0, output_closed: false });
  expect(final().survivors).toHaveLength(1);
  await cli.start(['bash', '-c', `echo > ${fifo}`]).result;
  await until(() => final().output_closed, 'the capture is closed');
  expect(readFileSync(output, 'utf8')).toBe('early\nlate\nlate\n');
  expect(final()).toMatchObject({ exit_code: 0, output_closed: true, survivors: [] });
});

test('a kill reaches processes that ignore TERM and those that fork all the time', async () => {
  const stubborn = `trap '' TERM; while :; do sleep 0.1; done`;
  const forks = 'while :; do (sleep 100 &); sleep 0.05; done';
  const text = `(${stubborn}) & (setsid bash -c '${forks}' &) ; echo ready; wait`;
  await cli.running('stubborn', /ready/, 'bash', '-c', text);
  const before = await cli.pids('stubborn');
  expect(before.length).toBeGreaterThan(2);
  await cli.cuff('kill', 'stubborn', '--grace', '100ms');
  expect(before.filter(alive)).toEqual([]);
  expect((await cli.ps()).some((run) => run.session_id === 'stubborn')).toBe(false);
  const events = readFileSync(join(cli.dir('stubborn'), 'events.jsonl'), 'utf8');
  const kill = events
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .find(({ type }) => type === 'kill');
  expect(kill).toMatchObject({ signal: 'SIGTERM', by: 'order', alive: [] });
  expect(kill.died.length).toBeGreaterThan(2);
});
