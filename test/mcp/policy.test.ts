// A policy over MCP, with the built server: approving at a terminal, and calls while the policy
// changes.
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../cli/helper.ts';
import { POLICY } from '../dialects/policy-helper.ts';
import { answers, clientNamed, Guarded, run } from './policy-life.ts';

describe('a client without questions', () => {
  it('is told what to do, and a person at a terminal says yes, once or always', async () => {
    const life = new Guarded(POLICY);
    const connect = clientNamed('by hand');
    const client = await life.connect(connect, 'cuff', '--dialect', 'cuff_shell');
    const asked = async (command: string): Promise<string> => {
      const { text } = await run(client, command);
      return (
        /Ask the person to run this, .*: cuff policy approve ([a-z2-7]{8})$/.exec(text)?.[1] ?? text
      );
    };
    const id = await asked('touch here');
    expect((await life.cuff('policy', 'approve')).out).toContain(`${id}  touch here`);
    expect(await life.cuff('policy', 'approve', id)).toMatchObject({ code: 0, err: '' });
    expect(await run(client, 'touch here')).toMatchObject({ isError: false, refused: false });
    expect(life.made('here')).toBe(true);
    rmSync(join(life.project, 'here'));
    const again = await asked('touch here');
    expect(again).not.toBe(id);
    expect(life.made('here')).toBe(false);

    expect((await life.cuff('policy', 'approve', again, '--always')).code).toBe(0);
    expect(life.policyText).toContain('# Nobody else');
    // At once: a moment later the agent would be told to ask somebody who has just said yes.
    expect(await run(client, 'touch here')).toMatchObject({ isError: false, refused: false });
    expect((await life.cuff('policy', 'approve', again)).code).toBe(2);
    const mine = await asked('touch mine');
    expect((await life.cuff('policy', 'approve', mine, '--user')).code).toBe(0);
    expect(await run(client, 'touch mine')).toMatchObject({ isError: false, refused: false });
    const denied = await asked('touch other');
    life.policy(POLICY.replace('touch denied', 'touch other'));
    const no = await life.cuff('policy', 'approve', denied);
    expect([no.code, no.err]).toEqual([2, expect.stringContaining('This cannot be approved.')]);
  });

  it('cannot say yes to itself', async () => {
    const life = new Guarded('default: allow\npolicies: [{ name: x, commands: [] }]\n');
    const connect = clientNamed('by hand');
    const client = await life.connect(connect, 'cuff', '--dialect', 'cuff_shell');
    life.policy('default: ask\npolicies: [{ name: x, commands: [] }]\n');
    await answers(() => run(client, 'touch x'), true);
    const id = /approve ([a-z2-7]{8})$/.exec((await run(client, 'touch x')).text)?.[1];
    life.policy(`mode: record\ndefault: allow\n`);
    await answers(() => run(client, 'touch y'), false);
    const [, [, , , , cuff]] = life.command('cuff');
    const { text } = await run(
      client,
      `setsid -w ${process.execPath} ${cuff} policy approve ${id}`,
    );
    expect(text).toContain('An agent cannot approve its own commands.');
  });

  it('cannot say yes to itself where nothing is recorded, nor with another root', async () => {
    const life = new Guarded(POLICY);
    life.settings('plugins: { cuff_shell: { config: { recording: { enabled: false } } } }\n');
    const connect = clientNamed('by hand');
    const client = await life.connect(connect, 'cuff', '--dialect', 'cuff_shell');
    const id = /approve ([a-z2-7]{8})$/.exec((await run(client, 'touch x')).text)?.[1] ?? '';
    life.policy('mode: record\ndefault: allow\n');
    await answers(() => run(client, 'touch y'), false);
    const [, [, , , node, cuff]] = life.command('cuff');
    const fake = join(life.project, 'fake');
    mkdirSync(join(fake, 'derun'), { recursive: true });
    const approve = `${node} ${cuff} policy approve ${id}`;
    const tries = [{ command: approve }, { command: approve, tty: true }];
    const root = { CUFF_STATE_ROOT: '', DERUN_STATE_ROOT: '', XDG_STATE_HOME: fake };
    for (const one of [...tries, { command: approve, env: root }]) {
      const { text } = await client.call('shell_run', one);
      expect([one, text]).toEqual([one, expect.stringMatching(NOT_APPROVED)]);
    }
    // Questions that were copied there are answered for nobody, and by no agent.
    cpSync(join(life.cli.root, 'approvals'), join(fake, 'derun', 'approvals'), { recursive: true });
    const { text } = await client.call('shell_run', { command: approve, env: root });
    expect(text).toContain('An agent cannot approve its own commands.');
    expect((await life.cuff('policy', 'approve')).out).toContain(`${id}  touch x`);
  });
});

const NOT_APPROVED = /An agent cannot approve its own commands\.|Nothing waits for an answer/;

describe('a person', () => {
  it('sees what comes with a command first, and is believed outside of runs only', async () => {
    const life = new Guarded(POLICY);
    const client = await life.connect(clientNamed('by hand'), 'cuff', '--dialect', 'cuff_shell');
    const asked = {
      command: 'git log -1; python3 -',
      env: { GIT_PAGER: 'touch paged' },
      stdin: 'open("made", "w")',
    };
    const { text: refusal } = await client.call('shell_run', asked);
    const id = /approve ([a-z2-7]{8})$/.exec(refusal)?.[1] ?? refusal;
    const [, [, , , node = '', cuff = '']] = life.command('cuff');
    const words = [node, cuff, 'policy', 'approve', id];
    const said = async (...before: readonly string[]): Promise<string> => {
      const line = [...before, ...words].join(' ');
      // The fork of setsid has lost its parent, so that no ancestor may be an agent's.
      const typed = `printf 'y\\n' | script -qec '${line}' /dev/null >${life.project}/said`;
      const detached = `setsid --fork sh -c "${typed}; touch ${life.project}/over"`;
      const { XDG_CONFIG_HOME = '' } = life.env;
      life.cli.start(['sh', '-c', detached], { env: { HOME: life.project, XDG_CONFIG_HOME } });
      await until(() => life.made('over'), 'it ends');
      rmSync(join(life.project, 'over'));
      return readFileSync(join(life.project, 'said'), 'utf8').replaceAll('\r', '');
    };
    expect(await said(node, cuff, 'run', '--')).toContain(
      'An agent cannot approve its own commands.',
    );
    const shown = await said();
    const lines = ["with GIT_PAGER='touch paged'", 'with this input:', 'open("made", "w")'];
    for (const line of [...lines, 'Allow this once?', 'Approved once']) {
      expect(shown).toContain(line);
    }
    expect(shown.indexOf('touch paged')).toBeLessThan(shown.indexOf('Allow this once?'));
    expect(await client.call('shell_run', asked)).toMatchObject({ isError: false });
    expect(life.made('made')).toBe(true);
  });
});

const FLIPS = 8;

describe('a server', () => {
  it('decides each of many calls by one version of a policy that changes', async () => {
    const version = (program: string): string =>
      `default: allow\npolicies:\n  - name: ${program}\n    commands:\n` +
      `      - { pattern: ${program} *, decision: deny }\n`;
    const life = new Guarded(version('touch'));
    const connect = clientNamed('by hand');
    const client = await life.connect(connect, 'cuff', '--dialect', 'cuff_shell');
    // Under each version exactly one of the two is denied, so that the whole is under both.
    const command = (i: number): string => `touch a${i}; mkdir b${i}`;
    const texts: string[] = [];
    for (let flip = 0; flip < FLIPS; flip += 1) {
      const denied = flip % 2 === 0 ? 'mkdir' : 'touch';
      life.policy(version(denied));
      // Calls go on until the new version is what decides.
      for (let taken = false; !taken; ) {
        const calls = Array.from({ length: 50 }, (_, i) => run(client, command(i)));
        const said = await Promise.all(calls);
        expect(said.every(({ refused }) => refused)).toBe(true);
        texts.push(...said.map(({ text }) => text));
        taken = said.some(({ text }) => text.includes(`The rule \`${denied} *\``));
      }
    }
    const rules = new Set(texts.map((text) => /The rule `(\w+) \*`/.exec(text)?.[1] ?? text));
    expect([...rules].sort()).toEqual(['mkdir', 'touch']);
    expect(life.made('a0') || life.made('b0')).toBe(false);
    // A version that is wrong changes nothing.
    life.policy('policies: wrong\n');
    await until(() => life.log.includes('Policy not taken'), 'the server has seen it');
    expect((await run(client, command(0))).text).toContain('cuff policy: denied');
  });

  it.each(['cuff_shell', 'bash_recorder'])('%s says in its status what is wrong', async (name) => {
    const life = new Guarded('default: allow\n');
    await life.connect(clientNamed('by hand'), 'cuff', '--dialect', name);
    const status = async (): Promise<string> => {
      const { code, out, err } = await life.cuff('status');
      return `${code} ${out}${err}`;
    };
    expect(await status()).toMatch(/^0 [\s\S]* ok /);
    life.policy('default: alow\n');
    const file = join(life.project, '.cuff', 'policy.yml');
    const wrong = `${file}:1:10: default: must be one of allow, ask, deny`;
    while (!(await status()).includes(wrong));
    expect(await status()).toMatch(/^1 [\s\S]* bad /);
    life.policy('default: allow\n');
    while (!/^0 [\s\S]* ok /.test(await status()));
  });
});
