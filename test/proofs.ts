// Which test proves which requirement: `test/proofs/FOLDER.json`, one file for each test folder.
// There a test stands by its file and its full name, with the ids it proves; `*` in a name stands
// for anything, for tests that are made from a table. `setup.ts` holds every test file to its own
// part, and `requirements.test.ts`, which runs last, holds the requirements to what passed.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Name of a test to the ids it proves, separated by spaces. */
type Proofs = Readonly<Record<string, string>>;

/** A test as its runner knows it. */
export type TestResult = { readonly name: string; readonly passed: boolean };

/** One test file that ran: its name, and the requirements that its tests proved. */
export type Report = { readonly file: string; readonly proven: readonly string[] };

/** By test file, relative to `test/`. */
export type Table = Readonly<Record<string, Proofs>>;

export function readProofs(folder: string): Table {
  const path = tableOf(folder);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

/** `cli/run.test.ts` is in `cli.json`; the files of `test/` itself are in `house.json`. */
export function folderOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : 'house';
}

function tableOf(folder: string): string {
  return join(import.meta.dirname, 'proofs', `${folder}.json`);
}

/** What the tests of one file proved. Throws if the table names a test that the file lacks. */
export function provenBy(file: string, proofs: Proofs, tests: readonly TestResult[]): Report {
  const proven = Object.entries(proofs).flatMap(([name, ids]) => {
    const pattern = patternOf(name);
    const found = tests.filter((test) => pattern.test(test.name));
    if (found.length === 0) throw new Error(unknownTest(file, name));
    return found.some(({ passed }) => passed) ? ids.split(' ') : [];
  });
  return { file, proven: [...new Set(proven)].sort() };
}

function patternOf(name: string): RegExp {
  const parts = name.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}

function unknownTest(file: string, name: string): string {
  const table = `test/proofs/${folderOf(file)}.json`;
  return (
    `${table} says that a test '${name}' in test/${file} proves requirements, and there is none. ` +
    `If you renamed it, write its new name into ${table}; if you removed it, ` +
    'name another test that proves the same ids.'
  );
}

/** Hands a report to the gate. Without a place to write to, the gate is not part of this run. */
export function report(one: Report, path = process.env.CUFF_PROOFS): void {
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(one)}\n`);
}

export function readReports(path = process.env.CUFF_PROOFS): Report[] {
  if (path === undefined || !existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line): Report => JSON.parse(line));
}

/** Requirements without proof: their tests ran and none passed, or some did not run. */
export type Open = { readonly unproven: readonly string[]; readonly notRun: readonly string[] };

export function openRequirements(
  ids: readonly string[],
  table: Table,
  reports: readonly Report[],
): Open {
  const proven = new Set(reports.flatMap((one) => one.proven));
  const ran = new Set(reports.map(({ file }) => file));
  const open = ids.filter((id) => !proven.has(id));
  const notRun = open.filter((id) => filesFor(id, table).some((file) => !ran.has(file)));
  return { unproven: open.filter((id) => !notRun.includes(id)), notRun };
}

function filesFor(id: string, table: Table): string[] {
  const names = ([, proofs]: [string, Proofs]): boolean =>
    Object.values(proofs).some((ids) => ids.split(' ').includes(id));
  return Object.entries(table)
    .filter(names)
    .map(([file]) => file);
}
