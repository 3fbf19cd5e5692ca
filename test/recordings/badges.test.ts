// The one word on a session's seal where people see it: in lists, in a session, in exports.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { journalSessionIds } from '../../src/journal/reader.ts';
import { journalBelow } from '../../src/recordings/directory.ts';
import { binary, Cli } from '../cli/helper.ts';

const cli = new Cli();
const project = join(cli.root, 'project');

afterAll(() => cli.close());

async function cuff(...args: readonly string[]): Promise<string> {
  const live = cli.start([process.execPath, binary('cuff'), ...args], { cwd: project });
  live.child.stdin?.end();
  const { code, out, err } = await live.result;
  expect([code, err]).toEqual([0, '']);
  return out;
}

it('a sealed session says so, and one that was changed says that', async () => {
  mkdirSync(join(project, '.git'), { recursive: true });
  await cuff('run', '--journal', '--', 'true');
  const directory = journalBelow(project);
  const [id = ''] = journalSessionIds(directory);
  const words = async () => {
    const json = JSON.parse(await cuff('record', 'export', id, '--format', 'json'));
    return {
      list: (await cuff('record', 'list')).split('\n').map((line) => line.slice(85)),
      listed: JSON.parse(await cuff('record', 'list', '--format', 'json')).sessions[0].seal,
      show: /^Seal: (.*)$/m.exec(await cuff('record', 'show', id))?.[1],
      shown: JSON.parse(await cuff('record', 'show', id, '--format', 'json')).seal,
      exported: json.sessions[0].seal,
      html: / · (\w+)<\/p>/.exec(await cuff('record', 'export', id, '--format', 'html'))?.[1],
      all: JSON.parse(await cuff('record', 'export', 'all', '--format', 'json')).sessions[0].seal,
    };
  };
  const sealed = { list: ['Seal', '────', 'sealed', ''], listed: 'sealed' };
  expect(await words()).toEqual({
    ...sealed,
    ...{ show: 'sealed', shown: 'sealed', exported: 'sealed', html: 'sealed', all: 'sealed' },
  });
  const path = join(directory, 'sessions', `${id}.jsonl`);
  writeFileSync(path, readFileSync(path, 'utf8').replace('"exit_code":0', '"exit_code":1'));
  // A list hashes nothing; who looks at the session learns it.
  expect(await words()).toEqual({
    ...sealed,
    ...{
      show: 'tampered',
      shown: 'tampered',
      exported: 'tampered',
      html: 'tampered',
      all: 'tampered',
    },
  });
});
