// `cuff redact` and `cuff record leaks` where captures are encrypted: what an identity opens is
// searched and redacted like the rest, and the rest is counted, and said for whom it is.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AGENT_VARIABLES } from '../../src/text/agents.ts';
import { planted } from '../text/secrets/planted.ts';
import { binary, Cli, type Result } from './helper.ts';

const cli = new Cli();
const project = join(cli.root, 'project');
const config = join(cli.root, 'config');
const identity = join(config, 'cuff', 'identity');
const [token] = planted('in an encrypted capture');
const SECRET = token?.secret ?? '';
let recipient = '';
let session = '';

afterAll(() => cli.close());

/** As a person's script calls it. */
function cuff(args: readonly string[], more: Record<string, string> = {}, input = '') {
  const none = [...AGENT_VARIABLES].flatMap((name) => ['-u', name]);
  const words = ['env', ...none, process.execPath, binary('cuff'), ...args];
  const env = { XDG_CONFIG_HOME: config, ...more };
  const { child, result } = cli.start(words, { cwd: project, env });
  child.stdin?.end(input);
  return result as Promise<Result>;
}

function filesWith(text: string): string[] {
  return fs
    .readdirSync(cli.root, { recursive: true, encoding: 'utf8' })
    .map((name) => join(cli.root, name))
    .filter((path) => fs.statSync(path).isFile() && fs.readFileSync(path).includes(text));
}

beforeAll(async () => {
  fs.mkdirSync(join(project, '.git'), { recursive: true });
  recipient = (await cuff(['identity'])).out.trim();
  const settings = `encryption:\n  recipients: [${recipient}]\n`;
  fs.writeFileSync(join(config, 'cuff', 'settings.yml'), settings);
  const secret = join(cli.root, 'project', 'secret');
  fs.writeFileSync(secret, `${token?.text}\n`);
  await cuff(['run', '--session-id', 'alone', '--', 'cat', 'secret']);
  await cuff(['run', '--journal', '--agent', 'demo', '--', 'sh', '-c', 'echo its output']);
  fs.rmSync(secret);
  const { out } = await cuff(['record', 'list', '--json']);
  session = JSON.parse(out).sessions[0].session_id;
  expect(fs.existsSync(join(cli.dir('alone'), 'output.bin.gz.age'))).toBe(true);
  expect(filesWith(SECRET)).toEqual([]);
});

it('finds a leak with an identity; without one it says for whom the rest is', async () => {
  const found = await cuff(['record', 'leaks', '--json']);
  const { leaks, not_searched } = JSON.parse(found.out);
  expect([found.code, leaks.map((one: { run_id: string }) => one.run_id)]).toEqual([1, ['alone']]);
  expect(not_searched).toMatchObject({ captures: 0, recipients: [] });
  fs.renameSync(identity, `${identity}.away`);
  const none = await cuff(['record', 'leaks']);
  expect([none.code, none.out]).toEqual([0, 'No secrets found in 1 command and 0 captures.\n']);
  expect(none.err).toContain('Not searched: 2 captures that cannot be read.\n');
  expect(none.err).toContain(`They are encrypted for ${recipient}; CUFF_IDENTITY names`);
});

it('is refused without an identity, and nothing is changed', async () => {
  const parts = ['--parts', 'stdout,capture', '--why', 'customer data', '--yes'];
  const one = await cuff(['redact', session, '1', ...parts]);
  expect([one.code, one.out]).toEqual([1, '']);
  expect(one.err).toMatch(/^cuff: The capture \S+ is encrypted for age1/);
  expect(one.err).toContain(`There is no identity in ${identity}; name the file`);
  expect((await cuff(['record', 'show', session, '--entries', '--output'])).out).toContain(
    'its output',
  );
  const secret = await cuff(['redact', '--secret', '-', '--yes'], {}, SECRET);
  expect([secret.code, secret.out]).toEqual([
    1,
    'It was recorded nowhere in all that could be searched.\n',
  ]);
  expect(secret.err).toBe(
    `Not searched: 2 captures, encrypted for ${recipient}.\n` +
      'Name the file that has an identity for them in CUFF_IDENTITY, and redact again.\n',
  );
  const json = await cuff(['redact', '--secret', '-', '--yes', '--json'], {}, SECRET);
  expect([json.code, JSON.parse(json.out)]).toMatchObject([
    1,
    { redacted: [], left: [], not_searched: { captures: 2, recipients: [recipient], sessions: 0 } },
  ]);
});

it('takes out a secret, and all of a capture, with the identity that is named', async () => {
  const named = { CUFF_IDENTITY: `${identity}.away` };
  const before = (await cuff(['cat', 'alone'], named)).out;
  const secret = await cuff(['redact', '--secret', '-', '--yes'], named, SECRET);
  expect([secret.code, secret.out]).toEqual([
    0,
    'It is in 1 place:\n  capture alone: output.bin\nRedacted in 1 place.\n',
  ]);
  expect((await cuff(['cat', 'alone'], named)).out).toBe(
    before.replace(SECRET, '*'.repeat(SECRET.length)),
  );
  const parts = ['--parts', 'text,stdout,capture', '--why', 'customer data', '--yes'];
  const one = await cuff(['redact', session, '1', ...parts], named);
  expect([one.code, one.out]).toEqual([0, 'Redacted: text, stdout, 11 bytes of its capture.\n']);
  const verified = await cuff(['verify', '--deep', '--all'], named);
  expect([verified.code, verified.out]).toEqual([
    0,
    expect.stringContaining('1 capture was redacted: bytes 0-11, "customer data"; '),
  ]);
  expect(verified.out).toContain('2 sealed captures hashed');
  expect(filesWith('its output')).toEqual([]);
  expect((await cuff(['record', 'leaks'], named)).code).toBe(0);
  const plain = fs.readdirSync(cli.dir('alone')).filter((name) => /\.(bin|gz)$|tmp/.test(name));
  expect(plain).toEqual([]);
});
