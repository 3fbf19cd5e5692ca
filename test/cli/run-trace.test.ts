// `cuff run --trace`: a command behaves as it does without, and what is needed for it is found out
// once, and costs nothing but the trace where it is missing.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { findShim } from '../../src/run/shim.ts';
import { lacking } from '../requirements.ts';
import { untraceable } from '../tracing/helper.ts';
import { binary, Cli, type Result } from './helper.ts';

const noTracing = lacking(untraceable, 'runs cannot be traced here');

const cli = new Cli();
afterAll(() => cli.close());

type Meta = { readonly transport: string; readonly trace?: Readonly<Record<string, unknown>> };

function metaOf(id: string): Meta {
  return JSON.parse(readFileSync(join(cli.dir(id), 'meta.json'), 'utf8'));
}

type Env = Readonly<Record<string, string>>;

function traced(id: string, env: Env, ...command: readonly string[]): Promise<Result> {
  return cli.with(env, 'run', '--trace', '--session-id', id, '--', ...command);
}

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-trace-run-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const SCRIPT =
  'echo out; echo err >&2; echo dev >/dev/stdout; env | grep -c "CUFF_TRACE\\|PRELOAD"; exit 3';

describe.skipIf(noTracing)('cuff run --trace', () => {
  it('runs a command as it runs without, and says in its capture that it is traced', async () => {
    for (const [id, words] of [
      ['named', SCRIPT],
      ['plain', `echo ${Buffer.from(SCRIPT).toString('base64')} | base64 -d | sh`],
    ] as const) {
      const { out, err, code } = await traced(id, {}, 'sh', '-c', words);
      expect([out, err, code]).toEqual(['out\ndev\n0\n', 'err\n', 3]);
    }
    // A text that opens its output by name might do so in a program without a shim.
    expect(metaOf('named')).toMatchObject({
      transport: 'pipe',
      trace: { enabled: true, mode: 'pipe' },
    });
    expect(metaOf('plain')).toMatchObject({
      transport: 'socket',
      transport_mode: 'pipe',
      trace: { enabled: true, mode: 'socket' },
    });
  });

  it('gives a terminal where it is asked for one', async () => {
    const words = ['--trace', '--tty', '--session-id', 'tty', '--', 'sh', '-c', 'test -t 1'];
    expect((await cli.cuff('run', ...words)).code).toBe(0);
    expect(metaOf('tty')).toMatchObject({
      transport: 'pty',
      trace: { enabled: true, mode: 'pty' },
    });
  });

  it('is off unless it is asked for, and leaves no trace then', async () => {
    for (const [id, ...flags] of [['bare'], ['refused', '--trace', '--no-trace']]) {
      await cli.cuff('run', ...flags, '--session-id', id ?? '', '--', 'true');
      expect([id, metaOf(id ?? '').transport, metaOf(id ?? '').trace]).toEqual([
        id,
        'pipe',
        undefined,
      ]);
      expect(existsSync(join(cli.dir(id ?? ''), 'trace.bin'))).toBe(false);
    }
  });

  it('dies as its command dies', () => {
    const words = ['run', '--trace', '--', 'sh', '-c', 'kill -TERM $$'];
    const { signal } = spawnSync(process.execPath, [binary('cuff'), ...words], { env: cli.env });
    expect(signal).toBe('SIGTERM');
  });
});

describe.skipIf(noTracing)('the self-test', () => {
  it('is made once, and its result kept for as long as it holds', async () => {
    const cache = tempDir();
    const env = { XDG_CACHE_HOME: cache };
    await traced('first', env, 'true');
    expect(metaOf('first').trace).toEqual({ enabled: true, mode: 'socket' });
    const name =
      readdirSync(join(cache, 'cuff')).find((one) => one.startsWith('trace-check-')) ?? '';
    const path = join(cache, 'cuff', name);
    const kept = JSON.parse(readFileSync(path, 'utf8'));
    expect(kept).toMatchObject({ passed: true, at: expect.any(Number), key: expect.any(String) });
    const plant = (changes: object): void =>
      writeFileSync(path, JSON.stringify({ ...kept, passed: false, why: 'planted', ...changes }));

    plant({ at: Date.now() });
    expect((await traced('believed', env, 'sh', '-c', SCRIPT)).out).toBe('out\ndev\n0\n');
    expect(metaOf('believed')).toMatchObject({
      transport: 'pipe',
      trace: { enabled: false, reason: 'the self-test failed: planted' },
    });
    for (const [id, changes] of [
      ['old', { at: Date.now() - 600_000 }],
      ['other', { at: Date.now(), key: 'another machine' }],
      ['future', { at: Date.now() + 600_000 }],
    ] as const) {
      plant(changes);
      await traced(id, env, 'true');
      expect([id, metaOf(id).trace?.enabled]).toEqual([id, true]);
      expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ passed: true });
    }
    writeFileSync(path, 'rubbish');
    await traced('rubbish', env, 'true');
    expect(metaOf('rubbish').trace?.enabled).toBe(true);
  });

  it('is made again by the doctor, whatever is known', async () => {
    const cache = tempDir();
    const env = { XDG_CACHE_HOME: cache };
    await traced('healthy', env, 'true');
    const name =
      readdirSync(join(cache, 'cuff')).find((one) => one.startsWith('trace-check-')) ?? '';
    const path = join(cache, 'cuff', name);
    const kept = JSON.parse(readFileSync(path, 'utf8'));
    const planted = { ...kept, passed: false, why: 'planted', at: Date.now() };
    writeFileSync(path, JSON.stringify(planted));
    const { out } = await cli.with(env, 'doctor');
    expect(out).toContain('the self-test passed');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ passed: true });
  });

  it('needs no place to be kept in', async () => {
    await traced('homeless', { XDG_CACHE_HOME: '/dev/null/nowhere' }, 'true');
    expect(metaOf('homeless').trace?.enabled).toBe(true);
  });

  it('fails for a shim that is none, and the command does not notice', async () => {
    const found = findShim();
    const shim = join(tempDir(), 'shim');
    cpSync(found.kind === 'shim' ? found.dir : '', shim, { recursive: true });
    const env = { XDG_CACHE_HOME: tempDir(), CUFF_SHIM: shim };
    await traced('copied', env, 'true');
    expect(metaOf('copied').trace?.enabled).toBe(true);
    // Another file in its place is another case, whatever was found out before.
    for (const name of readdirSync(shim, { recursive: true, encoding: 'utf8' })) {
      if (name.endsWith('.so')) writeFileSync(join(shim, name), 'no library at all');
    }
    utimesSync(join(shim, '$LIB', 'libcuff-shim.so'), 1, 1);
    const { out, err, code } = await traced('spoilt', env, 'sh', '-c', SCRIPT);
    expect([out, err, code]).toEqual(['out\ndev\n0\n', 'err\n', 3]);
    expect(metaOf('spoilt').trace?.reason).toMatch(/^the self-test failed: its std(out|err) is/);
    rmSync(join(shim, '$LIB'), { recursive: true });
    await traced('gone', env, 'true');
    expect(metaOf('gone').trace?.reason).toMatch(/^CUFF_SHIM: there is no /);
  });
});

describe('a run that cannot be traced', () => {
  it.each([
    [{ CUFF_SHIM: 'off' }, 'CUFF_SHIM=off'],
    [{ CUFF_RUNNER: 'off' }, 'there is no native runner (CUFF_RUNNER=off)'],
  ])('says why: %j', async (env, reason) => {
    const id = Object.keys(env)[0]?.toLowerCase() ?? '';
    const { out, code } = await traced(id, env as Env, 'sh', '-c', 'echo hi; exit 4');
    expect([out, code]).toEqual(['hi\n', 4]);
    expect(metaOf(id)).toMatchObject({ transport: 'pipe', trace: { enabled: false, reason } });
  });

  it('keeps no directory of the self-test', () => {
    mkdirSync(join(cli.root, 'tmp'), { recursive: true });
    const env = { ...cli.env, TMPDIR: join(cli.root, 'tmp'), XDG_CACHE_HOME: join(cli.root, 'c') };
    spawnSync(process.execPath, [binary('cuff'), 'run', '--trace', '--', 'true'], { env });
    expect(readdirSync(join(cli.root, 'tmp'))).toEqual([]);
  });
});
