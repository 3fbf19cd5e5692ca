import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findShim } from '../../src/run/shim.ts';
import { lacking } from '../requirements.ts';
import { untraceable } from '../tracing/helper.ts';
import { Cli, type Result } from './helper.ts';

const noTracing = lacking(untraceable, 'runs cannot be traced here');

const cli = new Cli();
beforeAll(() => cli.run('one', 'true'));
afterAll(() => cli.close());

type Doctor = {
  readonly ok: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly status: string;
    readonly value: string;
    readonly hint: string | null;
  }[];
  readonly limits: readonly string[];
};

const NAMES = [
  'node',
  'platform',
  'compiler',
  'runner',
  'pty',
  'descendants',
  'ptrace scope',
  'state root',
  'free disk',
  'file watching',
  'tracing',
  'shim',
  'musl',
  '32-bit',
  'ptrace',
  'socket',
];

/** It tests anew and keeps the result, which must be nobody else's: others run beside us. */
function asked(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Result> {
  return cli.with({ XDG_CACHE_HOME: join(cli.root, 'cache'), ...env }, 'doctor', ...args);
}

async function doctor(env: Readonly<Record<string, string>>): Promise<Doctor & { code: number }> {
  const { out, code } = await asked(env, '--json');
  return { ...JSON.parse(out), code };
}

function row({ checks }: Doctor, name: string): Doctor['checks'][number] | undefined {
  return checks.find((check) => check.name === name);
}

describe('cuff doctor', () => {
  it('needs no program on the PATH', async () => {
    const bin = join(cli.root, 'empty-bin');
    mkdirSync(bin);
    const found = await doctor({ PATH: bin });
    expect([row(found, 'runner')?.status, row(found, 'pty')?.status]).toEqual(['ok', 'ok']);
  });

  it('looks at everything a run needs', async () => {
    const { code, out, err } = await asked({});
    expect([code, err]).toEqual([0, '']);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/).slice(0, 2));
    expect(lines).toEqual([['CHECK', 'STATUS'], ...NAMES.map((name) => [name, 'ok'])]);
  });

  it('gives the same as JSON', async () => {
    const found = await doctor({});
    expect(found).toEqual({
      code: 0,
      ok: true,
      checks: NAMES.map((name) => ({ name, status: 'ok', value: expect.any(String), hint: null })),
      limits: [],
    });
    expect(row(found, 'runner')?.value).toMatch(/^cuff-runner \d+, prebuilt: .*\/runner$/);
    expect(row(found, 'state root')?.value).toBe(`${cli.root}, mode 0700`);
  });

  it('lists what runs lack without the native runner, which is no failure', async () => {
    const found = await doctor({ CUFF_RUNNER: 'off' });
    expect([found.code, found.ok, row(found, 'runner')]).toEqual([
      0,
      true,
      {
        name: 'runner',
        status: 'warn',
        value: 'none: CUFF_RUNNER=off',
        hint: 'Unset CUFF_RUNNER to use the native runner.',
      },
    ]);
    expect(found.limits.length).toBeGreaterThan(5);
    const { out } = await asked({ CUFF_RUNNER: 'off' });
    for (const limit of found.limits) expect(out).toContain(`\n- ${limit}\n`);
  });

  it.skipIf(noTracing)('does not call a shim good that breaks a command', async () => {
    const broken = join(cli.root, 'broken-shim');
    const shim = findShim();
    cpSync(shim.kind === 'shim' ? shim.dir : '', broken, { recursive: true });
    for (const dir of readdirSync(broken, { recursive: true, encoding: 'utf8' })) {
      if (dir.endsWith('.so')) writeFileSync(join(broken, dir), 'no library');
    }
    const found = await doctor({ CUFF_SHIM: broken });
    expect([found.code, row(found, 'tracing')?.status]).toEqual([0, 'warn']);
    expect(row(found, 'tracing')?.value).toMatch(/^off: the self-test failed/);
    expect(row(found, 'shim')).toMatchObject({ status: 'warn', value: `${broken}, not used` });
  });

  it('fails when the runner that was named does not run', async () => {
    for (const named of ['/nonexistent/runner', '/bin/false']) {
      const found = await doctor({ CUFF_RUNNER: named });
      expect([found.code, found.ok, row(found, 'runner')]).toEqual([
        1,
        false,
        {
          name: 'runner',
          status: 'bad',
          value: `CUFF_RUNNER: ${named} does not run`,
          hint: 'CUFF_RUNNER must name a runner, or be `off` or unset.',
        },
      ]);
    }
    const { code, out, err } = await asked({ CUFF_RUNNER: '/bin/false' });
    expect([code, err]).toEqual([1, 'Missing: runner.\n']);
    expect(out).toContain('-> CUFF_RUNNER must name a runner');
  });

  it('fails when the state root cannot be used, and says what to do', async () => {
    const file = join(cli.root, 'file');
    writeFileSync(file, '');
    for (const root of [file, join(file, 'below'), '/proc/nothing-here']) {
      const found = await doctor({ CUFF_STATE_ROOT: root });
      expect([found.code, row(found, 'state root')]).toMatchObject([
        1,
        { status: 'bad', hint: 'Set CUFF_STATE_ROOT to a directory of yours.' },
      ]);
    }
  });

  it('makes no state root, and changes none', async () => {
    const missing = join(cli.root, 'not', 'yet');
    expect(row(await doctor({ CUFF_STATE_ROOT: missing }), 'state root')).toMatchObject({
      status: 'ok',
      value: `${missing}, made by the first run`,
    });
    expect(existsSync(join(cli.root, 'not'))).toBe(false);
    const open = join(cli.root, 'open');
    mkdirSync(open);
    chmodSync(open, 0o755);
    expect(row(await doctor({ CUFF_STATE_ROOT: open }), 'state root')).toMatchObject({
      status: 'warn',
      value: `${open}, mode 0755`,
    });
    expect(readdirSync(open)).toEqual([]);
  });
});
