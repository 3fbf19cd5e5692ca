// Replacing a configuration file while the disk fails, at every operation there is, once or from
// then on as when the process is killed: the file is the old one or the new one.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ConfigDisk, replaceConfig } from '../../../src/cli/init/file.ts';
import { Ledger, stepOf, undone } from '../../../src/cli/init/ledger.ts';

function tempDir(): string {
  const dir = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'cuff-config-'));
  onTestFinished(() => fs.rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Counts its calls; those that `fails` names throw instead. */
function countingDisk(fails: (call: number) => boolean) {
  let calls = 0;
  const disk = new Proxy(fs, {
    get: (target, name) => {
      const real: unknown = Reflect.get(target, name);
      if (typeof real !== 'function') return real;
      return (...args: unknown[]) => {
        calls += 1;
        if (fails(calls)) throw Object.assign(new Error('EIO'), { code: 'EIO' });
        return Reflect.apply(real, target, args);
      };
    },
  });
  return { disk: disk as ConfigDisk, calls: () => calls };
}

const OLD = '{"a": 1}\n';
const NEW = '{"a": 1, "cuff": {}}\n';

describe.each([
  ['fails once', (at: number) => (call: number) => call === at],
  ['is gone from then on', (at: number) => (call: number) => call >= at],
])('a disk that %s', (_, failing) => {
  it.each([
    ['a change', OLD, NEW],
    ['a new file', undefined, NEW],
    ['a removal', OLD, undefined],
  ])('leaves the old file or the new one: %s', (__, before, after) => {
    for (let at = 1; ; at += 1) {
      const path = join(tempDir(), 'client', 'settings.json');
      if (before !== undefined) {
        fs.mkdirSync(join(path, '..'));
        fs.writeFileSync(path, before, { mode: 0o640 });
      }
      const { disk, calls } = countingDisk(failing(at));
      let failed = false;
      try {
        replaceConfig({ path, before, after }, 'settings.json', { disk });
      } catch {
        failed = true;
      }
      const now = fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : undefined;
      expect([before, after]).toContain(now);
      if (!failed) expect(now).toBe(after);
      if (now !== undefined && before !== undefined) {
        expect(fs.statSync(path).mode & 0o777).toBe(0o640);
      }
      if (calls() < at) break;
    }
  });
});

describe('the ledger', () => {
  const texts = ['{"a": 1}', '{"a": 1, "b": 2}', '{"a": 1, "b": 2, "c": 3}'];

  it('knows a step that was never taken, and takes back those that were', () => {
    const [first = '', second = '', third = ''] = texts;
    const steps = [stepOf(first, [second], []), stepOf(second, [third], ['/x'])];
    expect(undone(steps, third)).toEqual({ text: first, exact: true, made: ['/x'] });
    expect(undone(steps, second)).toEqual({ text: first, exact: true, made: [] });
    expect(undone(steps, first)).toEqual({ text: first, exact: true, made: [] });
    expect(undone(steps, `${third} `)).toEqual({ text: `${third} `, exact: false, made: [] });
    expect(undone([], first)).toEqual({ text: first, exact: false, made: [] });
    expect(undone([stepOf(undefined, [second], [])], second).text).toBeUndefined();
  });

  it('keeps what was replaced and not what stands around it, for its user alone', () => {
    const root = join(tempDir(), 'state');
    const ledger = new Ledger({ CUFF_STATE_ROOT: root });
    const before = '{"token": "s3cret", "x": 1}';
    ledger.add('/f', stepOf(before, [before.replace('1}', '1, "cuff": 2}')], []));
    const [name = ''] = fs.readdirSync(join(root, 'init'));
    const file = join(root, 'init', name);
    expect(fs.readFileSync(file, 'utf8')).not.toContain('s3cret');
    expect([fs.statSync(file).mode & 0o777, fs.statSync(join(file, '..')).mode & 0o777]).toEqual([
      ...[0o600, 0o700],
    ]);
    expect(ledger.steps('/f')).toHaveLength(1);
    for (const text of ['', '{', '[]', '{"path":"/f","steps":[{"after":"x"}]}', '{"path":"/g"}']) {
      fs.writeFileSync(file, text);
      expect(ledger.steps('/f')).toEqual([]);
    }
    ledger.forget('/f');
    expect(fs.readdirSync(join(root, 'init'))).toEqual([]);
  });
});
