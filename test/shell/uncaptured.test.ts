// A run that could not be captured says nothing on its own streams; the next `cuff ls`,
// `cuff status` and `cuff doctor` name it, and so does the log where that can be written.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createShell } from '../../src/shell/shell.ts';
import { noteUncaptured, uncapturedRuns } from '../../src/shell/uncaptured.ts';
import { Cli } from '../cli/helper.ts';

const cli = new Cli();
afterAll(async () => {
  vi.unstubAllEnvs();
  await cli.close();
});

const FALLBACK = `cuff-uncaptured-${process.getuid?.() ?? 'user'}`;
const HOSTILE = 'a\x1b]0;owned\x07\r\nb\u202ec';

/** A state root that is a file, and temporary directories of this test alone. */
function world(name: string) {
  const dir = join(cli.root, name);
  const [root, runtime, temp] = ['root', 'runtime', 'temp'].map((one) => join(dir, one));
  if (root === undefined || runtime === undefined || temp === undefined) throw new Error(name);
  mkdirSync(runtime, { recursive: true });
  mkdirSync(temp);
  writeFileSync(root, 'not a directory\n');
  const env = { CUFF_STATE_ROOT: root, XDG_RUNTIME_DIR: runtime, TMPDIR: temp };
  return { root, runtime, temp, env };
}

describe('a run without a capture', () => {
  it('is named by ls, status and doctor, and not on its own streams', async () => {
    const { env, root, runtime } = world('named');
    const command = ['sh', '-c', 'echo out; echo err >&2; exit 3'];
    const run = await cli.with(env, 'run', '--session-id', 'lost', '--', ...command);
    expect([run.code, run.out, run.err]).toEqual([3, 'out\n', 'err\n']);

    const named = /Not captured: run lost, \d+[sm] ago \(ENOTDIR\): sh -c 'echo out; echo err/;
    const ls = await cli.with(env, 'ls');
    expect([ls.code, ls.out]).toEqual([1, '']); // a file cannot be listed
    expect(ls.err).toMatch(named);
    expect((await cli.with(env, 'status')).err).toMatch(named);
    expect((await cli.with(env, 'doctor')).out).toMatch(named);

    rmSync(root);
    const json = JSON.parse((await cli.with(env, 'ls', '--json')).out);
    expect(json).toMatchObject({ sessions: [], more: 0, uncaptured: [{ session_id: 'lost' }] });
    const status = JSON.parse((await cli.with(env, 'status', '--json')).out);
    expect(status.uncaptured).toEqual(json.uncaptured);

    const place = join(runtime, FALLBACK);
    expect(statSync(place).mode & 0o777).toBe(0o700);
    expect(statSync(join(place, 'uncaptured.jsonl')).mode & 0o777).toBe(0o600);
  });

  it('is noted in the state root and in the log if only its capture cannot be made', async () => {
    // Names directly below this root are short enough for the system; those of a capture are not.
    const parent = join(cli.root, 'long');
    const piece = `/${'d'.repeat(199)}`;
    const pieces = Math.floor((4064 - parent.length) / piece.length);
    const rest = 4064 - parent.length - pieces * piece.length;
    const root = `${parent}${piece.repeat(pieces)}${rest > 1 ? `/${'e'.repeat(rest - 1)}` : ''}`;
    mkdirSync(root, { recursive: true, mode: 0o700 });
    const env = { CUFF_STATE_ROOT: root };
    const id = 'x'.repeat(24);
    const run = await cli.with(env, 'run', '--session-id', id, '--', 'echo', 'hi');
    expect([run.code, run.out, run.err]).toEqual([0, 'hi\n', '']);
    expect(readFileSync(join(root, 'uncaptured.jsonl'), 'utf8')).toContain('ENAMETOOLONG');
    const log = readFileSync(join(root, 'logs', 'derun.log'), 'utf8');
    expect(log).toContain('"state_transition":"starting->uncaptured","error":"ENAMETOOLONG"');
    expect((await cli.with(env, 'ls')).err).toContain(`Not captured: run ${id}`);
  });

  it('is named without secrets and without anything that a terminal obeys', async () => {
    const { env } = world('hostile');
    await cli.with(env, 'run', '--', 'true', '--password', 'hunter2hunter2', HOSTILE);
    const { err } = await cli.with(env, 'ls');
    expect(err).toContain('Not captured: run ');
    expect(err).not.toContain('hunter2');
    expect(err).not.toMatch(/[\x1b\x07\r\u202e]/);
  });

  it('is named for its own state root alone', async () => {
    const { env } = world('own');
    await cli.with(env, 'run', '--', 'true');
    const other = await cli.with({ ...env, CUFF_STATE_ROOT: join(cli.root, 'other') }, 'ls');
    expect(other.err).toBe('No captures. Make one: cuff run -- CMD\n');
  });

  it('is named when a shell of the library started it', async () => {
    const { root, env } = world('library');
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const shell = createShell({ stateRoot: root });
    const run = shell.start('echo hi', { id: 'from-library' });
    await run.closed;
    shell.close();
    expect(uncapturedRuns(root)).toMatchObject([{ id: 'from-library', command: 'echo hi' }]);
  });
});

describe('the notes', () => {
  const meta = { command: { kind: 'shell', text: 'true' }, createdAt: Date.now() } as const;

  it.each(['a link', 'open to others'])('go past a directory that is %s', async (kind) => {
    const { root, runtime, temp, env } = world(kind.replaceAll(' ', '-'));
    const planted = join(runtime, FALLBACK);
    const elsewhere = join(runtime, 'elsewhere');
    mkdirSync(elsewhere, { mode: 0o700 });
    if (kind === 'a link') symlinkSync(elsewhere, planted);
    else {
      mkdirSync(planted);
      chmodSync(planted, 0o777);
    }
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    noteUncaptured(root, { ...meta, id: 'one' }, 'ENOSPC');
    expect(readdirSync(planted)).toEqual([]);
    expect(lstatSync(join(temp, FALLBACK, 'uncaptured.jsonl')).isFile()).toBe(true);
    const line = readFileSync(join(temp, FALLBACK, 'uncaptured.jsonl'), 'utf8');
    writeFileSync(join(planted, 'uncaptured.jsonl'), line.replace('"one"', '"planted"'));
    expect(uncapturedRuns(root).map(({ id }) => id)).toEqual(['one']);
  });

  it('stay small, are forgotten after a day, and survive a torn line', () => {
    const root = join(cli.root, 'small');
    mkdirSync(root);
    for (let i = 0; i < 2_000; i++) noteUncaptured(root, { ...meta, id: `run-${i}` }, 'ENOSPC');
    const sizes = readdirSync(root).map((name) => statSync(join(root, name)).size);
    expect(sizes).toHaveLength(2);
    expect(Math.max(...sizes)).toBeLessThan(66 * 1024);
    const ids = uncapturedRuns(root).map(({ id }) => id);
    expect(ids).toContain('run-1999');
    expect(uncapturedRuns(root, meta.createdAt + 86_400_000)).toEqual([]);
    const torn = join(cli.root, 'torn');
    mkdirSync(torn);
    writeFileSync(join(torn, 'uncaptured.jsonl'), '{"timestamp":"20');
    noteUncaptured(torn, { ...meta, id: 'whole' }, 'ENOSPC');
    expect(uncapturedRuns(torn).map(({ id }) => id)).toEqual(['whole']);
  });
});
