// A process of the run has a file open on a mount that no longer answers: the run is answered,
// listed and killed all the same, because nothing of ours asks that file system.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { alive, binary, Cli, until } from '../cli/helper.ts';
import { CLIENTS } from '../mcp/clients.ts';
import { Life } from '../mcp/life.ts';
import { lacking } from '../requirements.ts';
import { hungMount, noMount } from './hung-mount.ts';

const why = noMount();
if (why !== undefined) process.stderr.write(`${why}\n`);
const { 'by hand': byHand = unknown } = CLIENTS;

/** Leaves a sleeper with the file open, says its pid, and ends once the FIFO is opened. */
function leaving(file: string, fifo: string): string {
  spawnSync('mkfifo', [fifo]);
  // The first reader is asked to flush and told that there is no such thing.
  return `cat ${file}; sleep 1000 <${file} & echo pid=$!; : <${fifo}`;
}

const noFuse = lacking(why !== undefined, 'no FUSE file system can be mounted here');

describe.skipIf(noFuse)('on a hung mount', () => {
  it('`cuff run` answers, `cuff ps` lists and `cuff kill` ends a survivor', async () => {
    const cli = new Cli();
    onTestFinished(() => cli.close());
    const mount = await hungMount();
    const fifo = join(cli.root, 'go');
    const live = await cli.running('hung', /pid=\d+\n/, 'bash', '-c', leaving(mount.file, fifo));
    live.child.stdin?.end();
    const pid = Number(/pid=(\d+)/.exec(await live.seen(/pid=\d+\n/))?.[1]);
    await cli.live('hung', 'sleep 1000');
    await mount.hang();
    writeFileSync(fifo, '');
    await until(() => live.child.exitCode !== null, 'cuff run ends');
    expect(live.child.exitCode).toBe(0);
    const left = await cli.live('hung', 'sleep 1000');
    expect(left.processes.map(({ holds_output }) => holds_output)).toEqual([true]);
    const killed = await cli.cuff('kill', 'hung', '--grace', '0');
    expect(killed.code).toBe(0);
    expect(alive(pid)).toBe(false);
  });

  it('an MCP answer comes, names the survivor, and the survivor is killed', async () => {
    const life = new Life();
    const mount = await hungMount();
    const fifo = join(life.cli.root, 'go');
    const client = await life.connect(byHand, 'cuff', '--dialect', 'cuff_shell');
    const asked = client.call('shell_run', { command: leaving(mount.file, fifo) });
    const [id = ''] = await ids(life);
    await life.cli.live(id, 'sleep 1000');
    await mount.hang();
    writeFileSync(fifo, '');
    const answer = await asked;
    expect(answer.text).toMatch(/sleep 1000/);
    await client.call('shell_kill', { id });
    expect(await life.cli.ps()).toEqual([]);
  });
});

// The daemon takes requests and never answers, so the kernel lets nobody end who waits for one.
describe.skipIf(noFuse)('a command that would start on a hung mount', () => {
  const SENTENCE = /mnt(\/file)?: its file system does not answer/;

  it.each([
    ['its working directory', (dir: string) => ['--cwd', dir, '--', 'true']],
    ['its program', (dir: string) => ['--', join(dir, 'file')]],
    ['its working directory, traced', (dir: string) => ['--trace', '--cwd', dir, '--', 'true']],
  ])('%s: `cuff run` ends at its time, with one sentence', async (_, words) => {
    const cli = new Cli();
    onTestFinished(() => cli.close());
    const mount = await hungMount();
    await mount.hang();
    const { code, err } = await cli.cuff('run', '--kill-after', '1s', ...words(mount.dir));
    expect(err).toMatch(SENTENCE);
    expect(code).toBe(126);
  });

  it('one that waits for it itself, and that KILL does not reach, is answered', async () => {
    const cli = new Cli();
    onTestFinished(() => cli.close());
    const mount = await hungMount();
    await mount.hang();
    const words = ['run', '--session-id', 'one', '--kill-after', '1s', '--', 'bash', '-c'];
    const live = cli.start([process.execPath, binary('cuff'), ...words, `cd ${mount.dir}`]);
    await until(() => live.child.exitCode !== null, 'cuff run ends');
    expect(live.child.exitCode).toBe(124);
    const final = JSON.parse(readFileSync(join(cli.dir('one'), 'final.json'), 'utf8'));
    expect(final).toMatchObject({ state: 'signaled', ended_by: 'timeout' });
  });

  it('`cuff kill` and a signal end one without a time', async () => {
    const cli = new Cli();
    onTestFinished(() => cli.close());
    const mount = await hungMount();
    await mount.hang();
    for (const end of ['kill', 'signal']) {
      const words = ['run', '--session-id', end, '--cwd', mount.dir, '--', 'true'];
      const live = cli.start([process.execPath, binary('cuff'), ...words]);
      await until(() => existsSync(join(cli.dir(end), 'control')), 'its runner takes orders');
      if (end === 'kill')
        await cli.cuff('kill', end); // which says what the kernel allowed
      else live.child.kill('SIGTERM');
      const { code, err } = await live.result;
      expect(err).toMatch(SENTENCE);
      expect(code).toBe(126);
    }
  });

  it('holds up no other call of its server, and is answered when it is killed', async () => {
    const life = new Life();
    const mount = await hungMount();
    const client = await life.connect(byHand, 'cuff', '--dialect', 'cuff_shell');
    await client.call('shell_run', { command: 'true' });
    await mount.hang();
    const asked = client.call('shell_run', { command: 'true', cwd: mount.dir });
    const [id = ''] = await ids(life);
    const other = await client.call('shell_run', { command: 'echo other' });
    expect(other.text).toMatch(/other/);
    await client.call('shell_kill', { id });
    expect((await asked).text).toMatch(SENTENCE);
  });
});

function unknown(): never {
  throw new Error('no such client');
}

async function ids(life: Life): Promise<string[]> {
  let found: string[] = [];
  while (found.length === 0) found = (await life.cli.ps()).map(({ session_id }) => session_id);
  return found;
}
