// Both ways with the program `age`: it reads what we write, and we read what it writes.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openAge, recipientsOf } from '../../src/age/file.ts';
import { decryptedByAge } from '../../src/age/program.ts';
import { recipientOf } from '../../src/age/recipients.ts';
import { identityText, newIdentity, parseIdentity, recipientText } from '../../src/age/x25519.ts';
import { lacking } from '../requirements.ts';
import { decrypted, encrypted, inMemory, noise, numbers, SIZES, to } from './helper.ts';

const missing = ['age', 'ssh-keygen'].filter((name) => spawnSync(name, ['--version']).error);
const skip = lacking(missing.length > 0, 'age or ssh-keygen is not here');

function age(args: readonly string[], input: Uint8Array): Buffer {
  return execFileSync('age', [...args], { input, maxBuffer: 2 ** 24, stdio: 'pipe' });
}

function fileWith(text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-age-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'file');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

describe.skipIf(skip)('the program age', () => {
  const [mine, team] = [newIdentity(), newIdentity()];

  it('reads files of every size that we write', () => {
    const identity = fileWith(`# mine\n${identityText(team)}\n`);
    for (const size of SIZES) {
      const bytes = noise(size, numbers());
      const file = encrypted(bytes, [to(mine), to(team)], [50_000]);
      expect(age(['-d', '-i', identity], file).equals(bytes)).toBe(true);
    }
  }, 60_000);

  it('writes files of every size that we read, whole and in parts', () => {
    const next = numbers();
    const recipients = [mine, team].flatMap(({ recipient }) => ['-r', recipientText(recipient)]);
    for (const size of SIZES) {
      const bytes = noise(size, next);
      const file = age(recipients, bytes);
      expect(decrypted(file, team)?.equals(bytes)).toBe(true);
      const opened = openAge(inMemory(file), 'x.age', [mine]);
      expect(opened?.size).toBe(size);
      for (let turn = 0; turn < 20; turn += 1) {
        const [at, length] = [next(size + 1), next(80_000)];
        const part = Buffer.from(opened?.read(at, length) ?? []);
        expect(part.equals(bytes.subarray(at, at + length))).toBe(true);
      }
    }
  }, 60_000);

  it('has the same texts for the same keys', () => {
    const made = execFileSync('age-keygen', { encoding: 'utf8', stdio: 'pipe' });
    const secret = /^AGE-SECRET-KEY-1.*$/m.exec(made)?.[0] ?? '';
    const key = parseIdentity(secret);
    expect(key && recipientText(key.recipient)).toBe(/age1\w+/.exec(made)?.[0]);
    const ours = execFileSync('age-keygen', ['-y'], { input: `${identityText(mine)}\n` });
    expect(ours.toString().trim()).toBe(recipientText(mine.recipient));
  });

  it('wraps keys for ssh recipients, beside ours, and says for whom', () => {
    const dir = dirname(fileWith(''));
    execFileSync('ssh-keygen', [
      '-q',
      '-t',
      'ed25519',
      '-N',
      '',
      '-C',
      'me@home',
      '-f',
      join(dir, 'k'),
    ]);
    const ssh = recipientOf(readFileSync(join(dir, 'k.pub'), 'utf8').trim());
    if (ssh === undefined) throw new Error('it is no recipient');
    expect(ssh.key).toBeUndefined();
    const bytes = noise(100_000, numbers());
    const file = encrypted(bytes, [ssh, to(mine)], [30_000]);
    expect(age(['-d', '-i', join(dir, 'k')], file).equals(bytes)).toBe(true);
    expect(decrypted(file, mine)?.equals(bytes)).toBe(true);
    expect(recipientsOf(inMemory(file), 'x.age')).toEqual([ssh.text, to(mine).text]);
    const { output } = decryptedByAge(file, join(dir, 'k'));
    expect(output && Buffer.from(output).equals(bytes)).toBe(true);
    const unknown = { text: 'age1unheardof1qqqq', key: undefined };
    expect(() => encrypted(bytes, [unknown])).toThrow(
      '`age` cannot encrypt for these recipients: ',
    );
    vi.stubEnv('PATH', '/nowhere');
    expect(() => encrypted(bytes, [ssh])).toThrow(
      '`age` cannot encrypt for these recipients: it is not installed here.',
    );
    vi.unstubAllEnvs();
  });

  it('refuses what we refuse', () => {
    const identity = fileWith(identityText(mine));
    const file = encrypted(noise(70_000, numbers()), [to(mine)]);
    const start = file.length - 70_000 - 2 * 16;
    for (const forged of [
      file.subarray(0, start + 65_552),
      Buffer.concat([file, Buffer.from('x')]),
      Buffer.from(file.toString('latin1').replace('-> X25519', '-> x25519'), 'latin1'),
    ]) {
      expect(() => age(['-d', '-i', identity], forged)).toThrow();
      expect(decryptedOrRefused(forged)).toBe('refused');
    }

    function decryptedOrRefused(bytes: Uint8Array): string {
      try {
        return decrypted(bytes, mine) === undefined ? 'refused' : 'opened';
      } catch {
        return 'refused';
      }
    }
  });
});
