import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { leadsToRemote, remoteIn } from '../../src/run/mounts.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-mounts-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('mounts that may stop answering', () => {
  it('are those whose uppermost file system is not local', () => {
    const table = [
      '22 1 0:21 / / rw,relatime shared:1 - ext4 /dev/sda1 rw',
      '30 22 0:40 / /home rw - nfs4 server:/home rw,hard',
      '31 22 0:41 / /media/my\\040disk rw shared:9 master:2 - fuse.sshfs host: rw',
      '32 22 0:42 / /covered rw - fuse.x x rw',
      '33 32 0:43 / /covered rw - tmpfs tmpfs rw',
      '',
    ];
    expect(remoteIn(table.join('\n'))).toEqual(['/home', '/media/my disk']);
  });

  it('are found behind links, and what lies beside them is not', () => {
    const mount = join(root, 'mount');
    mkdirSync(join(root, 'a', 'b'), { recursive: true });
    symlinkSync('../mount/inside', join(root, 'a', 'there'));
    symlinkSync(join(root, 'a'), join(root, 'away'));
    symlinkSync('round', join(root, 'round'));
    const leads = (...names: readonly string[]): boolean =>
      leadsToRemote(join(root, ...names), [mount]);
    expect([leads('mount'), leads('mount', 'x'), leads('a', 'there')]).toEqual([true, true, true]);
    expect(leads('away', 'there', 'deeper')).toBe(true);
    expect([leads('a', 'b'), leads('mountain'), leads('away', 'b')]).toEqual([false, false, false]);
    expect([leads('round'), leads('not', 'there')]).toEqual([false, false]);
    expect([leadsToRemote('/x', ['/']), leadsToRemote('/x', [])]).toEqual([true, false]);
  });
});
