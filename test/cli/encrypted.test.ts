// Captures that are encrypted at rest: the key, who can read them and who cannot, and that no plain
// byte stays.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { identityText, newIdentity, recipientText } from '../../src/age/x25519.ts';
import { binary, Cli } from './helper.ts';

const cli = new Cli();
const config = join(cli.root, 'config');
const identity = join(config, 'cuff', 'identity');
const settings = join(config, 'cuff', 'settings.yml');
const team = newIdentity();
const teamText = recipientText(team.recipient);

afterAll(() => cli.close());

/** In a project whose own settings say nothing of encryption, or only what does not count. */
const project = join(cli.root, 'project');
fs.mkdirSync(join(project, '.cuff'), { recursive: true });

function cuff(...args: string[]) {
  return within({}, ...args);
}

function within(env: Record<string, string>, ...args: string[]) {
  const words = [process.execPath, binary('cuff'), ...args];
  const live = cli.start(words, { cwd: project, env: { XDG_CONFIG_HOME: config, ...env } });
  live.child.stdin?.end();
  return live.result;
}

/** Every byte below the state root but those of the configuration. */
function onDisk(): string {
  const names = fs.readdirSync(cli.root, { recursive: true, encoding: 'utf8' });
  const paths = names.filter((name) => !/^(config|project)/.test(name));
  const files = paths
    .map((name) => join(cli.root, name))
    .filter((one) => fs.statSync(one).isFile());
  return files.map((path) => fs.readFileSync(path, 'latin1')).join('\n');
}

describe('cuff identity', () => {
  it('makes one that only its owner can read, and shows its recipient again', async () => {
    const first = await cuff('identity');
    expect([first.code, first.err]).toEqual([
      0,
      `Made ${identity}. Keep a copy: without it, what is encrypted for it cannot be read.\n`,
    ]);
    expect(first.out).toMatch(/^age1[a-z0-9]{58}\n$/);
    expect(fs.statSync(identity).mode & 0o777).toBe(0o600);
    expect(await cuff('identity')).toMatchObject({ code: 0, out: first.out, err: '' });
    const { out } = await cuff('identity', '--json');
    const recipients = [first.out.trim()];
    expect(JSON.parse(out)).toEqual({ path: identity, made: false, recipients, others: 0 });
  });

  it('refuses a file that is open to others, and one without a key', async () => {
    fs.chmodSync(identity, 0o640);
    const open = await cuff('identity');
    expect([open.code, open.out]).toEqual([1, '']);
    expect(open.err).toContain(`${identity} is open to other users.\nClose it with \`chmod 600`);
    fs.chmodSync(identity, 0o600);
    const empty = join(cli.root, 'empty');
    fs.writeFileSync(empty, '# nothing\n', { mode: 0o600 });
    const none = await cli.with({ CUFF_IDENTITY: empty }, 'identity');
    expect([none.code, none.err.split('\n')[0]]).toEqual([
      1,
      `cuff: The identity file ${empty} has no identity in it.`,
    ]);
  });
});

describe('encryption.recipients', () => {
  it('encrypts what `cuff run` captured before it ends as the command did', async () => {
    const recipient = (await cuff('identity')).out.trim();
    fs.writeFileSync(
      settings,
      `encryption:\n  recipients:\n    - ${recipient}\n    - ${teamText}\n`,
    );
    const script = 'echo "wombats $((6 * 7))"; echo err >&2; exit 3';
    const ran = await cuff('run', '--session-id', 'closed', '--', 'sh', '-c', script);
    expect([ran.code, ran.out, ran.err]).toEqual([3, 'wombats 42\n', 'err\n']);
    expect(onDisk()).not.toContain('wombats');
    expect(fs.readdirSync(cli.dir('closed')).filter((name) => !name.endsWith('.age'))).toEqual([
      'append.lock',
      'final.json',
      'meta.json',
    ]);
    expect((await cuff('cat', 'closed')).out.split('\n').sort()).toEqual(['', 'err', 'wombats 42']);
    expect((await cuff('cat', 'closed', '--stderr')).out).toBe('err\n');
    expect((await cuff('tail', '-n', '5', 'closed')).out).toContain('wombats 42\n');
    expect((await cuff('ls')).out).toContain('wombats');
  });

  it('says without an identity for whom it is; listing and verifying go on', async () => {
    const recipient = (await cuff('identity')).out.trim();
    fs.renameSync(identity, `${identity}.away`);
    const refusal = await cuff('cat', 'closed');
    expect([refusal.code, refusal.out, refusal.err]).toEqual([
      1,
      '',
      `cuff: The capture closed is encrypted for ${recipient}, ${teamText}.\n` +
        `There is no identity in ${identity}; name the file that has one in CUFF_IDENTITY.\n`,
    ]);
    const listed = await cuff('ls');
    expect([listed.code, listed.out]).toEqual([0, expect.stringMatching(/closed .*\(encrypted\)/)]);
    const verified = await cuff('verify', '--deep');
    expect(verified.out).toContain('1 capture was not hashed: encrypted, and no identity here');
    expect(verified.out).not.toContain('WRONG');
    const theirs = join(cli.root, 'team');
    fs.writeFileSync(theirs, `${identityText(team)}\n`, { mode: 0o600 });
    expect((await within({ CUFF_IDENTITY: theirs }, 'cat', 'closed', '--stdout')).out).toBe(
      'wombats 42\n',
    );
    const deep = await within({ CUFF_IDENTITY: theirs }, 'verify', '--deep');
    expect(deep.out).toContain('1 sealed capture hashed');
    expect(deep.out).not.toMatch(/WRONG|not hashed/);
    fs.renameSync(`${identity}.away`, identity);
  });

  it('finds what was changed or cut', async () => {
    const path = join(cli.dir('closed'), 'output.bin.gz.age');
    const bytes = fs.readFileSync(path);
    for (const forged of [bytes.subarray(0, -1), Buffer.concat([bytes, bytes.subarray(-1)])]) {
      fs.writeFileSync(path, forged);
      const { code, out, err } = await cuff('cat', 'closed');
      expect([code, out]).toEqual([1, '']);
      expect(err).toContain(`${path} cannot be decrypted: its end is missing or was changed.`);
    }
    const { code, out } = await cuff('verify', '--deep');
    expect([code, out]).toEqual([1, expect.stringContaining('capture closed, output')]);
    fs.writeFileSync(path, bytes);
  });

  it('cannot be turned off, or turned to others, by a project', async () => {
    const own = fs.readFileSync(settings, 'utf8');
    const names = ['settings.yml', '.cuff/settings.yml'];
    for (const [turn, text] of ['recipients: []', `recipients: [${teamText}]`].entries()) {
      for (const name of names) fs.writeFileSync(join(project, name), `encryption:\n  ${text}\n`);
      const named = turn === 0 ? {} : { CUFF_SETTINGS: join(project, 'settings.yml') };
      await within(named, 'run', '--session-id', `p${turn}`, '--', 'echo', `wombats ${turn}`);
      expect(onDisk()).not.toContain('wombats');
      expect((await cuff('cat', `p${turn}`)).out).toBe(`wombats ${turn}\n`);
    }
    fs.rmSync(settings);
    await cuff('run', '--session-id', 'plain', '--', 'echo', 'no recipients');
    expect(fs.readFileSync(join(cli.dir('plain'), 'output.bin'), 'utf8')).toBe('no recipients\n');
    fs.writeFileSync(settings, own);
    for (const name of names) fs.rmSync(join(project, name));
  });

  it('reaches what is there already with the next sweep', async () => {
    const swept = await cuff('sweep');
    expect([swept.code, swept.err]).toEqual([0, expect.stringContaining('Packed 1 capture')]);
    expect(onDisk()).not.toContain('no recipients');
    expect((await cuff('cat', 'plain')).out).toBe('no recipients\n');
  });

  it('reaches a command with an entry that ended in the last second of its session', async () => {
    const words = ['run', '--journal', '--session-id', 'entered', '--', 'echo', 'entered'];
    expect(await cuff(...words)).toMatchObject({ code: 0, out: 'entered\n', err: '' });
    const names = fs.readdirSync(cli.dir('entered'));
    expect(names).toContain('output.bin.gz.age');
    expect(names).not.toContain('output.bin');
  });

  it('reaches runs that end at once, of which only one can seal', async () => {
    const ids = Array.from({ length: 8 }, (_, place) => `together-${place}`);
    await Promise.all(ids.map((id) => cuff('run', '--session-id', id, '--', 'echo', 'wombats')));
    const plain = ids.filter((id) => fs.existsSync(join(cli.dir(id), 'output.bin')));
    expect(plain).toEqual([]);
  });

  it('with a mistake in it leaves the capture plain, and says so', async () => {
    const secret = identityText(team);
    fs.writeFileSync(settings, `encryption: {recipients: [${secret}]}\n`);
    const ran = await cuff('run', '--session-id', 'wrong', '--', 'echo', 'still here');
    expect([ran.code, ran.out, ran.err]).toEqual([
      0,
      'still here\n',
      'cuff: run wrong is not encrypted: ' +
        `${settings}: encryption.recipients[0] is no recipient of age\n`,
    ]);
    expect((await cuff('cat', 'wrong')).out).toBe('still here\n');
  });

  it('with a mistake in it keeps `cuff sweep` from removing anything', async () => {
    const path = join(cli.dir('wrong'), 'final.json');
    const final = {
      ...JSON.parse(fs.readFileSync(path, 'utf8')),
      ended_at: '2020-01-01T00:00:00.000Z',
    };
    fs.writeFileSync(path, `${JSON.stringify(final)}\n`);
    const swept = await cuff('sweep');
    expect([swept.code, swept.out]).toEqual([2, '']);
    expect(swept.err).toContain('encryption.recipients[0] is no recipient of age\n');
    expect(fs.existsSync(cli.dir('wrong'))).toBe(true);
    fs.rmSync(settings);
    expect((await cuff('sweep')).out).toMatch(/^wrong +remove +expired$/m);
  });

  it.each([
    ['encryption: yes', 'encryption names no recipients'],
    [`encryption: {recipient: [${teamText}]}`, 'encryption.recipient is no key of the settings'],
    ['encryption: {recipients: yes}', 'encryption.recipients is no list'],
  ])('takes no mistake for none: %s', async (text, words) => {
    fs.writeFileSync(settings, `${text}\n`);
    const ran = await cuff('run', '--', 'true');
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining(`${settings}: ${words}\n`)]);
    fs.rmSync(settings);
  });
});
