// Sandboxes as agents make them: the seccomp filter of Codex, by a program of a few lines, and
// mounts by bwrap. Both are
// real; where one cannot be had, a test prints why it does not run.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const dir = mkdtempSync(join(tmpdir(), 'cuff-sandboxed-'));
const program = join(dir, 'codex-filter');

/** Removes the program. */
export function endSandboxes(): void {
  rmSync(dir, { recursive: true, force: true });
}

const source = join(import.meta.dirname, 'programs', 'codex-filter.c');
const built = spawnSync('cc', ['-O1', '-o', program, source], { encoding: 'utf8' });

/** Why there is no such filter here, or undefined. */
export const noFilter: string | undefined =
  built.status !== 0
    ? `the filter cannot be built: ${built.error?.message ?? built.stderr}`
    : spawnSync(program, ['true']).status !== 0
      ? 'seccomp filters cannot be installed'
      : undefined;

/** The words that start a program behind the filter. `no-messages`: sendmsg is forbidden, too. */
export function filtered(kind: 'codex' | 'no-messages' = 'codex'): readonly string[] {
  return kind === 'codex' ? [program] : [program, '--no-messages'];
}

const BWRAP = 'bwrap';

/** Why bwrap does not work here, or undefined. */
export const noBwrap: string | undefined =
  spawnSync(BWRAP, ['--ro-bind', '/', '/', '--dev', '/dev', 'true']).status === 0
    ? undefined
    : 'bwrap is not installed, or may not make namespaces';

/** All files are read-only, except those below these directories; and the filter of Codex. */
export function mounted(cwd: string, writable: readonly string[]): readonly string[] {
  const binds = writable.flatMap((path) => ['--bind', path, path]);
  const base = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', ...binds];
  return [BWRAP, ...base, '--chdir', cwd, ...filtered()];
}

/** Not even shared memory can be written. */
export function readOnly(cwd: string): readonly string[] {
  const base = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
  const closed = ['--remount-ro', '/dev/shm', '--remount-ro', '/dev'];
  return [BWRAP, ...base, ...closed, '--chdir', cwd, ...filtered()];
}

/** A small disk in the place of `cwd`, and everything else read-only. */
export function onSmallDisk(cwd: string, bytes: number): readonly string[] {
  const disk = ['--size', String(bytes), '--tmpfs', cwd];
  return [BWRAP, '--ro-bind', '/', '/', '--dev', '/dev', ...disk, '--chdir', cwd, ...filtered()];
}
