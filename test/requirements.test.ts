// The coverage gate: a requirement in scope without a test that cites it fails the build. Citations
// are read from the sources, so that running one file alone proves as much as running them all.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LATER, NOT_APPLICABLE, REQUIREMENTS, verifies } from './requirements.ts';
import { readSources, type SourceFacts } from './tidy-source.ts';

/** How many lines the seeds have that are built whole; of the others some lines are in scope. */
const WHOLE = { S000: 269, S001: 74, S002: 77, S003: 68, S004: 137 };

const names = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
const tests = names
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.test.ts') && name !== 'requirements.test.ts');
const facts = readSources(
  new Map(tests.map((name) => [name, readFileSync(join(import.meta.dirname, name), 'utf8')])),
);

/** The ids that `verifies(...)` calls cite; what is not a plain string is cited as its source. */
function citations({ calls }: SourceFacts): string[] {
  return calls
    .filter(({ callee }) => callee === 'verifies')
    .flatMap((call) => call.arguments)
    .map((one) => (one.kind === 'string' ? one.value : `not a string: ${JSON.stringify(one)}`));
}

function uncited(wanted: readonly string[], files: readonly SourceFacts[]): string[] {
  const cited = new Set(files.flatMap(citations));
  return wanted.filter((id) => !cited.has(id));
}

describe('the requirements', () => {
  it('cover every line of the seeds that are built whole exactly once', () => {
    const lists = [REQUIREMENTS, NOT_APPLICABLE, LATER].flatMap((list) => Object.keys(list));
    for (const [seed, count] of Object.entries(WHOLE)) {
      const wanted = Array.from(
        { length: count },
        (_, index) => `${seed}-R${String(index + 1).padStart(3, '0')}`,
      );
      expect(lists.filter((id) => id.startsWith(`${seed}-`)).sort()).toEqual(wanted);
    }
    expect(lists.filter((id, index) => lists.indexOf(id) !== index)).toEqual([]);
    expect(lists.filter((id) => !/^S00[0-4]-R\d{3}$/.test(id))).toEqual([]);
  });

  it('in scope are each cited by a test', () => {
    const missing = uncited(Object.keys(REQUIREMENTS), [...facts.values()]);
    expect(missing.map((id) => `${id}: ${REQUIREMENTS[id]}`)).toEqual([]);
  });

  it('cited by a test are each in scope', () => {
    const wrong = [...facts].flatMap(([name, file]) =>
      citations(file)
        .filter((id) => !Object.hasOwn(REQUIREMENTS, id))
        .map((id) => `${name}: ${id}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the gate itself', () => {
  const made = (source: string) => [...readSources(new Map([['a.test.ts', source]])).values()];

  it('reads citations over several lines, and none from comments or strings', () => {
    const source = [
      "verifies('A', 'B');",
      "verifies(\n  'C',\n  'D',\n);",
      "// verifies('E');",
      "/* verifies('F'); */",
      'const text = "verifies(\'G\')";',
    ].join('\n');
    expect(made(source).flatMap(citations)).toEqual(['A', 'B', 'C', 'D']);
  });

  it('names what nobody cites, and what is cited in a way it cannot read', () => {
    expect(uncited(['A', 'B', 'C'], made("verifies('A'); verifies('C');"))).toEqual(['B']);
    expect(made('verifies(...IDS);').flatMap(citations)).toEqual([
      'not a string: {"kind":"other","source":"...IDS"}',
    ]);
  });

  it('refuses ids that do not exist or are not to be proven here', () => {
    expect(() => verifies('S004-R001')).not.toThrow();
    expect(() => verifies('S004-R999')).toThrow('no such requirement');
    expect(() => verifies('S004-R010')).toThrow('non-goal');
    expect(() => verifies('S000-R263')).toThrow('needs the web page');
  });
});
