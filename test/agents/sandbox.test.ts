// `cuff run` inside the sandbox of Codex: no connect, no sendto, a home that cannot be written. The
// command's output and exit code are its own there, too.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentCase } from './case.ts';
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
