// The policy of a server: which files it is made of, and what becomes of it when they change.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPolicy, PolicyEngine, type PolicyOptions } from '../../src/policies/engine.ts';
import * as files from '../../src/policies/files.ts';
import { until } from '../cli/helper.ts';
import { PolicyPlace } from './place.ts';

const DENY = `default: allow
policies:
  - name: test
    commands:
      - { pattern: rm *, decision: deny }
`;

class Place extends PolicyPlace {
  readonly system = join(this.dir, 'etc', 'policy.yml');
  readonly user = join(this.dir, 'home', '.config', 'cuff', 'policy.yml');
  readonly logged: string[] = [];

  options(change: Partial<PolicyOptions> = {}): PolicyOptions {
    return {
      project: this.project,
      env: { HOME: join(this.dir, 'home') },
      systemFile: this.system,
      stateRoot: join(this.dir, 'state'),
      settleMs: 10,
      pollMs: 20,
      log: (level, message) => this.logged.push(`${level}: ${message}`),
      ...change,
    };
  }

  open(change: Partial<PolicyOptions> = {}): PolicyEngine {
    const engine = PolicyEngine.open(this.options(change), files);
    onTestFinished(() => engine.close());
    return engine;
  }

  verdict(engine: PolicyEngine, command: string): string | undefined {
    return engine.decide(command, this.project)?.decision.verdict;
  }
}

function problemOf(open: () => unknown): string {
  try {
    open();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'none';
}

describe('the scratch directory', () => {
  it('is there, for its user alone, where a policy of version 2 counts', () => {
    const place = new Place();
    place.write(place.user, 'version: 2\n');
    const { scratch = '' } = place.open();
    expect(dirname(dirname(scratch))).toBe(join(place.dir, 'state'));
    expect(fs.lstatSync(scratch).mode & 0o7777).toBe(0o700);
    expect(place.open({ project: place.dir }).scratch).not.toBe(scratch);
  });

  it('is not made for others, and told to none', () => {
    const place = new Place();
    place.write(place.user, 'version: 1\n');
    place.write(place.own, 'version: 2\n'); // not trusted
    expect(place.open().scratch).toBeUndefined();
    place.write(place.user, 'version: 2\nmode: off\n');
    fs.rmSync(place.own);
    expect(place.open().scratch).toBeUndefined();
    expect(fs.existsSync(join(place.dir, 'state', 'scratch'))).toBe(false);
  });

  it('is written without a question, but not through a link that took its place', () => {
    const place = new Place();
    place.write(place.user, 'version: 2\n');
    const engine = place.open();
    const { scratch = '' } = engine;
    expect(place.verdict(engine, `cat > ${scratch}/a <<E\nx\nE`)).toBe('allow');
    fs.rmdirSync(scratch);
    fs.symlinkSync(place.dir, scratch);
    const again = place.open();
    expect(place.verdict(again, `cat > ${scratch}/a <<E\nx\nE`)).toBe('ask');
    expect(place.logged).toContain('warn: No scratch directory');
  });
});

describe('the policy of a server', () => {
  it('is off when there is no file, and decides nothing', () => {
    const place = new Place();
    const engine = place.open();
    expect(engine.decide('rm -rf /', place.project)).toBeUndefined();
    expect(engine.health()).toEqual({
      mode: 'off',
      files: [],
      problems: [],
      shadow_divergences: 0,
    });
  });

  it('is made of the system, the user and the project file, and of CUFF_POLICY', () => {
    const place = new Place();
    const deny = (program: string): string => DENY.replace('rm', program);
    const named = join(place.dir, 'named.yml');
    place.write(place.system, deny('rm'));
    place.write(place.user, deny('touch'));
    place.write(place.own, deny('mkdir'));
    place.write(named, deny('cp'));
    const env = { HOME: join(place.dir, 'home'), CUFF_POLICY: named };
    const engine = place.open({ env });
    for (const program of ['rm', 'touch', 'mkdir', 'cp']) {
      expect(place.verdict(engine, `${program} a b`)).toBe('deny');
    }
    expect(engine.health().files).toEqual([
      { file: place.system, origin: 'system' },
      { file: place.user, origin: 'user' },
      { file: named, origin: 'user' },
      { file: place.own, origin: 'project' },
    ]);
  });

  it('has the strictest mode of its files', () => {
    const place = new Place();
    place.write(place.user, `mode: warn\n${DENY}`);
    place.write(place.own, `mode: record\n${DENY}`);
    expect(place.open().mode).toBe('warn');
    place.write(place.system, `mode: enforce\n${DENY}`);
    expect(place.open().mode).toBe('enforce');
  });

  it('that may be to be enforced and is wrong keeps a server from starting, and says where', () => {
    const place = new Place();
    place.write(place.own, 'default: allow\npolicies:\n  - name: x\n    commands: wrong\n');
    expect(problemOf(() => place.open())).toMatch(new RegExp(`^${place.own}:4:\\d+: .*commands`));
    place.write(place.own, 'mode: warn\n  default: [');
    expect(problemOf(() => place.open())).toMatch(new RegExp(`^${place.own}:\\d+:\\d+: `));
    place.write(place.own, DENY);
    const missing = join(place.dir, 'missing.yml');
    const env = { HOME: join(place.dir, 'home'), CUFF_POLICY: missing };
    expect(problemOf(() => place.open({ env }))).toBe(`${missing}:1:1: there is no such file`);
  });

  it('is not taken for none when something else is in its place, nor waited for', async () => {
    const place = new Place();
    const said = async (): Promise<string> => {
      const opened = await openPolicy(place.options()).catch((error: Error) => error.message);
      if (typeof opened === 'string') return opened;
      opened.close();
      return 'none';
    };
    fs.mkdirSync(dirname(place.own));
    fs.symlinkSync('nowhere', place.own);
    expect(await said()).toBe(`${place.own}:1:1: it is a link that leads nowhere`);
    fs.rmSync(place.own);
    fs.symlinkSync('policy.yml', place.own);
    expect(await said()).toBe(`${place.own}:1:1: it cannot be read: ELOOP`);
    fs.rmSync(place.own);
    fs.symlinkSync('/dev/zero', place.own);
    expect(await said()).toBe(`${place.own}:1:1: it is no regular file`);
    fs.rmSync(place.own);
    execFileSync('mkfifo', [place.own]);
    expect(await said()).toBe(`${place.own}:1:1: it is no regular file`);
    fs.rmSync(place.own);
    fs.mkdirSync(place.own);
    expect(await said()).toBe(`${place.own}:1:1: it is a directory, and has to be a file`);
    fs.rmdirSync(place.own);
    place.write(place.own, `# ${'x'.repeat(4 * 1024 * 1024)}`);
    expect(await said()).toBe(
      `${place.own}:1:1: it is longer than the 4194304 bytes that a policy may have`,
    );
    fs.rmSync(place.own);
    expect(await said()).toBe('none');
  });

  it('that is wrong and says it is not enforced is a warning, unless another one is', () => {
    const place = new Place();
    place.write(place.own, 'mode: warn\ndefault: maybe\n');
    const engine = place.open();
    expect(engine.mode).toBe('off');
    expect(engine.health().problems[0]).toMatch(new RegExp(`^${place.own}:2:\\d+: `));
    expect(place.logged).toEqual(['warn: Policy not taken']);
    place.write(place.user, DENY);
    expect(problemOf(() => place.open())).toContain(`${place.own}:2:`);
  });

  it('follows its files: a new one, a changed one, and none that is wrong', async () => {
    const place = new Place();
    const engine = place.open();
    place.write(place.own, DENY);
    await until(() => place.verdict(engine, 'rm x') === 'deny', 'the policy is there');
    place.write(place.own, DENY.replace('rm', 'touch'));
    await until(() => place.verdict(engine, 'touch x') === 'deny', 'the policy is another');
    place.logged.length = 0;
    place.write(place.own, 'policies: wrong\n');
    await until(() => engine.health().problems.length > 0, 'the problem is told');
    expect(place.verdict(engine, 'touch x')).toBe('deny');
    expect(engine.health().problems[0]).toMatch(new RegExp(`^${place.own}:1:\\d+: `));
    expect(place.logged).toEqual(['warn: Policy not taken']);
    place.write(place.own, DENY);
    await until(() => engine.health().problems.length === 0, 'the problem is gone');
    expect(place.verdict(engine, 'rm x')).toBe('deny');
  });

  it('is loaded when the first file comes, and not before', async () => {
    const place = new Place();
    const engine = await openPolicy(place.options());
    onTestFinished(() => engine.close());
    engine.reload();
    expect(engine.health()).toMatchObject({ mode: 'off', problems: [] });
    place.write(place.own, DENY);
    await until(() => place.verdict(engine, 'rm x') === 'deny', 'the policy is there');
  });

  it('does not go away with its file', async () => {
    const place = new Place();
    place.write(place.own, DENY);
    const engine = place.open();
    fs.rmSync(place.own);
    await until(() => engine.health().problems.length > 0, 'the problem is told');
    expect(engine.health().problems).toEqual([expect.stringContaining('it is gone')]);
    expect(place.verdict(engine, 'rm x')).toBe('deny');
  });

  it('never reads half of a file that is being written', async () => {
    const place = new Place();
    place.write(place.own, DENY);
    // Far longer than we pause, also when this process is not given its turn for a while.
    const engine = place.open({ settleMs: 1_500 });
    const fd = fs.openSync(place.own, 'w');
    fs.writeSync(fd, 'default: allow\n');
    for (let i = 0; i < 10; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(place.verdict(engine, 'rm x')).toBe('deny');
      fs.writeSync(fd, `# ${i}\n`);
    }
    fs.closeSync(fd);
    await until(() => place.verdict(engine, 'rm x') === 'allow', 'the file is whole');
  });

  it('never reads half of a file that is written on and on', async () => {
    const place = new Place();
    place.write(place.own, DENY);
    const engine = place.open();
    const fd = fs.openSync(place.own, 'w');
    fs.writeSync(fd, 'default: allow\n');
    const end = performance.now() + 2_000;
    for (let i = 0; performance.now() < end; i += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      expect([i, place.verdict(engine, 'rm x')]).toEqual([i, 'deny']);
      fs.writeSync(fd, `# ${i}\n`);
    }
    fs.closeSync(fd);
    await until(() => place.verdict(engine, 'rm x') === 'allow', 'the file is whole');
  });

  it('is as its files are for whoever waits until they have been read', async () => {
    const place = new Place();
    place.write(place.own, DENY);
    const engine = place.open({ pollMs: 60_000 });
    expect(await engine.caughtUp()).toBe(false);
    place.write(place.own, DENY.replace('rm', 'touch'));
    place.write(place.user, DENY.replace('rm', 'mkdir'));
    expect(place.verdict(engine, 'touch x')).toBe('allow');
    expect(await engine.caughtUp()).toBe(true);
    expect(['touch x', 'mkdir x'].map((one) => place.verdict(engine, one))).toEqual([
      'deny',
      'deny',
    ]);
    expect(await engine.caughtUp()).toBe(false);
    const fd = fs.openSync(place.own, 'a');
    const writing = setInterval(() => fs.writeSync(fd, '#\n'), 1);
    onTestFinished(() => {
      clearInterval(writing);
      fs.closeSync(fd);
    });
    await until(() => fs.statSync(place.own).size > DENY.length + 10, 'it is written on and on');
    expect(await engine.caughtUp()).toBe(true); // and is not waited for without end
    engine.close();
    expect(await engine.caughtUp()).toBe(false);
  });

  it('takes a file that never comes to rest', async () => {
    const place = new Place();
    place.write(place.own, DENY);
    const engine = place.open({ settleMs: 60 });
    let turn = 0;
    const writing = setInterval(() => {
      turn += 1;
      place.write(place.own, `# ${turn}\n${DENY.replace('rm', 'touch')}`);
    }, 20);
    onTestFinished(() => clearInterval(writing));
    await until(() => place.verdict(engine, 'touch x') === 'deny', 'the policy is taken');
    expect(place.verdict(engine, 'rm x')).toBe('allow');
  });

  it('lets no command write what is read for it, or by it', () => {
    const place = new Place();
    const named = join(place.project, 'named.yml');
    const shadow = join(place.project, 'next [1].yml');
    const settings = join(place.project, 'own.yml');
    place.write(named, 'default: allow\nshadow: "next [1].yml"\n');
    place.write(shadow, 'default: allow\n');
    const env = { HOME: join(place.dir, 'home'), CUFF_POLICY: named };
    const engine = place.open({ env, settingsFile: settings });
    fs.symlinkSync(named, join(place.project, 'link'));
    const files = ['settings.yml', './a/../settings.yml', '.cuff/settings.yml', 'named.yml'];
    for (const file of [...files, "'next [1].yml'", 'own.yml', 'link', place.own]) {
      for (const command of [`echo x > ${file}`, `cp x ${file}`, `tee ${file} < x`]) {
        const { verdict, code } = engine.decide(command, place.project)?.decision ?? {};
        expect([command, verdict, code]).toEqual([command, 'deny', 'path.protected']);
      }
    }
    expect(place.verdict(engine, 'echo x > other.yml')).toBe('allow');
    expect(place.verdict(engine, 'cat settings.yml')).toBe('allow');
    const elsewhere = { ...env, CUFF_SETTINGS: 'mine.yml' };
    const other = place.open({ env: elsewhere });
    expect(place.verdict(other, 'echo x > mine.yml')).toBe('deny');
  });

  it('counts what its shadow would decide otherwise, and does as it says itself', async () => {
    const place = new Place();
    place.write(join(place.project, '.cuff', 'next.yml'), DENY.replace('rm', 'touch'));
    place.write(place.own, `shadow: next.yml\n${DENY}`);
    const engine = place.open();
    expect(place.verdict(engine, 'rm x')).toBe('deny');
    expect(place.verdict(engine, 'touch x')).toBe('allow');
    expect(place.verdict(engine, 'mkdir x')).toBe('allow');
    expect(engine.health().shadow_divergences).toBe(2);
    place.write(join(place.project, '.cuff', 'next.yml'), 'default: wrong\n');
    await until(() => engine.health().problems.length > 0, 'the problem is told');
    expect(place.verdict(engine, 'rm x')).toBe('deny');
    // Nor does it keep anybody from starting.
    expect(place.open().mode).toBe('enforce');
  });

  it('sees where the working directory really is', () => {
    const place = new Place();
    place.write(place.own, 'policies:\n  - name: x\n    commands: [{ pattern: ls }]\n');
    const engine = place.open();
    fs.symlinkSync('/etc', join(place.project, 'link'));
    expect(place.verdict(engine, 'ls')).toBe('allow');
    expect(engine.decide('ls', join(place.project, 'link'))?.decision.verdict).toBe('ask');
  });
});
