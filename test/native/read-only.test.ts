// Behind a read-only bind mount, where trace.bin can be read and not written: the runner writes
// what processes tell it.
import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { Cli } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';
import { untraceable } from '../tracing/helper.ts';

const BWRAP = ['bwrap', '--ro-bind', '/', '/', '--dev', '/dev'];
const [program = '', ...options] = BWRAP;
const worksHere = spawnSync(program, [...options, 'true']).status === 0;
const noBwrap = lacking(untraceable || !worksHere, 'there is no tracing, or no bwrap');

const cli = new Cli();
afterAll(() => cli.close());

type Told = {
  readonly images: readonly { readonly argv: readonly string[] }[];
  readonly exit_code: number | null;
  readonly bytes: { readonly stdout: number; readonly stderr: number; readonly pty: number };
  readonly sources: readonly string[];
};

async function toldOf(id: string): Promise<{
  readonly processes: readonly Told[];
  readonly untraced: readonly unknown[];
  readonly unattributed_bytes: number;
}> {
  return JSON.parse((await cli.cuff('trace', id, '--json')).out);
}

const SCRIPT = 'echo inside; /bin/true; sh -c "exit 3"; cat /nonexistent; seq 200; :';

describe.skipIf(noBwrap)('behind bwrap --ro-bind / /', () => {
  it.each(['--no-tty', '--tty'])('every process and its end is told (%s)', async (tty) => {
    const id = `ro${tty}`;
    const run = await cli.cuff(
      'run',
      tty,
      '--trace',
      '--session-id',
      id,
      '--',
      ...BWRAP,
      'sh',
      '-c',
      SCRIPT,
    );
    expect(run.code).toBe(0);
    const { processes, untraced } = await toldOf(id);
    const ends = processes.map(({ images, exit_code }) => [
      images.at(-1)?.argv.slice(0, 2).join(' '),
      exit_code,
    ]);
    expect(ends).toEqual(
      expect.arrayContaining([
        ['/bin/true', 0],
        ['sh -c', 3],
        ['cat /nonexistent', 1],
        ['seq 200', 0],
      ]),
    );
    expect(processes.find(({ images }) => images.at(-1)?.argv[0] === 'seq')?.sources).toContain(
      'shim',
    );
    expect(untraced).toEqual([]);
  });
});
