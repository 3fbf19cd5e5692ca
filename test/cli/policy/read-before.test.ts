// `cuff policy check` by policies as an earlier process has read them.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { binary, Cli } from '../helper.ts';

const cli = new Cli();
const folder = mkdtempSync(join(tmpdir(), 'cuff-policy-'));

const POLICY = `version: 1
default: ask
policies:
  - name: dev
    commands:
      - pattern: git log *
      - pattern: git push *
        decision: deny
`;

afterAll(async () => {
  await cli.close();
  rmSync(folder, { recursive: true, force: true });
});

it('answers alike when the policy was read before, and never by an old one', async () => {
  const [state, file] = [join(folder, 'state'), join(folder, '.cuff', 'policy.yml')];
  mkdirSync(join(folder, '.cuff'), { recursive: true });
  mkdirSync(state, { mode: 0o700 });
  writeFileSync(file, POLICY);
  const check = async (...args: readonly string[]): Promise<unknown> => {
    const program = [process.execPath, binary('cuff'), 'policy', 'check', ...args];
    const command = ['env', '-C', folder, `CUFF_STATE_ROOT=${state}`, ...program];
    const live = cli.start(command, { env: { HOME: folder, XDG_CONFIG_HOME: '' } });
    live.child.stdin?.end();
    const { out, err, code } = await live.result;
    return { out, err, code };
  };
  const asked = [['git push'], ['git log', '--json'], ['ls', '--cwd', '/', '--project', folder]];
  const first = await Promise.all(asked.map((args) => check(...args)));
  const rules = join(state, 'rules');
  const [kept = '', ...more] = readdirSync(rules);
  expect(more).toEqual([]);
  expect(await Promise.all(asked.map((args) => check(...args)))).toEqual(first);
  // What stands there is believed, so that only a file of ours may stand there.
  const loose = readFileSync(join(rules, kept), 'utf8').replace(
    '"decision":"deny"',
    '"decision":"ask"',
  );
  writeFileSync(join(rules, kept), loose);
  expect(await check('git push')).toMatchObject({ code: 3 });
  chmodSync(join(rules, kept), 0o644);
  expect(await check('git push')).toEqual(first[0]);
  writeFileSync(file, POLICY.replace('decision: deny', 'decision: ask'));
  expect(await check('git push')).toMatchObject({ code: 3 });
  writeFileSync(file, 'default: [');
  expect(await check('git push')).toMatchObject({ out: '', code: 2 });
});
