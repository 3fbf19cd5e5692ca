// What a sandbox opens: a link that a command made in a writable directory widens no scope of the
// next one.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lookAround } from '../../src/guard/sandbox.ts';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-scopes-')));
const project = join(home, 'project');
const outside = join(home, 'private');

beforeAll(() => {
  for (const path of [join(project, 'src/a'), join(project, 'docs'), outside]) {
    mkdirSync(path, { recursive: true });
  }
  symlinkSync(outside, join(project, 'src/gen'));
  symlinkSync(outside, join(project, 'src/a/out'));
  symlinkSync(outside, join(home, 'shared'));
  symlinkSync(project, join(home, 'linked'));
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

function opened(read: readonly string[], write: readonly string[]) {
  const scopes = { read, write, protect: [] };
  const options = { scopes, project, home, network: false, cwd: project };
  const found = lookAround(options).scopes;
  return { read: found.read, write: found.write };
}

it.each([
  [[], ['src', 'src/gen']],
  [[], ['src', 'src/*/out']],
  [[], ['src', 'src/gen/deep']],
  [['src/gen'], ['src']],
  [['src/a/out', 'src/gen/.ssh'], ['src']],
])('read %j, write %j', (read, write) => {
  expect(opened(read, write)).toEqual({ read: [], write: [join(project, 'src')] });
});

it('in a project that is reached through a link', () => {
  const scopes = { read: ['src/gen'], write: ['.', 'src/a/out'], protect: [] };
  const linked = join(home, 'linked');
  const options = { scopes, project: linked, home, network: false, cwd: linked };
  const { read, write } = lookAround(options).scopes;
  expect([read, write]).toEqual([[], [project]]);
});

it('a link where no command writes is what the person means', () => {
  expect(opened(['~/shared'], ['docs'])).toEqual({
    read: [outside],
    write: [join(project, 'docs')],
  });
  expect(opened([], ['src/gen', 'docs'])).toEqual({
    read: [],
    write: [outside, join(project, 'docs')],
  });
});
