// What a decision costs as a process: `cuff hook`, which an agent waits for before every command,
// and `cuff policy check`, both under 700 rules that were read before, against a start of Node that
// does nothing. The command is allowed: the entry of one that is denied is written when the client
// has its answer.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { interleave, timed } from './measure.mjs';

const CUFF = fileURLToPath(new URL('../dist/cuff.cjs', import.meta.url));
const RULES = 700;
const COMMAND = 'tool7 stop1 a && tool8 list1 b | tool9 add1';
const LEARNING = 9; // starts in which the cache of compiled code still grows
const VERBS = ['build', 'test', 'lint', 'run', 'deploy', 'check', 'start', 'stop', 'list', 'add'];

export const hookRows = [
  {
    name: 'hook',
    what: `cuff hook before a command, ${RULES} rules, against node -e 0`,
    unit: 'ms',
    target: { ratio: ['<=', 2.5] },
    measure: ({ dir, rounds }) => against(dir, rounds(40), ['hook']),
  },
  {
    name: 'policy-check',
    what: `cuff policy check of a command, ${RULES} rules, against node -e 0`,
    unit: 'ms',
    target: { ratio: ['<=', 2.5] },
    measure: ({ dir, rounds }) => {
      mkdirSync(join(dir, 'state'), { mode: 0o700 }); // as a hook before it has made it
      return against(dir, rounds(40), ['policy', 'check', COMMAND]);
    },
  },
];

function against(dir, count, words) {
  const project = join(dir, 'project');
  mkdirSync(join(project, '.cuff'), { recursive: true });
  writeFileSync(join(project, '.cuff', 'policy.yml'), policy());
  const env = { PATH: process.env.PATH, HOME: dir, CUFF_STATE_ROOT: join(dir, 'state') };
  const input = JSON.stringify({
    ...{ session_id: 's', transcript_path: '/t/s.jsonl', cwd: project, permission_mode: 'default' },
    ...{ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_use_id: 't' },
    tool_input: { command: COMMAND },
  });
  const options = { env, input, cwd: project };
  return interleave(
    count,
    {
      ours: () => timed(() => run([CUFF, ...words], options)),
      baseline: () => timed(() => run(['-e', '0'], options)),
    },
    { warmUp: LEARNING },
  );
}

function policy() {
  const rules = Array.from({ length: RULES }, (_, at) => {
    const pattern = `tool${at % 70} ${VERBS[at % 10]}${Math.floor(at / 70)} *`;
    const decision = at % 20 === 0 ? 'deny' : 'allow';
    return `      - { pattern: "${pattern}", decision: ${decision}, args: any, stdin: any }`;
  });
  const head = 'default: ask\npolicies:\n  - name: all\n    description: many\n    commands:\n';
  return `${head}${rules.join('\n')}\n`;
}

function run(args, options) {
  const { status, error } = spawnSync(process.execPath, args, options);
  if (status !== 0) throw error ?? new Error(`exit status ${status}`);
}
