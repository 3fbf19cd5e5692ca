// Typing into a run: into which one it can be done, what the answer has, what a policy says.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { World } from '../../recorder/helper.ts';
import { Native, type Said } from './helper.ts';

const TTY = { tty: true };

/** Waits for what a program prints, however late it is. */
async function until(native: Native, said: Said, id: string, wanted: RegExp): Promise<string> {
  let { text } = said;
  for (let i = 0; i < 20 && !wanted.test(text); i += 1) {
    const more = await native.call('shell_wait', { id, for: wanted.source, regex: true });
    text += more.text;
  }
  return text;
}

describe('shell_write', () => {
  it('types into a run that has a terminal, and shows what is new', async () => {
    const { native, said } = await Native.started('cat -', /still running/, TTY);
    const { id } = said;
    const typed = await native.call('shell_write', { id, text: 'first\n' });
    expect(await until(native, typed, id, /first\r?\nfirst/)).toMatch(/first\nfirst/);
    const again = await native.call('shell_write', { id, text: 'second\n' });
    expect(again.text).not.toContain('first');
    await native.call('shell_write', { id, text: '\u0004' });
    const over = await native.call('shell_wait', { id });
    expect(over.trailer[0]).toMatch(/^exit 0, /);
    const late = await native.call('shell_write', { id, text: 'x' });
    expect([late.success, late.text]).toEqual([false, expect.stringContaining('is over')]);
  });

  it('says that a run has no terminal, and how it gets one', async () => {
    const { native, said } = await Native.started('exec sleep 100', /still running/);
    const typed = await native.call('shell_write', { id: said.id, text: 'x\n' });
    expect([typed.success, typed.text]).toEqual([
      false,
      'This run has no terminal: start it with tty true, or give it stdin.',
    ]);
    await native.call('shell_kill', { id: said.id });
  });

  it('asks the policy about what is typed into a shell', async () => {
    const policy = [
      'default: allow',
      'policies:',
      '  - name: test',
      '    commands:',
      '      - pattern: touch *',
      '        decision: deny',
      '',
    ].join('\n');
    const native = await Native.open({}, new World({ policy }));
    const { id } = await native.run('bash --norc --noprofile', { ...TTY, wait_ms: 300 });
    const denied = await native.call('shell_write', { id, text: 'touch made\n' });
    expect(denied.text).toMatch(/^cuff policy: denied/);
    expect(existsSync(join(native.world.project, 'made'))).toBe(false);
    await native.call('shell_kill', { id });
  });

  it('asks about what follows a command that may take it from the shell', async () => {
    const native = await Native.open({}, new World({ policy: 'default: allow\npolicies: []\n' }));
    const { id } = await native.run('bash --norc --noprofile', { ...TTY, wait_ms: 300 });
    await native.call('shell_write', { id, text: 'read -n 6 x\n' });
    const asked = await native.call('shell_write', { id, text: "echo 'echo > .git/config #'\n" });
    expect(asked.text).toMatch(/^cuff policy: needs approval/);
    await native.call('shell_kill', { id });
  });
});

it('a run with a terminal knows which kind it is, unless the call says another', async () => {
  const { TERM: _, ...env } = process.env;
  const native = await Native.open({}, new World({ env }));
  expect((await native.run('echo "[$TERM]"', TTY)).text).toContain('[xterm-256color]');
  const other = { ...TTY, env: { TERM: 'vt100' } };
  expect((await native.run('echo "[$TERM]"', other)).text).toContain('[vt100]');
});

describe('view grep', () => {
  it('shows only the lines that match, of both streams, with the call for all', async () => {
    const native = await Native.open();
    const said = await native.run('seq 20; echo e1 >&2', { view: 'grep', pattern: '1$' });
    expect(said.body).toBe('1: 1\n11: 11\nstderr 1: e1\n');
    expect(said.trailer[0]).toMatch(/^3 matching lines; all lines: shell_read \{"id":"\w+"\}$/);
    const none = await native.run('seq 3', { view: 'grep', pattern: 'x' });
    expect(none.body).toBe('(no matching line)\n');
  });

  it('answers without the search where its pattern takes too long', async () => {
    const native = await Native.open();
    const slow = { view: 'grep', pattern: '(a+)+$' };
    const { text } = await native.run("printf '%060000db' 0 | tr 0 a; exit 3", slow);
    expect(text).toContain('not searched: The regular expression takes too long');
    expect(text).toContain('exit 3');
    expect(text).toMatch(/shell_read \{"id":"[^"]+"/);
  });

  it.each([
    [{ view: 'grep' }, 'view grep needs the argument pattern'],
    [{ pattern: 'x' }, 'pattern belongs to view grep'],
    [{ view: 'grep', pattern: '(' }, 'Invalid regular expression'],
  ])('is refused before anything runs: %j', async (args, why) => {
    const native = await Native.open();
    const said = await native.run('touch made', args);
    expect([said.success, said.text]).toEqual([false, expect.stringContaining(why)]);
    expect(existsSync(join(native.world.project, 'made'))).toBe(false);
  });
});
