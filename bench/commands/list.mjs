// The commands that an agent's answers are measured on, and what must be in the answer to each: a
// fact is a text, or texts of which one is enough; `not` names the dialects that cannot tell it.

const SHOWS_REST = [
  'shell_read',
  'Full output: ',
  'Read the rest with',
  'output truncated in middle',
];
// Its seed has pipe_bash show the end.
const LOCK_HEAD = { text: ['"lockfileVersion": 3'], not: ['pipe_bash'] };
const NO_MATCH = ['no match', 'exit code: 1', '"exit_code": 1', 'exit code 1'];

/** `tty`: with a terminal where a dialect has one. */
export const COMMANDS = [
  {
    name: 'test run, failure in the middle',
    command: 'node say.mjs tests',
    facts: ['applies the voucher once', 'expected 85 to be 90', 'Tests  1 failed | 1800 passed'],
  },
  {
    name: 'build log, error in the middle',
    command: 'node say.mjs make',
    facts: ["socket.c:212:17: error: 'struct conn'", 'not remade because of errors'],
  },
  {
    name: 'compiler errors',
    command: 'node say.mjs tsc',
    facts: ["Cannot find name 'startServer'", 'Found 41 errors in 22 files'],
  },
  {
    name: 'progress bars',
    command: 'node say.mjs npm',
    facts: ['added 312 packages', '2 moderate severity'],
  },
  { name: 'compiling', command: 'node say.mjs cargo', facts: ['unused variable: `retries`'] },
  {
    name: 'migration',
    command: 'node say.mjs migrate',
    facts: [
      { text: ['0042_split_orders done'], not: ['bash_recorder'] },
      { text: [...SHOWS_REST, 'batch 1:'] },
    ],
  },
  {
    name: 'container build',
    command: 'node say.mjs container',
    facts: ['No matching distribution found for torch==9.9.9', 'failed to solve'],
  },
  { name: 'short test failure', command: 'node say.mjs pytest', facts: ['assert 100 == 119'] },
  {
    name: 'task runner',
    command: 'node say.mjs gradle',
    facts: ['Unresolved reference: PaymentGateway', 'BUILD FAILED in 38s'],
  },
  {
    name: 'plan',
    command: 'node say.mjs terraform',
    facts: ['Plan: 1 to add', 'will be destroyed'],
  },
  { name: 'colours', command: 'node say.mjs eslint', facts: ['no-console', '2 problems'] },
  { name: 'one line of json', command: 'node say.mjs api', facts: ['"status":"ok"'] },
  {
    name: 'warning on stderr',
    command: 'node say.mjs warnings',
    facts: ['DeprecationWarning', 'dist/app.js (148 kB)'],
  },
  { name: 'menu', command: 'node say.mjs menu', facts: ['Database · postgres'], tty: true },
  { name: 'stack trace', command: 'node say.mjs crash', facts: ['TypeError: Cannot read prop'] },
  { name: 'passing tests', command: 'node say.mjs passing', facts: ['Tests  96 passed (96)'] },
  {
    name: 'cause on stderr',
    command: 'node say.mjs deploy',
    facts: ['fatal: authentication failed'],
  },
  {
    name: 'git log',
    command: 'git log --stat -12',
    facts: ['module-10: part 90 counts twice'],
  },
  { name: 'git status', command: 'git status', facts: ['src/module-1/part-1.ts', 'src/new.ts'] },
  { name: 'git diff', command: 'git diff', facts: ['+export const added = true;'] },
  { name: 'git show', command: 'git show HEAD~3', facts: ['part 87 counts twice'] },
  { name: 'big ls', command: 'ls -la node_modules', facts: ['array-core'] },
  { name: 'find', command: "find src -name '*.ts' | sort", facts: ['src/module-0/part-0.ts'] },
  { name: 'grep', command: 'grep -rn LATER src | sort', facts: ['LATER(0): remove'] },
  {
    name: 'grep without a match',
    command: 'grep -rn legacyToken src',
    facts: [{ text: NO_MATCH }],
  },
  { name: 'json file', command: 'cat package-lock.json', facts: [LOCK_HEAD] },
  {
    name: 'file of 3 MB',
    command: 'cat server.log',
    facts: [{ text: SHOWS_REST }],
  },
  { name: 'unicode', command: 'cat src/poem.txt', facts: ['疑是地上霜', '👩‍👩‍👧', 'שלום'] },
  {
    name: 'binary',
    command: 'cat logo.png',
    facts: [{ text: ['PNG', 'is not all UTF-8'] }],
  },
  {
    name: 'text with a NUL',
    command: 'cat mostly.log',
    facts: ['connection reset by peer'],
  },
  {
    name: 'pipe with a failing stage',
    command: 'cat report.csv | wc -l',
    facts: ['report.csv: No such file'],
  },
  { name: 'not executable', command: './tool', facts: ['Permission denied', '126'] },
  { name: 'unknown program', command: 'pnpmx build', facts: ['command not found', '127'] },
  {
    name: 'server left behind',
    command: 'node serve.mjs & until [ -e serve.pid ]; do sleep 0.05; done; echo started',
    facts: ['started', { text: ['node serve.mjs'], not: ['phoenix_bash'] }],
  },
];
