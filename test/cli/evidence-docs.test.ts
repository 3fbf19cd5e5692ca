// docs/evidence.md shows a real session: every `$ command` in it is run here, one after the other,
// in a new project with a ledger of its own. Ids, times, the key and the origin are other ones.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { journalSessionIds } from '../../src/journal/reader.ts';
import { journalBelow } from '../../src/recordings/directory.ts';
import { lacking } from '../requirements.ts';
import { binary } from './helper.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/evidence.md'), 'utf8');
const noPython = lacking(spawnSync('python3', ['-c', '']).status !== 0, 'there is no python3 here');
const [SHOWN = ''] = /\d{8}_\d{6}_[0-9a-f]{8}-[0-9a-f]{4}/.exec(PAGE) ?? [];

/** As the page has it: each time, id and key is any. */
function masked(text: string): string {
  return text
    .replace(/\d{8}_\d{6}_[0-9a-f]{8}(-[0-9a-f]{4})?/g, 'SESSION')
    .replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+Z)?)?/g, 'TIME')
    .replace(/cuff\.local\/[a-z2-7]{13}(\+[0-9a-f]{8}\+[\w+/=]+)?/g, 'LEDGER');
}

it.skipIf(noPython)('prints what docs/evidence.md says', () => {
  const root = mkdtempSync(join(tmpdir(), 'cuff-evidence-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [bin, project] = [join(root, 'bin'), join(root, 'project')];
  for (const folder of [bin, join(project, '.git')]) mkdirSync(folder, { recursive: true });
  symlinkSync(binary('cuff'), join(bin, 'cuff'));
  const { CUFF_STATE_ROOT: _, DERUN_STATE_ROOT: __, XDG_STATE_HOME: ___, ...env } = process.env;
  const own = { ...env, HOME: root, PATH: `${bin}:${env.PATH}` };
  const steps = [...PAGE.matchAll(/^```console\n([\s\S]*?)^```/gm)]
    .flatMap(([, block = '']) => block.split(/^\$ /m).slice(1))
    .map((step) => [step.split('\n')[0] ?? '', step.slice(step.indexOf('\n') + 1)] as const);
  expect(steps.length).toBeGreaterThan(10);
  for (const [command, output] of steps) {
    const [session = SHOWN] = journalSessionIds(journalBelow(project));
    const words = command.replaceAll(SHOWN.slice(0, -5), session.slice(0, -5));
    const run = spawnSync('bash', ['-c', `${words} 2>&1`], { cwd: project, env: own });
    expect([command, masked(run.stdout.toString())]).toEqual([command, masked(output)]);
  }
});
