// What the shell that records costs an agent, against the bare `bash -c true`: a recorded call,
// with its entry on the disk, the same without a helper that stays, and one that becomes bash.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { interleave, timed } from './measure.mjs';

const CUFF = fileURLToPath(new URL('../dist/cuff.cjs', import.meta.url));

export const shellRows = [
  {
    name: 'sh',
    what: "bash -c true in an agent's shell, recorded before it ends, against bash -c true",
    unit: 'ms',
    target: undefined,
    measure: (bench) => against(bench, { QWEN_CODE: '1' }),
  },
  {
    name: 'sh-alone',
    what: 'the same where no helper may stay: both are started by setpriv --no-new-privs',
    unit: 'ms',
    target: undefined,
    measure: (bench) => against(bench, { QWEN_CODE: '1' }, ['setpriv', '--no-new-privs']),
  },
  {
    name: 'sh-plain',
    what: 'the same without an agent: the client becomes bash',
    unit: 'ms',
    target: undefined,
    measure: (bench) => against(bench, {}),
  },
];

function against({ dir, rounds }, agent, front = []) {
  const root = join(dir, 'state');
  const cwd = join(dir, 'project');
  mkdirSync(cwd, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: dir, CUFF_STATE_ROOT: root };
  const shell = join(root, 'shells', 'bash');
  if (!existsSync(shell)) run(process.execPath, [CUFF, 'sh', '-c', 'true'], { env, cwd });
  const start = (program, variables) => {
    const [file, ...args] = [...front, program, '-c', 'true'];
    return timed(() => run(file, args, { env: { ...env, ...variables }, cwd }));
  };
  return interleave(rounds(60), {
    ours: () => start(shell, agent),
    baseline: () => start('/bin/bash', {}),
  });
}

function run(program, args, options) {
  const { status, error } = spawnSync(program, args, { ...options, stdio: 'ignore' });
  if (status !== 0) throw error ?? new Error(`${program}: exit status ${status}`);
}
