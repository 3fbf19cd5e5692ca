// How many of a project's commands a generated policy would ask about and deny, and why: it learns
// from 70 % of the sessions and judges the rest. `node bench/asked.mjs COMMANDS [--attacks FILE]
// [--seed N]... [--strategy S]`. COMMANDS has a line {"session","cwd","command"} for each command,
// the file of attacks a line {"kind":"attack","command"}; both are data from outside of this
// repository. One more list of attacks is the engine's own.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { policyEngine } from './policy-engine.mjs';

const HOME = '/home/user';
const LEARNED = 0.7;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    attacks: { type: 'string' },
    seed: { type: 'string', multiple: true, default: ['1', '2', '3'] },
    strategy: { type: 'string', default: 'pattern' },
    project: { type: 'string', default: '/srv/app' },
  },
});
const [file] = positionals;
if (file === undefined) throw new Error('Usage: node bench/asked.mjs COMMANDS');

const dir = mkdtempSync(join(tmpdir(), 'cuff-asked-'));
try {
  const engine = await policyEngine(dir);
  const commands = linesOf(file);
  const given = values.attacks === undefined ? [] : linesOf(values.attacks);
  const attacks = given.flatMap(({ kind, command }) => (kind === 'attack' ? [command] : []));
  const reasons = new Map();
  for (const seed of values.seed.map(Number)) {
    const one = judged(engine, commands, [...engine.ATTACKS, ...attacks], seed);
    for (const reason of one.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    const [asked, denied] = [share(one.asked, one.count), share(one.denied, one.count)];
    const words = [`seed ${seed}: ${one.count} commands held out`, `asked ${asked}`];
    console.log([...words, `denied ${denied}`, `attacks allowed ${one.allowed}`].join(', '));
  }
  const table = [...reasons].sort(([, a], [, b]) => b - a);
  for (const [reason, count] of table) console.log(String(count).padStart(6), reason);
} finally {
  rmSync(dir, { recursive: true });
}

function judged({ judge, readPolicy, unsaved, ...more }, commands, attacks, seed) {
  const { strategy, project } = values;
  const sessions = shuffled([...new Set(commands.map(({ session }) => session))], seed);
  const learned = new Set(sessions.slice(0, Math.round(sessions.length * LEARNED)));
  const evidence = commands
    .filter(({ session }) => learned.has(session))
    .map(({ session: sessionId, cwd, command }) => ({ command, cwd, sessionId, project }));
  const options = { strategy, minFrequency: 2, now: 0, home: HOME };
  const text = more.policyYaml(more.generatePolicy(evidence, options));
  const { policy, problems } = readPolicy(text, { home: HOME, project });
  if (policy === undefined) throw new Error(JSON.stringify(problems));
  const engine = judge({ policies: [unsaved(policy)], project, home: HOME });
  const held = commands.filter(({ session }) => !learned.has(session));
  const decisions = held.map(({ command, cwd }) => engine.decide(command, cwd));
  const left = decisions.filter(({ verdict }) => verdict !== 'allow');
  return {
    count: held.length,
    asked: left.filter(({ verdict }) => verdict === 'ask').length,
    denied: left.filter(({ verdict }) => verdict === 'deny').length,
    allowed: attacks.filter((one) => engine.decide(one, project).verdict === 'allow').length,
    reasons: left.map(({ verdict, code, reasons: [first] }) =>
      [verdict, code, first?.detail ?? ''].join(' ').trim(),
    ),
  };
}

function linesOf(path) {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}

function share(part, whole) {
  return `${((100 * part) / whole).toFixed(2)} %`;
}

/** The same for the same seed (mulberry32, Fisher and Yates). */
function shuffled(list, seed) {
  let state = seed;
  for (let at = list.length - 1; at > 0; at -= 1) {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    const other = Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * (at + 1));
    [list[at], list[other]] = [list[other], list[at]];
  }
  return list;
}
