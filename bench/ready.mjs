// How long an agent waits for its tools: from the spawn of `cuff mcp` to the answer to
// `tools/list`, each dialect in turn, against the start and end of Node alone. Clients allow 0.8 s
// and more.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { interleave, timed } from './measure.mjs';

const CUFF = fileURLToPath(new URL('../dist/cuff.cjs', import.meta.url));
const DIALECTS = [
  'bash_recorder',
  'claude_code',
  'codex',
  'cuff_shell',
  'phoenix_bash',
  'pipe_bash',
];
const SETTINGS = 'plugins: { bash_recorder: { config: { execution: { max_timeout: 900 } } } }\n';

export const readyRows = [
  {
    name: 'mcp-ready',
    what: 'spawn of `cuff mcp` until tools/list is answered, each dialect, against `node -e 0`',
    unit: 'ms',
    target: { ratio: ['<=', 3] },
    measure: ({ dir, rounds }) => measure(dir, rounds(10), undefined),
  },
  {
    name: 'mcp-ready-settings',
    what: 'the same with settings that a server has started with before',
    unit: 'ms',
    target: { ratio: ['<=', 3] },
    measure: ({ dir, rounds }) => measure(dir, rounds(10), SETTINGS),
  },
];

async function measure(dir, count, settings) {
  const home = join(dir, 'home');
  mkdirSync(join(home, '.config', 'cuff'), { recursive: true });
  if (settings) writeFileSync(join(home, '.config', 'cuff', 'settings.yml'), settings);
  const { PATH } = process.env;
  const options = { cwd: dir, env: { PATH, HOME: home, CUFF_STATE_ROOT: join(dir, 'state') } };
  let turn = 0;
  const sides = {
    ours: () => ready(DIALECTS[turn++ % DIALECTS.length], options),
    baseline: () => timed(() => once(spawn(process.execPath, ['-e', '0'], options), 'exit')),
  };
  return interleave(count * DIALECTS.length, sides, { warmUp: DIALECTS.length });
}

async function ready(dialect, options) {
  const args = [CUFF, 'mcp', '--dialect', dialect];
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
  const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'bench', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  say({ id: 1, method: 'initialize', params });
  await line(child.stdout);
  say({ method: 'notifications/initialized' });
  say({ id: 2, method: 'tools/list' });
  await line(child.stdout);
  const took = performance.now() - startedAt;
  child.stdin.end();
  await once(child, 'exit');
  return took;
}

/** Answers come one at a time here. */
async function line(stream) {
  let text = '';
  while (!text.endsWith('\n')) text += (await once(stream, 'data'))[0];
  return text;
}
