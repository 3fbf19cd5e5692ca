// A state root that cannot be one: the command is as without us, and nobody waits for ever.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeDirectories } from '../../src/directories.ts';
import { Cli } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';

const cli = new Cli();
const file = join(cli.root, 'a-file');
writeFileSync(file, 'not a directory\n');
afterAll(() => cli.close());

const noProc = lacking(process.platform !== 'linux', 'only Linux has /proc');
const ROOTS = ['a file', 'below a file', ...(noProc ? [] : ['in /proc'])];

describe('a state root that is', () => {
  it.each(ROOTS)('%s costs the capture, and no more', async (kind) => {
    const root = { 'a file': file, 'below a file': join(file, 'x') }[kind] ?? '/proc/nothing/here';
    const state = { CUFF_STATE_ROOT: root };
    const command = ['sh', '-c', 'echo out; echo err >&2; sleep 0.2; exit 3'];
    const run = await cli.with(state, 'run', '--', ...command);
    expect([run.code, run.out, run.err]).toEqual([3, 'out\n', 'err\n']);
    const strict = await cli.with(state, 'run', '--strict', '--', ...command);
    expect([strict.code, strict.out]).toEqual([1, '']);
    expect(strict.err).toContain(`The state root ${root} cannot be written.`);
    expect(readFileSync(file, 'utf8')).toBe('not a directory\n');
  });
});

describe('directories', () => {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-directories-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('are made with all that is above them, and left as they are', () => {
    const path = join(dir, 'a', 'b', 'c');
    makeDirectories(path, 0o700);
    writeFileSync(join(path, 'kept'), 'x');
    makeDirectories(path, 0o700);
    expect(readFileSync(join(path, 'kept'), 'utf8')).toBe('x');
  });

  const refused: (readonly [string, string, string])[] = [['below a file', 'file/x', 'ENOTDIR']];
  if (!noProc) refused.push(['in /proc', '/proc/nothing/x/y', 'ENOENT']);

  it.each(refused)('%s are refused at once', (_, path, errno) => {
    writeFileSync(join(dir, 'file'), '');
    const wanted = path.startsWith('/') ? path : join(dir, path);
    expect(() => makeDirectories(wanted)).toThrow(expect.objectContaining({ code: errno }));
  });
});
