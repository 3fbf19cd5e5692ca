// A store to look at: real commands in a real project, recorded by the built program, and a week of
// an agent's transcripts imported. Used by the tests of the page and by its screenshots.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const CUFF = join(dirname(fileURLToPath(import.meta.url)), '../dist/cuff.cjs');
const DAY_MS = 86_400_000;

/** Output that means harm: it has to be seen, not obeyed. */
export const HOSTILE = [
  '<img src=x onerror="window.owned=1">',
  '<script>window.owned=2</script>',
  '\x1b]8;;https://evil.example/\x1b\\click me\x1b]8;;\x1b\\',
  '\x1b]0;a title\x07\x1b]52;c;b3duZWQ=\x07after the clipboard',
  'nul:\0:nul',
  'user\u202egnp.exe',
  'zero\u200bwidth',
  '\x1b[31mred\x1b[0m \x1b[1;44mon blue\x1b[0m',
  'half \xff\xfe bytes',
  'javascript:window.owned=3',
];

const POLICY = `version: 2
default: ask
mode: enforce
policies:
  - name: reading
    description: "Looking at the project"
    commands: ["ls *", "cat *", "git {status,diff,log} *"]
  - name: history
    description: "History that others have is not rewritten"
    commands:
      - { pattern: "git push --force *", decision: deny }
`;

/** Directories and the environment of a store at `root`. */
export function storeAt(root) {
  const project = join(root, 'shop');
  const home = join(root, 'home');
  mkdirSync(project, { recursive: true });
  mkdirSync(join(home, '.config/cuff'), { recursive: true });
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    LANG: 'C.UTF-8',
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_RUNTIME_DIR: home,
    CUFF_STATE_ROOT: join(root, 'state'),
    NO_COLOR: '1',
  };
  return { root, project, home, env };
}

export function cuff(store, args, options = {}) {
  const { project: cwd, env } = store;
  const whole = { cwd, env, maxBuffer: 2 ** 30, ...options };
  const made = spawnSync(process.execPath, [CUFF, ...args], whole);
  return { code: made.status, stdout: String(made.stdout), stderr: String(made.stderr) };
}

/** A command of an agent, recorded; the id of its run. */
function recorded(store, session, command, flags = []) {
  const id = `${session}-${store.count}`;
  store.count += 1;
  const journal = ['--journal', '--agent', 'claude', '--session', session];
  const args = ['run', '--session-id', id, ...flags, ...journal, '--', 'bash', '-c', command];
  const { stderr, code } = cuff(store, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  if (code === null || /^cuff: /m.test(stderr)) throw new Error(`cuff run: ${stderr}`);
  return id;
}

/** Everything; `lines` is the length of the long log. */
export async function fillStore(root, { lines = 100_000 } = {}) {
  const store = { ...storeAt(root), count: 1 };
  spawnSync('git', ['init', '-q', store.project]);
  writeFileSync(join(store.home, '.config/cuff/policy.yml'), POLICY);
  importWeek(store);
  const work = (command, flags) => recorded(store, 'checkout-fix', command, flags);
  work('git status --short; echo "On branch main"');
  const colours = work(TESTS);
  const traced = work(BUILD, ['--trace']);
  work('sed -n 1,3p missing.ts; echo "export const price = 3" > price.ts');
  const log = work(`awk 'BEGIN { for (i = 1; i <= ${lines}; i++) ${LOG_LINE} }'`);
  writeFileSync(join(store.project, 'hostile.txt'), Buffer.from(HOSTILE.join('\n'), 'latin1'));
  writeFileSync(join(store.project, 'hostile.txt'), `${HOSTILE.join('\n')}\n`);
  const hostile = work(`cat hostile.txt; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo end`);
  const terminal = work(TERMINAL, ['--tty']);
  work('true');
  await asked(store);
  const session = sessionOf(store, colours);
  return { ...store, session, runs: { colours, traced, log, hostile, terminal } };
}

/** The session in the journal that a run is of. */
export function sessionOf(store, run) {
  const { stdout } = cuff(store, ['record', 'list', '--json', '--limit', '100']);
  const ids = JSON.parse(stdout).sessions.map((one) => one.session_id);
  return ids.find((id) =>
    cuff(store, ['record', 'show', id, '--entries', '--json']).stdout.includes(`"${run}"`),
  );
}

const LOG_LINE = `{
  if (i % 1000 == 0) print "error: line " i " failed";
  else print "compiling module " i " of many" }`;

const TESTS = `printf '\\033[32m✓\\033[0m adds prices (3 ms)\\n\\033[32m✓\\033[0m rounds (1 ms)\\n'
printf '\\033[31m✗\\033[0m \\033[1mapplies the voucher twice\\033[0m\\n' >&2
printf 'AssertionError: expected 90 to be 81\\n    at cart.test.ts:14:9\\n' >&2
printf '\\033[2mTests\\033[0m  1 failed, 2 passed\\n'
exit 1`;

const BUILD = `for f in a b c d; do echo "int $f(void) { return 1; }" > $f.c; done
(sh -c 'ls; cat a.c' | sort) & (sh -c 'cat b.c c.c | wc -l') & wait
for f in a b c d; do sh -c "cat $f.c > /dev/null; echo built $f"; done
ls missing-library.so; echo linked`;

const TERMINAL = `for i in 10 40 70 100; do printf '\\rbuilding %d%%' $i; sleep 0.05; done
printf '\\n\\033[1;32mdone\\033[0m\\n'; tput cols 2>/dev/null`;

/** Two questions of an agent: one is refused, one waits for a person. */
async function asked(store) {
  const { project: cwd, env } = store;
  const server = spawn(process.execPath, [CUFF, 'mcp', '--dialect', 'cuff_shell'], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const answers = new Map();
  createInterface({ input: server.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    answers.get(message.id)?.(message);
  });
  let id = 0;
  const ask = (method, params) => {
    id += 1;
    const answer = new Promise((done) => answers.set(id, done));
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answer;
  };
  const run = (command) => ask('tools/call', { name: 'shell_run', arguments: { command } });
  const clientInfo = { name: 'codex', version: '1' };
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  await run('git push --force origin main');
  await run('rm -rf build');
  await run('ls -1');
  const ended = new Promise((done) => server.once('exit', done));
  server.stdin.end();
  await ended;
}

const COMMANDS = [
  ['npm test', 0, 14_000],
  ['npm run build', 0, 32_000],
  ['git diff --stat', 0, 90],
  ['rg "voucher" src', 0, 60],
  ['npx vitest run src/cart.test.ts', 1, 6_000],
  ['cat package.json', 0, 20],
  ['npm run lint', 1, 9_000],
  ['git commit -am "cart: vouchers apply once"', 0, 300],
  ['node scripts/migrate.js --dry-run', 0, 2_500],
];

/** What an agent did in the days before, by its own transcripts. */
function importWeek(store) {
  const folder = join(store.home, '.claude/projects/-shop');
  mkdirSync(folder, { recursive: true });
  const now = Date.now();
  for (let day = 6; day >= 0; day -= 1) {
    for (let part = 0; part < 3; part += 1) {
      const session = `0000000${day}-000${part}-4000-8000-000000000000`;
      const start = now - day * DAY_MS - (part + 1) * 5_400_000;
      const records = COMMANDS.slice(0, 4 + ((day + part) % 6)).flatMap((one, at) =>
        call(store, session, `${day}-${part}-${at}`, start + at * 120_000, one),
      );
      const text = records.map((one) => `${JSON.stringify(one)}\n`).join('');
      writeFileSync(join(folder, `${session}.jsonl`), text);
    }
  }
  const { code, stderr } = cuff(store, ['record', 'import', '--from', 'claude']);
  if (code !== 0) throw new Error(`cuff record import: ${stderr}`);
}

function call({ project: cwd }, sessionId, id, at, [command, code, took]) {
  const time = (ms) => new Date(ms).toISOString();
  const use = { type: 'tool_use', id, name: 'Bash', input: { command, description: 'why' } };
  const failed = code !== 0;
  const content = failed ? `Exit code ${code}\n1 failed` : 'ok';
  const result = { tool_use_id: id, type: 'tool_result', content, is_error: failed };
  const common = { sessionId, cwd, version: '2.0.0' };
  return [
    { ...common, timestamp: time(at), type: 'assistant', message: { content: [use] } },
    {
      ...common,
      timestamp: time(at + took),
      type: 'user',
      message: { content: [result] },
      toolUseResult: failed
        ? `Error: ${content}`
        : { stdout: 'ok', stderr: '', interrupted: false },
    },
  ];
}
