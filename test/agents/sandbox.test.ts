// Commands inside the sandbox of Codex: no connect, no sendto, no getpeername, a home that cannot
// be written. Output and exit code are the command's own there, too, in `cuff run` and in the shell
// that records. Each command has an entry: by the shell, or, where nothing can be written, by the
// hook.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentCase, type Result } from './case.ts';
import { writeConfig } from './clients/client.ts';
import { codex } from './clients/codex.ts';

/** Codex starts a login shell, which sets its own PATH. */
const COMMAND =
  '"$HOME/../bin/cuff" run -- /bin/sh -c "echo out; echo err >&2; touch made; exit 3"';

describe.each([
  ['workspace-write', true],
  ['read-only', false],
] as const)('the sandbox %s of Codex', (mode, writable) => {
  const setting = `sandbox_mode="${mode}"`;

  it('lets a command in cuff run end with its own code', async () => {
    await using one = await AgentCase.start(codex, {});
    const sandbox = [one.program, 'sandbox', '-c', setting, '--'];
    const bare = await one.run([...sandbox, '/bin/sh', '-c', 'echo out; exit 3']);
    expect(bare).toEqual({ code: 3, signal: null, out: 'out\n', err: '' });
    const ours = await one.run([...sandbox, 'cuff', 'run', '--', 'sh', '-c', 'echo out; exit 3']);
    expect(ours).toEqual(bare);
    // Outside of the sandbox its capture comes home, if there was a place for one.
    const { out } = await one.run(['cuff', 'ls', '--json']);
    expect(JSON.parse(out).sessions).toEqual(
      writable ? [expect.objectContaining({ state: 'exited', exit_code: 3 })] : [],
    );
  });

  it('shows the model what a command in cuff run did', async () => {
    await using one = await AgentCase.start(codex, { main: [{ calls: [codex.shell(COMMAND)] }] });
    await one.agent('work [[main]]', { permissions: 'rules', args: ['-c', setting] });
    const [result] = one.model.results('main');
    expect(result?.text).toContain('Process exited with code 3');
    expect(result?.text).toContain('out\n');
    expect(result?.text).toContain('err\n');
    expect(existsSync(join(one.project, 'made'))).toBe(writable);
  });
});

const COMMANDS = ['echo out; exit 3', 'touch made; kill -TERM $$'];

const POLICY =
  'default: allow\npolicies:\n  - commands: [{ pattern: touch made, decision: deny }]\n';

/** Codex that does all commands in its sandbox, after `cuff init` with these options, if any. */
async function worked(mode: string, init: readonly string[], policy = ''): Promise<AgentCase> {
  const main = COMMANDS.map((command) => ({ calls: [codex.shell(command)] }));
  const one = await AgentCase.start(codex, { main });
  if (policy !== '') writeConfig(join(one.home, '.config', 'cuff', 'policy.yml'), policy);
  const given: Partial<Result> = init.length === 0 ? { code: 0 } : await one.cuff(...init);
  expect(given).toMatchObject({ code: 0 });
  const args = ['-c', `sandbox_mode="${mode}"`];
  await one.agent('work [[main]]', { permissions: 'rules', args });
  await one.quiet();
  return one;
}

function told(one: AgentCase): string[] {
  return one.model.results('main').map(({ text }) => one.neutral(text));
}

const INIT = ['init', '--client', 'codex', '--yes'];

/** Agents that no shell has started have no SHLVL, and the cases have none. */
describe.each([
  ['workspace-write', 'shell', [3, null], ['signaled', 'exited']],
  ['read-only', 'hook', [null, null], []],
] as const)(
  'the shell that records in the sandbox %s of Codex',
  (mode, source, codes, captures) => {
    it('tells the model the same, and each command has an entry', async () => {
      await using bare = await worked(mode, []);
      await using one = await worked(mode, [...INIT, '--shell', '--hooks']);
      expect(told(bare)).toEqual([
        expect.stringContaining('Process exited with code 3\n'),
        expect.stringContaining('Process exited with code 143\n'),
      ]);
      expect(told(one)).toEqual(told(bare));
      expect(one.entries()).toMatchObject(
        COMMANDS.map((command, i) => ({ command, source, exit_code: codes[i] })),
      );
      const { out } = await one.run(['cuff', 'ls', '--json']);
      expect(JSON.parse(out).sessions.map((run: { state: string }) => run.state)).toEqual(captures);
    });

    it('runs nothing that is denied, without a hook', async () => {
      await using one = await worked(mode, [...INIT, '--shell'], POLICY);
      expect(told(one)[1]).toContain('Process exited with code 126\n');
      expect(told(one)[1]).toContain('cuff policy: denied');
      expect(existsSync(join(one.project, 'made'))).toBe(false);
    });
  },
);
