// A server anchors what it recorded before it ends, and the next one says how that went.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { alive, until } from '../cli/helper.ts';
import { FACT_MS_MAX } from '../pace.ts';
import { CLIENTS } from './clients.ts';
import { Life } from './life.ts';

it('a server that stops leaves its root at the places of the user’s settings', async () => {
  const life = new Life();
  const [connect] = Object.values(CLIENTS);
  if (connect === undefined) throw new Error('There is no client.');
  const file = join(life.project, 'kept.log');
  mkdirSync(join(life.project, 'cuff')); // the settings of the user
  const gone = join(life.project, 'gone', 'kept.log');
  const anchors = `seal: { anchor: ["file ${file}", "file ${gone}"] }\n`;
  writeFileSync(join(life.project, 'cuff', 'settings.yml'), anchors);
  const client = await life.connect(connect, 'cuff');
  const { text } = await client.call('bash_recorder_execute', { command: 'true' });
  expect(JSON.parse(text)).toMatchObject({ exit_code: 0 });
  await client.close();
  await until(() => !alive(client.pid), 'the server ends');
  const [, , size] = readFileSync(file, 'utf8').trim().split(' ');
  const leaves = readFileSync(join(life.cli.root, 'seal', 'leaves'), 'utf8').split('\n');
  expect(leaves[Number(size) - 1]).toMatch(/^cuff\/1 close /);
  expect(leaves[Number(size)]).toBe(`cuff/1 anchor file ${size} ${file}`);
  await life.connect(connect, 'cuff');
  const health = async (): Promise<string> =>
    JSON.stringify(JSON.parse((await life.cli.cuff('status', '--json')).out).servers[0]?.health);
  const why = `The ledger was not anchored: file ${gone}: it cannot be written: ENOENT.`;
  await expect.poll(health, { timeout: FACT_MS_MAX }).toContain(why);
  expect(JSON.parse(await health())).toMatchObject({ healthy: true });
  expect(await health()).toContain('"last_anchor":"20');
});
