// The command line of bubblewrap, word by word.
import { describe, expect, test } from 'vitest';
import { bwrapArgs } from '../../src/policy/sandbox.ts';

const PLACE = {
  project: '/data/me/p',
  home: '/data/me',
  network: false,
  cwd: '/data/me/p/src',
};
const NONE = { read: [], write: [], protect: [] };

const KERNEL = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs']
  .map((name) => `--ro-bind-try /proc/${name} /proc/${name}`)
  .join(' ');

describe('a sandbox', () => {
  test('is the system to read, and the project', () => {
    expect(bwrapArgs(NONE, PLACE).join(' ')).toBe(
      `--ro-bind / / --dev /dev --proc /proc ${KERNEL} ` +
        '--tmpfs /data/me --tmpfs /run --tmpfs /tmp --tmpfs /var/tmp ' +
        '--ro-bind-try /data/me/p /data/me/p ' +
        '--unshare-pid --unshare-ipc --unshare-net --cap-drop ALL --chdir /data/me/p/src --',
    );
  });

  test('has what may be read, over it what may be written, over it nothing', () => {
    const scopes = {
      read: ['/data/me/.gitconfig', '/data/me/p/docs'],
      write: ['/data/me/p', '/srv/out'],
      protect: [
        { path: '/data/me/p/.env', kind: 'file' },
        { path: '/data/me/p/.cuff', kind: 'directory' },
      ],
    } as const;
    expect(bwrapArgs(scopes, { ...PLACE, network: true }).join(' ')).toBe(
      `--ro-bind / / --dev /dev --proc /proc ${KERNEL} ` +
        '--tmpfs /data/me --tmpfs /run --tmpfs /tmp --tmpfs /var/tmp ' +
        '--ro-bind-try /run/systemd/resolve /run/systemd/resolve ' +
        '--ro-bind-try /data/me/.gitconfig /data/me/.gitconfig ' +
        '--ro-bind-try /data/me/p /data/me/p --ro-bind-try /data/me/p/docs /data/me/p/docs ' +
        '--bind-try /data/me/p /data/me/p --bind-try /srv/out /srv/out ' +
        '--tmpfs /data/me/p/.cuff --remount-ro /data/me/p/.cuff ' +
        '--ro-bind /dev/null /data/me/p/.env ' +
        '--unshare-pid --unshare-ipc --cap-drop ALL --chdir /data/me/p/src --',
    );
  });

  test('leaves the home directory and the temporary one to a scope that has all of it', () => {
    const scopes = { ...NONE, read: ['/data'], write: ['/tmp'] };
    const words = bwrapArgs(scopes, PLACE).join(' ');
    expect(words).not.toContain('--tmpfs /data');
    expect(words).not.toContain('--tmpfs /tmp');
    expect(words).toContain('--tmpfs /run');
  });

  test('does not bring back what is hidden for a scope of everything', () => {
    const read = bwrapArgs({ ...NONE, read: ['/'] }, PLACE);
    expect(read.join(' ')).toMatch(/^--ro-bind \/ \/ --dev/);
    expect(read.filter((word) => word === '/')).toHaveLength(2);
    const write = bwrapArgs({ ...NONE, write: ['/'] }, PLACE);
    expect(write.join(' ')).toMatch(/^--bind \/ \/ --dev/);
    expect(write.filter((word) => word === '/')).toHaveLength(2);
  });

  test('has what the recorder needs, also where it is protected', () => {
    const protect = [{ path: '/state', kind: 'directory' }] as const;
    const also = { read: ['/state/gate.sock'], write: ['/state/trace.bin'] };
    const words = bwrapArgs({ ...NONE, protect }, { ...PLACE, also }).join(' ');
    expect(words).toContain(
      '--tmpfs /state --remount-ro /state --ro-bind-try /state/gate.sock /state/gate.sock ' +
        '--bind-try /state/trace.bin /state/trace.bin',
    );
  });

  test('neither dies with who started it, nor takes its terminal away', () => {
    const words = bwrapArgs(NONE, PLACE);
    expect(words).not.toContain('--die-with-parent');
    expect(words).not.toContain('--new-session');
  });
});
