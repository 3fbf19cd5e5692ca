// Old recordings in a project whose settings wait for trust: those settings may keep them longer
// than the settings in force, so that the server deletes none. Through the built server.
import { cpSync, existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../cli/helper.ts';
import { Journal } from '../recordings/helper.ts';
import { CLIENTS, type Connect } from './clients.ts';
import { Life } from './life.ts';

const OLD = '20250601_090000_b8c4d0e3-f6a7';
const SETTINGS = `plugins:
  bash_recorder:
    config:
      recording:
        retention_days: 0
`;

/** A project with one recording from long ago. */
function project(): { readonly life: Life; readonly recording: string } {
  const [life, journal] = [new Life(), new Journal()];
  onTestFinished(() => journal.close());
  journal.add(OLD, { entries: [{ command: 'true' }] });
  cpSync(journal.path('.cuff'), join(life.project, '.cuff'), { recursive: true });
  const recording = join(life.project, '.cuff', 'recordings', 'sessions', `${OLD}.jsonl`);
  const then = Date.UTC(2025, 5, 1, 9) / 1000;
  utimesSync(recording, then, then);
  return { life, recording };
}

/** What a server without `--trust` does with old recordings when it starts. */
async function retention(life: Life, args: readonly string[]): Promise<string | undefined> {
  const log = join(life.cli.root, 'logs', 'cuff.log');
  rmSync(log, { force: true });
  const [file, words] = life.command('cuff', ...args);
  const plain = words.filter((word) => word !== '--trust');
  const client = await (CLIENTS['SDK v1'] as Connect)(file, plain, life.env);
  const done = /Old sessions kept while settings wait|Session removed/;
  const found = (): string | undefined =>
    existsSync(log) ? done.exec(readFileSync(log, 'utf8'))?.[0] : undefined;
  try {
    await until(() => found() !== undefined, 'retention has run');
    return found();
  } finally {
    await client.close();
  }
}

it.each([
  ['bash_recorder', []],
  ['another dialect', ['--dialect', 'cuff_shell']],
] as const)('are kept by %s until no settings wait', async (_, args) => {
  const { life, recording } = project();
  writeFileSync(join(life.project, 'settings.yml'), SETTINGS);
  expect(await retention(life, args)).toBe('Old sessions kept while settings wait');
  expect(existsSync(recording)).toBe(true);
  rmSync(join(life.project, 'settings.yml'));
  expect(await retention(life, args)).toBe('Session removed');
  expect(existsSync(recording)).toBe(false);
});
