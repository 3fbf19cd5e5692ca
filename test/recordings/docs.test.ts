// docs/record.md shows real output: every `$ cuff record ...` in it is run here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadSqlite } from '../../src/journal/sqlite.ts';
import { thisProcess } from '../../src/run/processes.ts';
import { lacking } from '../requirements.ts';
import { addSamples, Journal } from './helper.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'record.md');
const journal = new Journal();
const noSqlite = lacking(loadSqlite() === undefined, 'this Node has no SQLite');

beforeAll(() => addSamples(journal));
afterAll(() => journal.close());

it.skipIf(noSqlite)('prints what docs/record.md says', async () => {
  // Somebody writes the active session, so it must not be cleaned.
  const owner = { pid: process.pid, start_time: thisProcess().startTime };
  const steps = [...readFileSync(PAGE, 'utf8').matchAll(/^```console\n([\s\S]*?)^```/gm)]
    .flatMap(([, block = '']) => block.split(/^\$ /m).slice(1))
    .map((step) => [step.split('\n')[0] ?? '', step.slice(step.indexOf('\n') + 1)] as const);
  expect(steps.length).toBeGreaterThan(12);
  for (const [command, output] of steps) {
    const words = command.split(' ');
    if (words[2] === 'clean') addOwner(owner);
    const { out, err } = await journal.run(...words.slice(2));
    expect([command, out + err]).toEqual([command, output]);
  }
});

function addOwner(owner: { readonly pid: number; readonly start_time: number }): void {
  const name = '20260118_171522_c9d5e1f4-e8b9.meta.json';
  const metadata = JSON.parse(readFileSync(join(journal.sessions, name), 'utf8'));
  journal.write(name, JSON.stringify({ ...metadata, owner }));
}
