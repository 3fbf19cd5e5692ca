// How much room captures may take is said by the user alone.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { captureBudget } from '../../src/packing/budget.ts';

const DEFAULT = 2 * 1024 ** 3;

function budget(own: string | undefined, project?: string): number {
  const dir = fs.mkdtempSync(join(tmpdir(), 'cuff-budget-'));
  onTestFinished(() => fs.rmSync(dir, { recursive: true, force: true }));
  const [config, cwd] = [join(dir, 'config'), join(dir, 'project')];
  for (const one of [join(config, 'cuff'), cwd]) fs.mkdirSync(one, { recursive: true });
  if (own !== undefined) fs.writeFileSync(join(config, 'cuff', 'settings.yml'), own);
  if (project !== undefined) fs.writeFileSync(join(cwd, 'settings.yml'), project);
  return captureBudget(cwd, { XDG_CONFIG_HOME: config, HOME: dir });
}

it.each([
  ['captures: {budget: 0}', 0],
  ['captures:\n  budget: 1048576', 1_048_576],
  ['captures:\n  budget: 512 MiB', 512 * 1024 ** 2],
  ['captures:\n  budget: 3TiB', 3 * 1024 ** 4],
  ['seal: {enabled: false}\n', DEFAULT],
  ['captures:\n', DEFAULT],
  ['captures: {budget: -1}', DEFAULT],
  ['captures: {budget: 1.5 GiB}', DEFAULT],
  ['captures: {budget: 99999999999999 TiB}', DEFAULT],
  ['captures: {budget: true}', DEFAULT],
  ['captures: [budget', DEFAULT],
  [undefined, DEFAULT],
])('of settings %j is %i', (own, bytes) => expect(budget(own)).toBe(bytes));

it('is not for a project to say', () => {
  expect(budget(undefined, 'captures: {budget: 0}')).toBe(DEFAULT);
  expect(budget('captures: {budget: 7}', 'captures: {budget: 0}')).toBe(7);
});
