// What a decision costs: the text taken apart and judged against a policy as it is generated. A
// hostile text of 64 KB must not cost much more than it is worth, so each is measured by itself.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { interleave } from './measure.mjs';

const ROOM = fileURLToPath(new URL('../src/policy', import.meta.url));
const PROJECT = '/home/user/app';

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

/** The parser of YAML asks for it. */
const REQUIRE = `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);`;

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
  const outfile = join(dir, 'policy.mjs');
  const contents = `export { judge } from './decide.ts'; export { readPolicy } from './load.ts';`;
  await build({
    stdin: { contents, resolveDir: ROOM },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    banner: { js: REQUIRE },
  });
  const { judge, readPolicy } = await import(pathToFileURL(outfile).href);
  const commands = PROGRAMS.map((pattern) => ({ pattern }));
  const text = JSON.stringify({ policies: [{ name: 'all', commands }] });
  const { policy } = readPolicy(text, { home: '/home/user' });
  const policies = [{ policy, origin: 'user', file: undefined }];
  return judge({ policies, project: PROJECT, home: '/home/user' });
}
