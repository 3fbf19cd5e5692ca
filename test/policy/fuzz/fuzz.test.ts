// Nothing that a real bash executes is neither reported nor flagged by `analyse`: generated and
// mutated snippets. `CUFF_LONG=1` runs long, with another seed every time; `CUFF_SEED` repeats it.
import { afterAll, describe, expect, it } from 'vitest';
import { analyse } from '../../../src/policy/analyse/index.ts';
import { lacking } from '../../requirements.ts';
import { seedOf } from '../../seed.ts';
import { compare, type Finding, minimise, runCampaign, SEEDS, snippetOf } from './campaign.ts';
import { fits, unexplained } from './explain.ts';
import { buildJail, JAIL_CWD, JAIL_HOME, type Jail, openJail, removeJail } from './jail.ts';

const LONG = process.env.CUFF_LONG === '1';
const SEED = seedOf('fuzz');
const COUNT = Number(process.env.CUFF_FUZZ_COUNT ?? (LONG ? 24_000 : 3_000));
const FINDINGS_MAX = 5;
// On a busy machine it does less rather than take longer.
const BUDGET_MS = LONG ? 840_000 : 14_000;
const LONG_MS = 900_000;

const built = buildJail();
const noJail = lacking(built === undefined, 'no compiler, or no namespaces to jail a bash in');
const jails = built === undefined ? [] : [openJail(built), openJail(built)];

afterAll(() => {
  for (const jail of jails) jail.close();
  if (built !== undefined) removeJail(built);
});

function firstJail(): Jail {
  const [jail] = jails;
  if (jail === undefined) throw new Error('There is no jail.');
  return jail;
}

const shown = ({ number, snippet, complaints }: Finding): string =>
  `${number}: ${JSON.stringify(snippet)}\n    bash ${complaints.join('\n    bash ')}`;

describe.skipIf(noJail)('what a real bash does with a text', () => {
  it('is seen: programs, words, directories, variables, files', async () => {
    const text = 'cd src && A=1 touch "b c" *.ts >out; exec -a x env rm $((1+1)) | nosuch';
    const outcome = await firstJail().run(text, true);
    const executions = outcome.executions.map(({ path, cwd, argv, env }) => {
      return [path, cwd, argv, [...env]];
    });
    expect(executions.sort()).toEqual([
      ['/bin/env', '/w/p/src', ['x', 'rm', '2'], []],
      ['/bin/rm', '/w/p/src', ['rm', '2'], []],
      ['/bin/touch', '/w/p/src', ['touch', 'b c', 'a.ts', 'b.ts'], [['A', '1']]],
      ['nosuch', '/w/p/src', ['nosuch'], []],
    ]);
    expect(outcome.written).toEqual(['/w/p/src/out']);
  });

  it('is not explained by an analysis without its unit, redirection or variable', async () => {
    const text = 'A=1 touch b >out';
    const outcome = await firstJail().run(text, true);
    const analysis = analyse(text, { cwd: JAIL_CWD, home: JAIL_HOME });
    expect(unexplained(analysis, outcome)).toEqual([]);
    const without = (change: object) => ({
      ...analysis,
      units: analysis.units.map((unit) => ({ ...unit, ...change })),
    });
    expect(unexplained({ ...analysis, units: [] }, outcome)).toHaveLength(3);
    expect(unexplained(without({ redirects: [] }), outcome)).toEqual(['wrote /w/p/out']);
    expect(unexplained(without({ assigned: [] }), outcome)).toHaveLength(1);
    expect(unexplained(without({ cwds: ['/'] }), outcome)).not.toEqual([]);
  });

  it('is explained for every snippet that once was hard', async () => {
    const failed: string[] = [];
    const all = async (jail: Jail, told: boolean): Promise<void> => {
      for (const [number, snippet] of SEEDS.entries()) {
        const { complaints } = await compare(jail, analyse, snippet, told);
        if (complaints.length > 0) failed.push(shown({ number, snippet, complaints }));
      }
    };
    await Promise.all(jails.map((jail, index) => all(jail, index === 0)));
    expect(failed).toEqual([]);
  });

  it('is reported or flagged, whatever the text', { timeout: LONG_MS }, async () => {
    const began = performance.now();
    const figures = await runCampaign({
      seed: SEED,
      count: COUNT,
      analyse,
      jails,
      findingsMax: FINDINGS_MAX,
      budgetMs: BUDGET_MS,
    });
    const perThousandMs = ((performance.now() - began) / figures.snippets) * 1000;
    const small: string[] = [];
    for (const finding of figures.findings) {
      small.push(shown(await minimise(firstJail(), analyse, finding)));
    }
    process.stderr.write(
      `CUFF_SEED=${SEED}: ${figures.snippets} snippets, ${figures.executing} executed something, ` +
        `${figures.judged} of those unflagged; ${(perThousandMs / 1000).toFixed(1)} s per 1,000; ` +
        `slowest analysis ${figures.slowestMs.toFixed(0)} ms\n${small.join('\n')}\n`,
    );
    expect(small).toEqual([]);
    if (LONG) expect(figures.snippets).toBeGreaterThanOrEqual(20_000);
    // A test that only sees flagged or silent snippets would hold nothing.
    expect(figures.judged / figures.snippets).toBeGreaterThan(0.15);
  });
});

describe('the generator', () => {
  it('makes the same snippet of the same seed and number', () => {
    const some = (seed: number) => Array.from({ length: 50 }, (_, i) => snippetOf(seed, i));
    expect(some(7)).toEqual(some(7));
    expect(some(7)).not.toEqual(some(8));
  });

  it('fits words only to what they can become', () => {
    const one = { source: '', span: undefined };
    const literal = { ...one, kind: 'literal', value: 'a' } as const;
    const any = { ...one, kind: 'unknown', prefix: '', one: false } as const;
    const glob = { ...one, kind: 'glob', pattern: 'b*', prefix: 'b' } as const;
    expect(fits([literal], ['a'])).toBe(true);
    expect(fits([literal], ['a', 'b'])).toBe(false);
    expect(fits([any, literal], ['x', 'y', 'a'])).toBe(true);
    expect(fits([any], [])).toBe(true);
    expect(fits([glob], ['b1', 'b2'])).toBe(true);
    expect(fits([glob], ['b1', 'c'])).toBe(false);
    const files = { ...one, kind: 'glob', pattern: 'b/*.\\[t', prefix: 'b/' } as const;
    expect(fits([files], ['b/c.[t', 'b/d.[t'])).toBe(true);
    expect(fits([files], ['b/*.[t'])).toBe(true);
    expect(fits([files], ['b/c.ts'])).toBe(false);
    expect(fits([{ ...any, one: true }], [])).toBe(false);
  });
});
