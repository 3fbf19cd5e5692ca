// A run of which nothing need be read, because there is nothing: only when that is certain.
import { expect, it } from 'vitest';
import type { StartOptions } from '../../src/shell/shell.ts';
import { describeBackends, world } from './backends.ts';

const CASES: readonly (readonly [string, boolean, string, StartOptions])[] = [
  ['does nothing', true, 'true', {}],
  ['fails', true, 'exit 3', {}],
  ['is killed', true, 'kill -9 $$', {}],
  ['prints', false, 'echo x', {}],
  ['prints an error', false, 'echo x >&2', {}],
  ['prints to memory', false, 'echo x', { output: 'memory' }],
  ['leaves somebody behind', false, 'sleep 100 &', {}],
  ['leaves somebody behind who cannot print', false, 'sleep 100 >/dev/null 2>&1 &', {}],
  ['could not be started', false, '', { cwd: '/' }],
];

describeBackends('a command that', (backend) => {
  it.each(CASES)('%s: silent is %s', async (name, silent, command, options) => {
    const here = world(backend);
    const none = { kind: 'argv', argv: ['/no/such/program'] } as const;
    const run = here.start(name === 'could not be started' ? none : command, options);
    expect(run.silent).toBe(false);
    await run.done;
    expect(run.silent).toBe(silent);
  });

  it('prints what cannot be kept is not silent', async () => {
    const run = world(backend, { outputBytesMax: 0 }).start('echo x');
    await run.done;
    expect(run.silent).toBe(false);
  });
});
