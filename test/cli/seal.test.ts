// `cuff seal` as a program.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { binary, Cli, type Result } from './helper.ts';

const cli = new Cli();
afterAll(() => cli.close());

let machines = 0;

/** A user with a project, in which commands are recorded. */
class Machine {
  readonly dir: string;
  readonly project: string;

  constructor() {
    machines += 1;
    this.dir = join(cli.root, `machine-${machines}`);
    this.project = join(this.dir, 'project');
    mkdirSync(join(this.project, '.git'), { recursive: true });
    mkdirSync(join(this.dir, 'cuff'));
    this.settings('[]'); // not the log of the machine that the tests run on
  }

  settings(anchors: string): void {
    writeFileSync(join(this.dir, 'cuff', 'settings.yml'), `seal:\n  anchor: ${anchors}\n`);
  }

  cuff(...args: readonly string[]): Promise<Result> {
    return this.with({}, ...args);
  }

  with(more: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Result> {
    const { dir: HOME, dir: XDG_CONFIG_HOME } = this;
    const env = { CUFF_STATE_ROOT: this.state, HOME, XDG_CONFIG_HOME, ...more };
    const live = cli.start([process.execPath, binary('cuff'), ...args], { env, cwd: this.project });
    live.child.stdin?.end();
    return live.result;
  }

  get state(): string {
    return join(this.dir, 'state');
  }

  /** Some entry, sealed. */
  async recorded(): Promise<void> {
    expect((await this.cuff('run', '--journal', '--', 'echo', 'x')).code).toBe(0);
  }
}

describe('cuff seal', () => {
  it('signs and anchors what is new, and says that nothing is', async () => {
    const machine = new Machine();
    await machine.recorded();
    const [file, git] = [join(machine.dir, 'kept.log'), join(machine.dir, 'kept.git')];
    execFileSync('git', ['init', '-q', '--bare', git]);
    machine.settings(`["file ${file}", "git ${git}"]`);
    const { code, out, err } = await machine.cuff('seal');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^5 lines sealed: CUFF 5 [A-Z2-7-]{24}\n {2}anchored: file .*\n.*git .*\n$/,
    );
    expect(readFileSync(file, 'utf8')).toMatch(/ 5 \S{44}\n$/);
    const again = await machine.cuff('seal');
    expect([again.code, again.err]).toEqual([0, 'Nothing is new since the last anchor.\n']);
    expect((await machine.cuff('verify')).out).toMatch(/^1 sealed entry .*, anchored until /);
    const known = JSON.parse((await machine.cuff('status', '--json')).out).anchors;
    expect(known).toMatchObject({ last: { size: 5 }, failed: [] });
    expect((await machine.cuff('status')).out).toMatch(/^Ledger anchored .* ago \(/m);
    expect((await machine.cuff('doctor')).out).toMatch(/^anchor +ok +.* ago \(/m);
    rmSync(git, { recursive: true });
    await machine.recorded();
    const failed = await machine.cuff('seal', '--json');
    expect(failed.code).toBe(1);
    const trouble = expect.stringMatching(/^git failed: /);
    expect(JSON.parse(failed.out).anchors).toEqual([
      { kind: 'file', where: file, size: expect.any(Number), trouble: null },
      { kind: 'git', where: git, size: expect.any(Number), trouble },
    ]);
    const said = `The ledger was not anchored: git ${git}: git failed: `;
    expect((await machine.cuff('status')).err).toContain(said);
    expect((await machine.cuff('doctor')).out).toMatch(
      /^anchor +warn +The ledger was not anchored/m,
    );
  });

  it('says that a project cannot name anchors, and that there are none', async () => {
    const machine = new Machine();
    await machine.recorded();
    const file = join(machine.dir, 'kept.log');
    writeFileSync(join(machine.project, 'settings.yml'), `seal: {anchor: ["file ${file}"]}\n`);
    const { code, err } = await machine.cuff('seal');
    expect(code).toBe(0);
    expect(err).toContain('is ignored: only your own settings name anchors.\n');
    expect(err).toContain('No anchor is named: the holder of your account could still rewrite');
    expect(existsSync(file)).toBe(false);
    const doctor = (await machine.cuff('doctor')).out;
    expect(doctor).toMatch(/^anchor +warn +seal\.anchor in .* is ignored/m);
  });

  it('shows a code and a key that verify takes, and puts the root where it is told', async () => {
    const machine = new Machine();
    const none = await machine.cuff('seal', 'show');
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('Nothing is sealed yet.')]);
    await machine.recorded();
    const code = (await machine.cuff('seal', 'show')).out.trim();
    expect(code).toMatch(/^CUFF 4 [A-Z2-7]{4}(-[A-Z2-7]{4}){4}$/);
    const json = JSON.parse((await machine.cuff('seal', 'show', '--json')).out);
    expect(json).toMatchObject({ size: 4, code });
    const key = (await machine.cuff('seal', 'key')).out.trim();
    const printed = await machine.cuff('seal', 'anchor', 'print');
    expect(printed.out).toBe(`4 lines sealed: ${code}\n  anchored: print\n`);
    const trailer = `Cuff-Seal: ${json.size}:${json.root}`;
    for (const at of [code, trailer]) {
      const verified = await machine.cuff('verify', '--at', at, '--vkey', key);
      expect([verified.code, verified.out]).toEqual([0, expect.stringMatching(/^1 .*\(given a /)]);
    }
    const wrong = await machine.cuff('seal', 'anchor', 'file', 'relative');
    expect([wrong.code, wrong.err]).toEqual([
      2,
      "cuff: 'file relative': file takes an absolute path.\nSee `cuff seal help anchor`.\n",
    ]);
    machine.settings('[]\n  enabled: false');
    const off = await machine.cuff('seal');
    expect([off.code, off.err]).toEqual([2, expect.stringContaining('is turned off')]);
  });
});

describe('a person', () => {
  it('rotates the key, and the old one still verifies', async () => {
    const machine = new Machine();
    await machine.recorded();
    const old = (await machine.cuff('seal', 'key')).out.trim();
    const rotated = await machine.cuff('seal', 'rotate');
    expect([rotated.code, rotated.err]).toEqual([0, expect.stringContaining('your witnesses')]);
    expect((await machine.cuff('seal', 'key')).out).toBe(rotated.out);
    await machine.recorded();
    for (const key of [old, rotated.out.trim()]) {
      const { code, out } = await machine.cuff('verify', '--vkey', key);
      expect([code, out]).toEqual([0, expect.stringMatching(/^2 .*: as they were sealed/)]);
    }
  });

  it('forgets a journal that is gone, and no other', async () => {
    const machine = new Machine();
    await machine.recorded();
    const journal = join(machine.project, '.cuff', 'recordings');
    const forget = (which: string) => machine.cuff('seal', 'forget', which, '--why', 'it moved');
    const there = await forget(journal);
    expect([there.code, there.err]).toEqual([2, expect.stringContaining('is still there: ')]);
    const unknown = await forget('/nowhere');
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("'/nowhere'")]);
    rmSync(journal, { recursive: true });
    expect((await machine.cuff('verify', '--all')).out).toMatch(
      /journal gone \(last seen .*\): 1 sealed entry$/m,
    );
    const done = await forget(journal);
    expect([done.code, done.err]).toEqual([0, `Forgotten: ${journal}, 1 entry.\n`]);
    const after = (await machine.cuff('verify', '--all')).out;
    expect(after).toContain('was deleted (user: it moved)');
    expect(after).not.toContain('journal gone');
    expect((await forget(journal)).err).toContain('It was forgotten before');
  });

  it('begins a ledger, keeps a broken one aside, and lets a sound one be', async () => {
    const machine = new Machine();
    const first = await machine.cuff('seal', '--init');
    expect([first.code, first.out]).toEqual([0, (await machine.cuff('seal', 'key')).out]);
    await machine.recorded();
    const sound = await machine.cuff('seal', '--init');
    expect([sound.code, sound.err]).toEqual([2, expect.stringContaining('and it is sound')]);
    rmSync(join(machine.state, 'seal', 'key'));
    const broken = await machine.cuff('seal');
    expect([broken.code, broken.err]).toEqual([1, expect.stringContaining('its key is gone')]);
    const anew = await machine.cuff('seal', '--init', '--json');
    const { aside, vkey } = JSON.parse(anew.out);
    expect(readdirSync(aside)).toContain('leaves');
    expect(vkey).not.toBe(first.out.trim());
    await machine.recorded();
    const { out } = await machine.cuff('verify');
    expect(out).toContain('1 sealed entry in ');
    expect(out).toContain('1 line of the journal without a seal: nothing is proven about that');
  });

  it('does these, and no agent', async () => {
    const machine = new Machine();
    await machine.recorded();
    const before = readFileSync(join(machine.state, 'seal', 'leaves'), 'utf8');
    const calls = [['--init'], ['rotate'], ['forget', '/x', '--why', 'y']];
    for (const args of calls) {
      const { code, err } = await machine.with({ CLAUDECODE: '1' }, 'seal', ...args);
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/^cuff: An agent cannot .*: CLAUDECODE/),
      ]);
    }
    expect(readFileSync(join(machine.state, 'seal', 'leaves'), 'utf8')).toBe(before);
    // What only adds is open to all.
    expect((await machine.with({ CLAUDECODE: '1' }, 'seal')).code).toBe(0);
  });
});
