// The gate: a requirement in scope fails the build unless a test that the table names for it ran
// and passed. It runs after all other tests; `setup.ts` has reported what they proved. Run alone,
// it holds the table to the requirements and to the files that exist.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  folderOf,
  openRequirements,
  provenBy,
  readProofs,
  readReports,
  report,
  type Table,
} from './proofs.ts';
import { LATER, NOT_APPLICABLE, ONLY_ON, REQUIREMENTS } from './requirements.ts';

/** How many lines the seeds have that are built whole; of the others some lines are in scope. */
const WHOLE = { S000: 269, S001: 74, S002: 77, S003: 68, S004: 137 };

/** Here every test runs. Elsewhere some are skipped, each with a printed reason. */
const COMPLETE = process.platform === 'linux' && process.getuid?.() === 0;

const FOLDER = join(import.meta.dirname, 'proofs');
const folders = readdirSync(FOLDER).map((name) => name.replace(/\.json$/, ''));
const table: Table = Object.assign({}, ...folders.map(readProofs));

function citedBy(one: Table): { readonly id: string; readonly by: string }[] {
  return Object.entries(one).flatMap(([file, proofs]) =>
    Object.entries(proofs).flatMap(([name, ids]) =>
      ids.split(' ').map((id) => ({ id, by: `${file}: ${name}` })),
    ),
  );
}

/** What the table says about ids: unknown ones, those not to be proven, and those it lacks. */
function complaints(one: Table, wanted: Readonly<Record<string, string>>): string[] {
  const cited = citedBy(one);
  const known = new Set(cited.map(({ id }) => id));
  const wrong = cited.filter(({ id }) => !Object.hasOwn(wanted, id));
  const lacking = Object.keys(wanted).filter((id) => !known.has(id));
  return [
    ...wrong.map(({ id, by }) => `${by}: ${NOT_APPLICABLE[id] ?? LATER[id] ?? 'unknown'}: ${id}`),
    ...lacking.map((id) => `${id} (${wanted[id]}): name a test that proves it in test/proofs/`),
  ];
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

  it('in scope each have a test in the table, and it names no others', () => {
    expect(complaints(table, REQUIREMENTS)).toEqual([]);
  });

  it('are proven in files that exist, in the table of their folder, once', () => {
    const files = folders.flatMap((folder) => Object.keys(readProofs(folder)));
    expect(files.filter((file) => !existsSync(join(import.meta.dirname, file)))).toEqual([]);
    const astray = folders.flatMap((folder) =>
      Object.keys(readProofs(folder)).filter((file) => folderOf(file) !== folder),
    );
    expect(astray).toEqual([]);
    // JSON.parse takes the last of two equal names; YAML, which JSON is a part of, refuses them.
    for (const folder of folders) parse(readFileSync(join(FOLDER, `${folder}.json`), 'utf8'));
  });

  it('in scope were each proven by a test that passed', (context) => {
    const ids = Object.keys(REQUIREMENTS).filter((id) => isFor(process.platform, id));
    const { unproven, notRun } = openRequirements(ids, table, readReports());
    const named = (open: readonly string[]) => open.map((id) => `${id}: ${REQUIREMENTS[id]}`);
    if (COMPLETE) expect(named(unproven), 'their tests failed or were skipped').toEqual([]);
    const whole = COMPLETE && process.env.CI === 'true';
    if (whole) expect(named(notRun), 'their tests were skipped or did not run').toEqual([]);
    const open = [...unproven, ...notRun];
    if (open.length > 0) context.skip(`${open.length} requirements were not proven in this run`);
  });

  it('of one system are in scope', () => {
    expect(Object.keys(ONLY_ON).filter((id) => !Object.hasOwn(REQUIREMENTS, id))).toEqual([]);
    expect([isFor('linux', 'S004-R052'), isFor('win32', 'S004-R052')]).toEqual([false, true]);
    expect(isFor('linux', 'S004-R001')).toBe(true);
  });
});

function isFor(platform: NodeJS.Platform, id: string): boolean {
  return (ONLY_ON[id] ?? platform) === platform;
}

describe('the gate itself', () => {
  const REAL = { 'S004-R001': 'in scope', 'S004-R002': 'in scope, too' };

  it('refuses ids that are unknown or not to be proven, and requirements without a test', () => {
    expect(complaints({ 'a.test.ts': { x: 'S004-R001 S004-R002' } }, REAL)).toEqual([]);
    expect(complaints({ 'a.test.ts': { x: 'S004-R001 S004-R999 S004-R010' } }, REAL)).toEqual([
      'a.test.ts: x: unknown: S004-R999',
      'a.test.ts: x: non-goal: several hosts: S004-R010',
      'S004-R002 (in scope, too): name a test that proves it in test/proofs/',
    ]);
  });

  it('counts a test that passed, and none that failed or was skipped', () => {
    const proofs = { 'group > one': 'A B', 'group > two': 'B C', 'made of *': 'D' };
    const tests = [
      { name: 'group > one', passed: true },
      { name: 'group > two', passed: false },
      { name: 'made of wood', passed: false },
      { name: 'made of stone (1.5)', passed: true },
    ];
    expect(provenBy('cli/a.test.ts', proofs, tests).proven).toEqual(['A', 'B', 'D']);
  });

  it('says what to do about a test that has another name now', () => {
    const proofs = { 'was (here)': 'A' };
    const tests = [{ name: 'was here', passed: true }];
    expect(() => provenBy('cli/a.test.ts', proofs, tests)).toThrow(
      "test/proofs/cli.json says that a test 'was (here)' in test/cli/a.test.ts proves " +
        'requirements, and there is none. If you renamed it, write its new name into ' +
        'test/proofs/cli.json; if you removed it, name another test that proves the same ids.',
    );
  });

  it('tells what is not proven from what did not run', () => {
    const made = { 'a.test.ts': { one: 'A', two: 'B C' }, 'b.test.ts': { three: 'C D' } };
    const ran = (file: string, ...proven: string[]) => ({ file, proven });
    const open = (...reports: ReturnType<typeof ran>[]) =>
      openRequirements(['A', 'B', 'C', 'D'], made, reports);
    const all = [ran('a.test.ts', 'A', 'B', 'C'), ran('b.test.ts', 'D')];
    expect(open(...all)).toEqual({ unproven: [], notRun: [] });
    expect(open(ran('a.test.ts', 'A'))).toEqual({ unproven: ['B'], notRun: ['C', 'D'] });
    expect(open(ran('a.test.ts', 'A', 'C'), ran('b.test.ts'))).toEqual({
      unproven: ['B', 'D'],
      notRun: [],
    });
  });

  it('reads the reports of all files, and nothing where there are none', () => {
    const dir = mkdtempSync(join(tmpdir(), 'cuff-proofs-'));
    try {
      const path = join(dir, 'reports');
      expect(readReports(path)).toEqual([]);
      const reports = [
        { file: 'a.test.ts', proven: ['A'] },
        { file: 'b.test.ts', proven: [] },
      ];
      for (const one of reports) report(one, path);
      expect(readReports(path)).toEqual(reports);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
