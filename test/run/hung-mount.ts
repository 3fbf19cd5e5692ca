// A file system that stops answering, mounted for one test: a FUSE daemon of a few lines. Ending it
// lets go of everything that waits for it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const DEVICE = '/dev/fuse';

export type HungMount = {
  /** A file that can be read until `hang`. */
  readonly file: string;
  readonly dir: string;
  /** From here on every question to the file system waits. */
  hang(): Promise<void>;
  /** It is gone, and every question that waited is answered. */
  end(): Promise<void>;
};

/** Why there can be no such mount here, or undefined. */
export function noMount(): string | undefined {
  if (process.platform !== 'linux') return 'a FUSE mount needs Linux';
  if (process.getuid?.() !== 0) return 'mounting a FUSE file system needs root';
  if (!existsSync(DEVICE)) spawnSync('mknod', [DEVICE, 'c', '10', '229']);
  if (!existsSync(DEVICE)) return 'there is no /dev/fuse, and mknod cannot make it';
  const probe = mkdtempSync(join(tmpdir(), 'cuff-hung-'));
  const { status, stderr } = spawnSync(built(probe), [mountPoint(probe)], { input: '' });
  rmSync(probe, { recursive: true, force: true });
  return status === 0 ? undefined : `a FUSE file system cannot be mounted: ${stderr}`;
}

function built(dir: string): string {
  const program = join(dir, 'hung-mount');
  const source = join(import.meta.dirname, 'programs', 'hung-mount.c');
  spawnSync('cc', ['-O1', '-o', program, source], { stdio: 'inherit' });
  return program;
}

function mountPoint(dir: string): string {
  mkdirSync(join(dir, 'mnt'));
  return join(dir, 'mnt');
}

export async function hungMount(): Promise<HungMount> {
  const root = mkdtempSync(join(tmpdir(), 'cuff-hung-'));
  const dir = mountPoint(root);
  const daemon = spawn(built(root), [dir], { stdio: ['pipe', 'pipe', 'inherit'] });
  const end = async (): Promise<void> => {
    const closed = once(daemon, 'close');
    daemon.stdin.end();
    if (daemon.exitCode === null) await closed;
  };
  onTestFinished(async () => {
    await end();
    rmSync(root, { recursive: true, force: true });
  });
  await said(daemon, 'mounted');
  return {
    dir,
    file: join(dir, 'file'),
    async hang() {
      daemon.stdin.write('hang\n');
      await said(daemon, 'hung');
    },
    end,
  };
}

async function said({ stdout }: ChildProcess, word: string): Promise<void> {
  if (stdout === null) throw new Error('no stdout');
  let text = '';
  while (!text.includes(`${word}\n`)) text += (await once(stdout, 'data'))[0];
}
