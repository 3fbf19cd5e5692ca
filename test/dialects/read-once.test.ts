// What one call opens of the capture of its run: each file once, for the entry and the answer
// together, as long as the output is small. Counted in the server's own process.
import * as fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RecorderPlugin } from '../../src/dialects/bash_recorder/dialect.ts';
import { ClaudeCode } from '../../src/dialects/claude_code/dialect.ts';
import { Codex } from '../../src/dialects/codex/dialect.ts';
import { CuffShellPlugin } from '../../src/dialects/cuff_shell/dialect.ts';
import { PhoenixBashPlugin } from '../../src/dialects/phoenix_bash/dialect.ts';
import { PipeBashPlugin } from '../../src/dialects/pipe_bash/dialect.ts';
import type { PluginClass } from '../../src/host/plugin.ts';
import { call, World } from '../recorder/helper.ts';

type Opens = Readonly<Record<string, number>>;

const WATCHED = ['meta.json', 'final.json', 'index.jsonl', 'output.bin', 'trace.bin'];

/** How often each file below `root` is opened for reading during `work`. */
async function opensDuring(root: string, work: () => Promise<unknown>): Promise<Opens> {
  const real = createRequire(import.meta.url)('node:fs') as { openSync: typeof fs.openSync };
  const { openSync } = real;
  const counts = new Map<string, number>();
  real.openSync = (path, flags, mode) => {
    const name = basename(String(path));
    const reads = (Number(flags ?? 0) & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) === 0;
    // The server's beginning looks for runs of earlier servers beside the first calls.
    const ofCall = new Error().stack?.includes('/recorder/recovery.ts') === false;
    if (String(path).startsWith(root) && reads && ofCall && WATCHED.includes(name)) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return openSync(path, flags, mode);
  };
  syncBuiltinESMExports();
  const restore = (): void => {
    real.openSync = openSync;
    syncBuiltinESMExports();
  };
  onTestFinished(restore);
  await work();
  restore();
  return Object.fromEntries(WATCHED.map((name) => [name, counts.get(name) ?? 0]));
}

const ONCE: Opens = {
  'meta.json': 1,
  'final.json': 1,
  'index.jsonl': 1,
  'output.bin': 1,
  'trace.bin': 1,
};

const CALLS: readonly (readonly [PluginClass, string, Readonly<Record<string, unknown>>])[] = [
  [CuffShellPlugin, 'shell_run', { command: 'echo hello' }],
  [RecorderPlugin, 'execute', { command: 'echo hello' }],
  [ClaudeCode, 'Bash', { command: 'echo hello' }],
  [Codex, 'exec_command', { cmd: 'echo hello' }],
  [PhoenixBashPlugin, 'bash', { command: 'echo hello' }],
  [PipeBashPlugin, 'bash', { command: 'echo hello' }],
];

it.each(CALLS)('a call of %o opens each file of the capture once', async (of, tool, args) => {
  const world = new World();
  const plugin = await world.open(of, { recording: { trace: 'on' } });
  await call(plugin, tool, args); // what only the first call does is no part of this
  const sessions = join(world.stateRoot, 'sessions');
  const opens = await opensDuring(sessions, () => call(plugin, tool, args));
  expect(opens).toEqual(ONCE);
});

const SILENT_CALLS = CALLS.map(([of, tool, args]) => {
  const silent = Object.keys(args).map((name) => [name, 'true']);
  return [of, tool, Object.fromEntries(silent)] as const;
});

it.each(SILENT_CALLS)(
  'a call of %o opens nothing if nothing was printed',
  async (of, tool, args) => {
    const world = new World();
    const plugin = await world.open(of, { recording: { trace: 'off' } });
    await call(plugin, tool, args);
    const sessions = join(world.stateRoot, 'sessions');
    const opens = await opensDuring(sessions, () => call(plugin, tool, args));
    expect(opens).toEqual(Object.fromEntries(WATCHED.map((name) => [name, 0])));
  },
);
