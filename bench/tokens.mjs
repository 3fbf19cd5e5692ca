// What the answers to the commands of `commands/list.mjs` cost a model, and which facts they leave
// out, in each dialect. `node bench/tokens.mjs [--json] [--show NAME] [--dialect NAME]... [INDEX]`;
// INDEX is the `dist/index.js` of another build, to compare with. Tokens are those of o200k_base
// (js-tiktoken): other models count differently, and the same way before and after.
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { COMMANDS } from './commands/list.mjs';
import { makeProject } from './commands/project.mjs';

const DIALECTS = [
  'cuff_shell',
  'claude_code',
  'codex',
  'pipe_bash',
  'phoenix_bash',
  'bash_recorder',
];
const PIECE_LENGTH = 4_000; // the time that a long run of one character takes grows with its square

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    show: { type: 'string' },
    dialect: { type: 'string', multiple: true, default: DIALECTS },
  },
});
const index = resolve(positionals[0] ?? join(import.meta.dirname, '..', 'dist', 'index.js'));
const { createBashTools } = await import(pathToFileURL(index).href);
const encoder = new Tiktoken(o200k);

const results = await Promise.all(values.dialect.map(measured));
if (values.json) console.log(JSON.stringify(results));
else if (values.show === undefined) console.log(table());

async function measured(dialect) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-tokens-')));
  const cwd = join(root, 'app');
  makeProject(cwd);
  const tools = createBashTools({ dialect, cwd, stateRoot: join(root, 'state') });
  const answers = [];
  try {
    for (const one of COMMANDS) {
      if (values.show !== undefined && values.show !== one.name) continue;
      const { text } = await tools[0].call(argsOf(dialect, one));
      if (values.show !== undefined) console.log(text);
      const missing = one.facts.filter((fact) => !holds(dialect, fact, text)).map(textsOf);
      const trailer = trailerOf(text);
      answers.push({ name: one.name, tokens: tokensOf(text), missing, trailer: tokensOf(trailer) });
    }
  } finally {
    endServer(cwd);
    await tools[0].close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
  const tokens = answers.reduce((sum, one) => sum + one.tokens, 0);
  return { dialect, tokens, missing: answers.flatMap(({ missing }) => missing).length, answers };
}

function argsOf(dialect, { command, tty }) {
  if (dialect === 'codex') return { cmd: command, ...(tty && { tty }), yield_time_ms: 30_000 };
  return { command, ...(tty && dialect === 'cuff_shell' && { tty }) };
}

function holds(dialect, fact, text) {
  const { not = [] } = fact;
  const plain = dialect === 'bash_recorder' ? text.replaceAll('\\"', '"') : text;
  return not.includes(dialect) || textsOf(fact).some((one) => plain.includes(one));
}

function textsOf(fact) {
  return typeof fact === 'string' ? [fact] : fact.text;
}

/** The line that says how a run stands or ended. */
function trailerOf(text) {
  return text.split('\n').findLast((line) => /^\[(?:exit|died|still running)\b/.test(line)) ?? '';
}

function tokensOf(text) {
  let tokens = 0;
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    tokens += encoder.encode(text.slice(at, at + PIECE_LENGTH), 'all').length;
  }
  return tokens;
}

/** The one process that outlives its command. */
function endServer(cwd) {
  try {
    process.kill(Number(readFileSync(join(cwd, 'serve.pid'), 'utf8')));
  } catch {
    // it was not started, or has ended
  }
}

function table() {
  const head = ['command', ...results.map(({ dialect }) => dialect)];
  const rows = results[0].answers.map(({ name }, i) => [
    name,
    ...results.map(({ answers }) => {
      const { tokens, missing } = answers[i];
      return missing.length === 0 ? `${tokens}` : `${tokens} (${missing.length} missing)`;
    }),
  ]);
  const total = results.map(({ tokens, missing }) => `${tokens} (${missing} missing)`);
  const all = [head, head.map(() => '---'), ...rows, ['all', ...total]];
  return all.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
