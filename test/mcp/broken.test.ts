// A server whose policy or settings are wrong: it keeps its tools, runs nothing and says why, and
// goes on when the file is mended. With the built server and real clients.
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FACT_MS_MAX } from '../pace.ts';
import { CLIENTS, HTTP_CLIENTS, type TestClient } from './clients.ts';
import { clientNamed, Guarded } from './policy-life.ts';

const FREE = 'default: allow\n';

class Broken extends Guarded {
  /** The user's own settings. */
  get userFile(): string {
    return join(this.project, 'cuff', 'settings.yml');
  }

  userSettings(text: string): void {
    mkdirSync(dirname(this.userFile), { recursive: true });
    writeFileSync(`${this.userFile}.new`, text);
    renameSync(`${this.userFile}.new`, this.userFile);
  }
}

async function names(client: TestClient): Promise<readonly string[]> {
  return (await client.listTools()).map(({ name }) => name);
}

/** Calls until the server follows the file that was mended. */
async function runs(life: Broken, call: () => Promise<unknown>, made: string): Promise<void> {
  const end = Date.now() + FACT_MS_MAX;
  while (!existsSync(join(life.project, made))) {
    if (Date.now() > end) throw new Error('the mended file is not followed');
    await call();
  }
}

describe.each(Object.entries(CLIENTS))(
  'with a policy that is wrong, the client %s',
  (_, connect) => {
    it('finds its tools, is told which line is wrong, and goes on when it is mended', async () => {
      const life = new Broken('default: allow\npolicies: wrong\n');
      const client = await life.connect(connect, 'cuff', '--dialect', 'cuff_shell');
      expect(await names(client)).toContain('shell_run');
      const { text } = await client.call('shell_run', { command: 'touch made' });
      const file = join(life.project, '.cuff', 'policy.yml');
      expect(text).toMatch(new RegExp(`^cuff policy: not run\\..*\n${file}:2:\\d+: .+\n`));
      expect(text).toContain('Correct the policy');
      expect(await client.call('shell_list')).toMatchObject({ isError: false });
      expect(await client.call('derun_list_sessions')).toMatchObject({ isError: false });
      expect(life.made('made')).toBe(false);
      life.policy(FREE);
      await runs(life, () => client.call('shell_run', { command: 'touch made' }), 'made');
    });
  },
);

describe('a policy that is wrong', () => {
  it('is in the journal as the reason of what was refused', async () => {
    const life = new Broken('mode: enforce\nconfused\n');
    const client = await life.connect(clientNamed('by hand'), 'cuff');
    await client.call('bash_recorder_execute', { command: 'touch made' });
    const facts = await life.entries();
    expect(facts).toMatchObject([
      { command: 'touch made', decision: { verdict: 'deny', code: 'halted', mode: 'enforce' } },
    ]);
  });

  it('holds up a server that runs, if no version of it was ever read', async () => {
    const life = new Broken();
    const client = await life.connect(clientNamed('by hand'), 'cuff', '--dialect', 'codex');
    const run = (cmd: string) => client.call('exec_command', { cmd });
    await run('touch before');
    expect(life.made('before')).toBe(true);
    life.policy('{');
    let text = '';
    while (!text.includes('policy.yml:1:')) ({ text } = await run('true'));
    await run('touch made');
    expect(life.made('made')).toBe(false);
    life.policy(FREE);
    await runs(life, () => run('touch made'), 'made');
  });
});

const WRONG = 'plugins:\n  cuff_shell:\n    enabeld: true\n';
const RIGHT = 'plugins:\n  cuff_shell:\n';

describe('settings of the user that are wrong', () => {
  it('list the tools of the dialect, run nothing, and say where', async () => {
    const life = new Broken();
    life.userSettings(WRONG);
    const client = await life.connect(clientNamed('SDK v1'), 'cuff', '--dialect', 'claude_code');
    expect(await names(client)).toEqual(expect.arrayContaining(['Bash', 'derun_list_sessions']));
    const { text } = await client.call('Bash', { command: 'touch made' });
    expect(text).toContain(`${life.userFile}:3:5: unknown key 'enabeld'`);
    expect(text).toContain('Correct the settings file.');
    expect(await client.call('derun_list_sessions')).toMatchObject({ isError: false });
    expect(life.made('made')).toBe(false);
    expect(life.made(join('.cuff', 'recordings'))).toBe(false);
    life.userSettings(RIGHT);
    await runs(life, () => client.call('Bash', { command: 'touch made' }), 'made');
    expect(await life.entries()).toMatchObject([{ command: 'touch made' }]);
  });

  it('list the default tools, and others once they are mended', async () => {
    const life = new Broken();
    life.userSettings(WRONG);
    const client = await life.connect(clientNamed('SDK v1'), 'cuff');
    expect(await names(client)).toContain('bash_recorder_execute');
    const changed = new Promise<void>((resolve) => void client.onToolsChanged(resolve));
    life.userSettings(RIGHT);
    await changed;
    while (!(await names(client)).includes('shell_run')) await changed;
    await runs(life, () => client.call('shell_run', { command: 'touch made' }), 'made');
  });

  it('list the tools of the last settings that could be read', async () => {
    const life = new Broken();
    life.userSettings(RIGHT);
    const before = await life.connect(clientNamed('by hand'), 'cuff');
    const listed = await names(before);
    life.userSettings(WRONG);
    const client = await life.connect(clientNamed('by hand'), 'cuff');
    expect(await names(client)).toEqual(listed);
    const { text } = await client.call('shell_run', { command: 'touch made' });
    expect(text).toContain(`${life.userFile}:3:5: `);
    expect(life.made('made')).toBe(false);
  });

  it('may be a file that is named and not there', async () => {
    const life = new Broken();
    const client = await life.connect(clientNamed('by hand'), 'cuff', '--settings', 'none.yml');
    const { text } = await client.call('bash_recorder_execute', { command: 'touch made' });
    const file = join(life.project, 'none.yml');
    expect(text).toContain(`${file}: the settings file does not exist`);
    expect(life.made('made')).toBe(false);
    writeFileSync(file, '');
    const call = () => client.call('bash_recorder_execute', { command: 'touch made' });
    await runs(life, call, 'made');
  });

  it('may name a directory that is not there yet', async () => {
    const life = new Broken();
    life.userSettings('plugins: { cuff_shell: { config: { working_directory: later } } }\n');
    const client = await life.connect(clientNamed('by hand'), 'cuff', '--dialect', 'cuff_shell');
    const { text } = await client.call('shell_run', { command: 'touch made' });
    expect(text).toContain(`${life.userFile}:1:`);
    expect(text).toContain(`there is no directory ${join(life.project, 'later')}`);
    mkdirSync(join(life.project, 'later'));
    const call = () => client.call('shell_run', { command: 'touch made' });
    await runs(life, call, join('later', 'made'));
  });

  it('may be two plugins that claim one name', async () => {
    const life = new Broken();
    life.userSettings('plugins: { pipe_bash: , phoenix_bash: }\n');
    const client = await life.connect(clientNamed('by hand'), 'cuff', '--dialect', 'codex');
    expect(await names(client)).toContain('exec_command');
    const two = await life.connect(clientNamed('by hand'), 'cuff');
    expect(await names(two)).toContain('bash_recorder_execute');
    const { text } = await two.call('bash_recorder_execute', { command: 'touch made' });
    expect(text).toContain("both claim the tool name 'bash'");
    expect(life.made('made')).toBe(false);
  });

  it('keep no client by HTTP from its tools either', async () => {
    const life = new Broken();
    life.userSettings(WRONG);
    const { url, token } = await life.http();
    for (const [name, connect] of Object.entries(HTTP_CLIENTS)) {
      const client = await connect(url, token);
      expect([name, await names(client)]).toEqual([name, expect.arrayContaining(['shell_run'])]);
      const { text } = await client.call('shell_run', { command: 'touch made' });
      expect(text).toContain(`${life.userFile}:3:5: `);
      await client.close();
    }
    expect(life.made('made')).toBe(false);
  });
});
