import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { policyYaml, type Strategy } from '../../../src/policy/generate/index.ts';
import { allowing, benign, generated, HOME, type Place, recorded } from './helper.ts';

const PIECES = [
  ...['git status', 'git diff', 'git log', 'git push origin', 'npm run', 'npm test', 'ls', 'cat'],
  ...[
    'sort',
    'rm -rf',
    'grep -n x',
    'find . -name',
    'python -c',
    'frobnicate',
    'mkdir -p',
    'sed -n',
  ],
  ...['xargs wc', 'sudo ls', 'curl', 'docker ps', 'node', 'echo', 'cd', 'tee', 'tar xf'],
  ...['npm install', 'npm ci', 'npm', 'git tag -l', 'git stash', 'git --no-pager log', 'env'],
  ...['git -C src log', 'curl -s http://localhost:3000/', 'tail -5 /tmp/a.log', 'docker inspect'],
];
const WORDS = [
  ...['a', 'src/b.ts', '-l', '--stat', '-o out', '/etc/hosts', '../up', "'a b'", '"$x"', '*.ts'],
  ...['$(ls)', '-exec', '--output=x', '1,5p', '.env', '~/x', 'https://example.org/x', '{a,b}', '-'],
  ...['--version', 'http://localhost:3000/', '/tmp/x.log', '/tmp/y.log', "'<int>'"],
];
const JOINS = [' && ', ' | ', '; ', ' || ', '\n'];
const ENDS = ['', ' 2>&1', ' > out.log', ' > /tmp/x.log', ' &', ' < in.txt', ' # done'];

const simple = fc
  .tuple(fc.constantFrom('', 'FOO=1 ', 'CI=1 ', 'timeout 9 '), fc.constantFrom(...PIECES))
  .chain(([before, piece]) =>
    fc
      .tuple(fc.array(fc.constantFrom(...WORDS), { maxLength: 2 }), fc.constantFrom(...ENDS))
      .map(([words, end]) => before + [piece, ...words].join(' ') + end),
  );
const command = fc
  .tuple(simple, fc.option(fc.tuple(fc.constantFrom(...JOINS), simple), { freq: 2 }))
  .map(([first, more]) => (more === null ? first : first + more.join('')));

const place = fc.constantFrom<readonly [string, string]>(
  [`${HOME}/app`, `${HOME}/app`],
  [`${HOME}/app`, `${HOME}/app/src`],
  [`${HOME}/api`, `${HOME}/api`],
  [`${HOME}/app`, '/tmp'],
);
const entry = fc.record({
  command,
  place,
  sessionId: fc.constantFrom('s1', 's2', 's3'),
  count: fc.integer({ min: 1, max: 3 }),
});
const evidence = fc
  .array(entry, { maxLength: 25 })
  .map((entries) =>
    entries.map(({ place: [project, cwd], ...rest }) => ({ ...rest, project, cwd })),
  );

const STRATEGIES: readonly Strategy[] = ['exact', 'pattern', 'semantic'];
const RUNS = { numRuns: 12 };

describe('whatever was recorded', () => {
  it('is allowed, or is in the list of what is not', () => {
    fc.assert(
      fc.property(evidence, fc.constantFrom(...STRATEGIES), (entries, strategy) => {
        const made = generated(entries, strategy);
        const allows = allowing(made.policy);
        const listed = new Set(made.excluded.map((one) => one.command));
        for (const one of entries) {
          expect(allows(one) || listed.has(one.command)).toBe(true);
        }
        const left = made.excluded.reduce((sum, { count }) => sum + count, 0);
        expect(made.accepted + left).toBe(made.commands);
        expect(made.attacks.allowed).toBe(0);
      }),
      RUNS,
    );
  });

  it('is allowed by pattern if exact allows it, and by semantic if pattern does', () => {
    fc.assert(
      fc.property(evidence, fc.array(command, { maxLength: 10 }), (entries, probes) => {
        const [exact, pattern, semantic] = STRATEGIES.map((strategy) =>
          allowing(generated(entries, strategy).policy),
        );
        const places: readonly Place[] = [
          ...entries,
          ...probes.flatMap((text) => entries.map((one) => ({ ...one, command: text }))),
        ];
        for (const one of places) {
          if (exact?.(one)) expect([one, pattern?.(one)]).toEqual([one, true]);
          if (pattern?.(one)) expect([one, semantic?.(one)]).toEqual([one, true]);
        }
      }),
      RUNS,
    );
  });

  it('makes the same bytes in whatever order', () => {
    fc.assert(
      fc.property(
        evidence.chain((entries) =>
          fc.tuple(
            fc.constant(entries),
            fc.shuffledSubarray(entries, { minLength: entries.length }),
          ),
        ),
        fc.constantFrom(...STRATEGIES),
        ([entries, shuffled], strategy) => {
          const text = policyYaml(generated(shuffled, strategy));
          expect(text).toBe(policyYaml(generated(entries, strategy)));
        },
      ),
      RUNS,
    );
  });
});

it('of ordinary work every command is accepted by pattern when once is enough', () => {
  const { excluded, accepted } = generated(recorded(benign()), 'pattern', 1);
  expect([excluded, accepted]).toEqual([[], 120]);
});
