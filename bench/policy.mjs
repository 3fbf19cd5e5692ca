// What a decision costs: the text taken apart and judged against a policy as it is generated. A
// hostile text of 64 KB must not cost much more than it is worth, so each is measured by itself.
import { interleave } from './measure.mjs';
import { policyEngine } from './policy-engine.mjs';

const HOME = '/home/user';
const PROJECT = `${HOME}/app`;
const BACKTESTED = 100_000;

const PROGRAMS = [
  ...[
    'git status',
    'git diff *',
    'git log *',
    'git add *',
    'git commit *',
    'npm test *',
    'npm run *',
  ],
  ...['ls *', 'cat *', 'head *', 'tail *', 'grep *', 'rg *', 'find *', 'sed *', 'wc *', 'sort *'],
  ...['cargo test *', 'go test *', 'pytest *', 'docker ps *', 'kubectl get *', 'echo *', 'jq *'],
];

const COMMANDS = [
  'git status',
  'git log --oneline -20',
  'cat src/index.ts | head -50',
  'cd /home/user/app && npm test 2>&1 | tail -30',
  'rg -n "export (function|class)" src --glob "*.ts"',
  'find . -name "*.test.ts" -not -path "./node_modules/*" | wc -l',
  'git commit -m "$(cat <<\'EOF\'\nfeat: metrics module\n\nAdds counters.\nEOF\n)"',
  'for f in src/*.ts; do wc -l "$f"; done',
  'sed -n "1,120p" src/server.ts',
  'npm run build > /dev/null 2>&1; echo $?',
];

const HOSTILE = [
  ...[
    '$(',
    '`',
    '"$(',
    '${x:-',
    '$((',
    '(',
    '{ ',
    '<(',
    'a;',
    'a|',
    '{a,',
    "$'\\x",
    '[[ a && ',
    '<<A ',
  ],
  ...[
    'if a; then ',
    'f() { ',
    'case x in ',
    'bash -c "',
    'x=$x$x;',
    'for i in a b; do ',
    "'",
    '\\',
  ],
  ...['\n', '`a` ', '$(a) ', '>a ', '"$x" ', 'a=1 ', '[', 'cd a;', 'bash -c "a b";'],
];

/** The same, behind something else. */
const BEHIND = [
  ['cat ', '*'],
  ['cat ', '*a'],
  ['for x in ', `${'{a,b}'.repeat(9)} `],
  ['a=(', `${'{a,b}'.repeat(9)} `],
  ['echo $((x', '++x'],
];

export const policyRows = [
  {
    name: 'policy-decide',
    what: 'one decision about an ordinary command, median',
    unit: 'us',
    target: { ours: ['<=', 100] },
    measure: async (context) => ({ ours: await decisions(context) }),
  },
  {
    name: 'policy-decide-p99',
    what: 'the same, the 99th of a hundred',
    unit: 'us',
    target: { ours: ['<=', 2_000] },
    measure: async (context) => {
      const sorted = (await decisions(context)).sort((a, b) => a - b);
      return { ours: [sorted[Math.floor(sorted.length * 0.99)]] };
    },
  },
  {
    name: 'policy-hostile',
    what: 'the slowest of 64 KB texts that are made to be slow',
    unit: 'ms',
    target: { ours: ['<=', 250] },
    measure: async ({ dir }) => {
      const judged = await judgement(dir);
      const texts = [...HOSTILE.map((piece) => ['', piece]), ...BEHIND].map(
        ([start, piece]) => start + piece.repeat(Math.floor(65_000 / piece.length)),
      );
      judged.decide(texts[0], PROJECT);
      const times = texts.map((text) => millis(() => judged.decide(text, PROJECT)));
      return { ours: [Math.max(...times)] };
    },
  },
  {
    name: 'policy-backtest',
    what: `a policy tried on ${BACKTESTED.toLocaleString('en')} recorded commands, all distinct`,
    unit: 's',
    target: { ours: ['<=', 10] },
    measure: async ({ dir }) => {
      const engine = await policyEngine(dir);
      const policy = policyOf(engine);
      const evidence = Array.from({ length: BACKTESTED }, (_, at) => ({
        command: `${COMMANDS[at % COMMANDS.length]} # ${at}`,
        cwd: PROJECT,
        project: PROJECT,
        sessionId: `s${at % 500}`,
      }));
      return { ours: [millis(() => engine.backtest(policy, evidence, HOME)) / 1000] };
    },
  },
];

async function decisions({ dir, rounds }) {
  const judged = await judgement(dir);
  const { ours } = await interleave(
    rounds(20_000),
    Object.fromEntries([['ours', decide(judged)]]),
    { warmUp: 3_000 },
  );
  return ours;
}

function decide(judged) {
  let at = 0;
  return () => {
    at += 1;
    // A number in it, so that no two are the same.
    const text = `${COMMANDS[at % COMMANDS.length]} # ${at}`;
    return millis(() => judged.decide(text, PROJECT)) * 1000;
  };
}

function millis(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

async function judgement(dir) {
  const engine = await policyEngine(dir);
  return engine.judge({ policies: [policyOf(engine)], project: PROJECT, home: HOME });
}

function policyOf({ readPolicy, unsaved }) {
  const commands = PROGRAMS.map((pattern) => ({ pattern }));
  const text = JSON.stringify({ policies: [{ name: 'all', commands }] });
  return unsaved(readPolicy(text, { home: HOME }).policy);
}
