// What the journal says about the processes of a command, and that no secret gets there by them.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createShell } from '../../src/shell/shell.ts';
import { redactor } from '../../src/text/redact.ts';
import { entryProcesses, UNTRACED } from '../../src/tracing/entry.ts';
import { until } from '../cli/helper.ts';
import { Native } from '../dialects/cuff_shell/helper.ts';
import { call, execute, World } from '../recorder/helper.ts';
import { lacking } from '../requirements.ts';
import { encodeFrame, encodeTrace, HEADER } from '../trace/encode.ts';
import { fork, reap, start } from '../trace/frames.ts';
import { TRACED, untraceable } from './helper.ts';

const noTracing = lacking(untraceable, 'runs cannot be traced here');

const SECRET = 'hunter2/hunter2+hunter2';

async function entryOf(command: string, recording: object = TRACED.recording) {
  const world = new World();
  const plugin = await world.plugin({ recording });
  await execute(plugin, command);
  return world.entry();
}

describe.skipIf(noTracing)('the entry of a traced command', () => {
  it('counts its processes and those that failed, and names both', async () => {
    const command = "cat missing 2>&1 | wc -l; sh -c 'exit 7'; grep x /dev/null; true";
    const entry = await entryOf(command);
    expect(entry).toMatchObject({
      exit_code: 0,
      processes: 5,
      failed_processes: 2,
      failed_process_list: ['cat missing 2>&1: exit 1', "sh -c 'exit 7': exit 7"],
    });
    // The stages of a pipeline begin at once.
    const [one, other, ...rest] = entry.process_list ?? [];
    expect([one, other].sort()).toEqual(['cat missing', 'wc -l']);
    expect(rest).toEqual(["sh -c 'exit 7'", 'grep x /dev/null']);
    expect(await entryOf("sh -c 'kill -9 $$' | cat")).toMatchObject({
      failed_process_list: ["sh -c 'kill -9 $$': SIGKILL"],
    });
  });

  it('names a copy of a program by that program, and only a copy of a shell as one', async () => {
    expect(await entryOf('perl -e "exit 5 unless fork; wait"; (exit 4); true')).toMatchObject({
      failed_process_list: ['(a copy of perl): exit 5', '(a copy of the shell): exit 4'],
    });
  });

  it('names what the shell became, but not the shell that we started', async () => {
    expect(await entryOf('exec ls /dev/null')).toMatchObject({
      processes: 1,
      failed_processes: 0,
      process_list: ['ls /dev/null'],
      failed_process_list: [],
    });
    expect(await entryOf('exit 3')).toMatchObject({ processes: 1, process_list: [] });
  });

  it('has each program once, at most fifty, and two hundred characters of each', async () => {
    const entry = await entryOf('for i in {1..60}; do env true $i; done; env true 1; true');
    expect(entry.processes).toBe(62);
    expect(entry.process_list).toHaveLength(50);
    expect(entry.process_list?.slice(0, 3)).toEqual(['env true 1', 'true 1', 'env true 2']);
    const long = await entryOf(`env true ${'ü'.repeat(300)}; true`);
    expect(long.process_list?.map((text) => text.length)).toEqual([200, 200]);
  });

  it('says nothing about processes when it was not asked to, or could not', async () => {
    expect(await entryOf('true', { trace: 'off' })).toMatchObject(UNTRACED);
    expect(await entryOf('true', { trace: 'on', capture_output: false })).toMatchObject(UNTRACED);
  });

  it('is written by the next server from what the trace says', async () => {
    const world = new World();
    const first = await world.plugin(TRACED);
    const fifo = join(world.project, 'go');
    execFileSync('mkfifo', [fifo]);
    const running = call(first, 'execute', { command: 'ls missing; read x < go; true' }, {});
    await until(() => world.shell.list().some(({ state }) => state === 'running'), 'it runs');
    writeFileSync(fifo, '\n');
    await running;
    await world.stop(first);
    // As if its server had died before it could write.
    const [entry] = world.entries();
    const [session] = world.sessions();
    const id = session?.metadata.session_id ?? '';
    const path = join(world.journal, 'sessions', `${id}.jsonl`);
    truncateSync(path, 0);
    const meta = path.replace(/\.jsonl$/, '.meta.json');
    const owner = { pid: 2 ** 22 + 1, start_time: 1 };
    const active = { ...session?.metadata, status: 'active', end_reason: null, owner };
    writeFileSync(meta, JSON.stringify(active));
    const capture = join(world.stateRoot, 'sessions', entry?.run_id ?? '', 'meta.json');
    const stored = JSON.parse(readFileSync(capture, 'utf8'));
    writeFileSync(capture, `${JSON.stringify({ ...stored, starter_pid: owner.pid })}\n`);
    await world.plugin(TRACED);
    await until(() => world.entries().length === 1, 'the entry is there again');
    expect(world.entry()).toMatchObject({
      processes: entry?.processes,
      process_list: entry?.process_list,
      failed_process_list: ['ls missing: exit 2'],
    });
  });
});

describe.skipIf(noTracing)('a secret of the environment', () => {
  const env = { ...process.env, DEPLOY_TOKEN: SECRET, GITHUB_PAT: 'ghp_0123456789abcdef' };

  it('is in no file of a capture or journal by way of a process that had it', async () => {
    const world = new World({ env });
    const recording = { trace: 'on', capture_env: true, env_allowlist: ['DEPLOY_TOKEN', 'PATH'] };
    const plugin = await world.plugin({ recording });
    await execute(plugin, 'env true "$DEPLOY_TOKEN" --password="$DEPLOY_TOKEN"; sh -c "true $0" x');
    const entry = world.entry();
    expect(entry.process_list?.[0]).toBe("env true '[DEPLOY_TOKEN]' '--password=[DEPLOY_TOKEN]'");
    expect(Object.keys(entry.environment ?? {})).toEqual(['PATH']);
    expect(world.filesWith(SECRET)).toEqual([]);
    expect(world.filesWith('trace.bin')).toEqual([]);
    const [capture] = world.shell.list();
    expect(existsSync(join(capture?.dir ?? '', 'trace.bin'))).toBe(true);
  });

  it('is in no trace when somebody types it, although the command never had it', async () => {
    const typed = 'sk-0123456789abcdefghij';
    const world = new World({ env: { ...process.env, OPENAI_API_KEY: typed } });
    const native = await Native.open(TRACED, world);
    const { trailer } = await native.run(`env true ${typed}; true`);
    expect(trailer).toContain('not traced: there is a secret in its text');
    expect(world.filesWith(typed)).toEqual([]);
    expect(world.entry()).toMatchObject({
      ...UNTRACED,
      command: 'env true [REDACTED:OPENAI_API_KEY]; true',
    });
  });

  it('is in no entry, also where only the name of its owner tells that it is one', async () => {
    const world = new World({ env });
    const plugin = await world.plugin(TRACED);
    await execute(plugin, 'env true "https://$GITHUB_PAT@example.org"; true');
    expect(world.entry().process_list).toEqual([
      'env true https://[REDACTED:GITHUB_PAT]@example.org',
      'true https://[REDACTED:GITHUB_PAT]@example.org',
    ]);
  });
});

describe('a trace', () => {
  async function traceIn(bytes: Uint8Array): Promise<string> {
    const world = new World();
    const shell = createShell({ stateRoot: world.stateRoot });
    const run = shell.start('true');
    await run.closed;
    shell.close();
    writeFileSync(join(run.recording.dir, 'trace.bin'), bytes);
    return run.recording.dir;
  }
  it('that is large is counted and not looked into', async () => {
    const word = 'x'.repeat(1000);
    const frames = Array.from({ length: 1500 }, (_, i) =>
      start(i, i + 10, ['prog', word], { startTicks: i + 1 }),
    );
    const again = frames.slice(0, 100);
    // Of one process: a fork and an exec that do not tell when it began. Then its pid comes again.
    const same = [fork(1, 10, 1), start(2, 10, ['b'])];
    const other = [reap(3, 1, 11, 0), start(4, 11, ['c'])];
    const bytes = encodeTrace(HEADER, [...frames, ...again, ...same, ...other]);
    expect(bytes.length).toBeGreaterThan(1024 * 1024);
    const damaged = Buffer.concat([
      bytes,
      Buffer.from('CFFR and no more'),
      encodeFrame(start(9999, 5, ['last'])),
    ]);
    expect(entryProcesses(await traceIn(damaged), '', redactor({}))).toEqual({
      ...UNTRACED,
      processes: 1502,
    });
  });

  it('that grows is read again', async () => {
    const dir = await traceIn(encodeTrace(HEADER, [start(1, 10, ['sh'])]));
    const seen = () => entryProcesses(dir, '', redactor({})).processes;
    expect([seen(), seen()]).toEqual([1, 1]);
    appendFileSync(join(dir, 'trace.bin'), encodeFrame(start(2, 11, ['ls'], { startTicks: 2 })));
    expect(seen()).toBe(2);
    const other = await traceIn(encodeTrace(HEADER, [start(1, 10, ['sh'])]));
    expect(entryProcesses(other, '', redactor({})).processes).toBe(1);
  });

  it('that is missing or rubbish costs what it could have told', async () => {
    expect(entryProcesses(await traceIn(Buffer.from('rubbish')), '', redactor({}))).toEqual(
      UNTRACED,
    );
    expect(entryProcesses('/nonexistent/sessions/one', '', redactor({}))).toEqual(UNTRACED);
  });
});
