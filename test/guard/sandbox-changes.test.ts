// What is protected, compared before and after: names that were not there, what leads git to
// programs, what a link leads to. What a command may write is not looked at.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lookAround } from '../../src/guard/sandbox.ts';
import { changesOf, changesWords, heldRuns, ProjectChanges } from '../../src/policies/changes.ts';
import { protectedPaths } from '../../src/policy/protected.ts';

class Place {
  readonly home = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'cuff-changes-')));
  readonly project = join(this.home, 'project');
  readonly changes = new ProjectChanges(join(this.home, 'state'), this.project);

  constructor() {
    onTestFinished(() => fs.rmSync(this.home, { recursive: true, force: true }));
    execFileSync('git', ['init', '-q', this.project]);
    fs.mkdirSync(join(this.home, 'state'), { mode: 0o700 });
    this.write('.gitattributes', '*.txt text\n');
    this.write('docs/kind.md', 'be kind\n');
    fs.symlinkSync('docs/kind.md', join(this.project, 'AGENTS.md'));
    this.write('.cuff/policy.yml', 'default: ask\n');
  }

  write(name: string, text: string): void {
    const path = join(this.project, name);
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.writeFileSync(path, text);
  }

  look() {
    const { project, home } = this;
    const guarded = protectedPaths({ project, home }, { more: [], opened: [] });
    const scopes = { read: [], write: [project], protect: [] };
    const found = lookAround({
      scopes,
      project,
      home,
      network: false,
      cwd: project,
      guarded,
    }).found;
    if (found === undefined) throw new Error('nothing was looked at');
    return found.state;
  }

  /** The changes that `act` makes. */
  after(act: () => void): readonly string[] {
    const before = this.look();
    act();
    return changesWords(this.changes.between(before, this.look()), this.project);
  }
}

const CONFIG = '[core]\nfsmonitor = touch pwned\n';

describe('told is', () => {
  it.each([
    ...['CLAUDE.md', 'sub/CLAUDE.md', 'GEMINI.md', '.cursorrules', 'mcp.json', '.mcp.json'],
    ...['.gitlab-ci.yml', '.envrc', '.gitmodules', '.npmrc', '.env', 'sitecustomize.py', 'x.pth'],
    ...['.cuff/settings.yml', '.git/hooks/pre-commit', '.git/commondir', '.git/config.worktree'],
    ...['.git/info/attributes', '.git/objects/info/alternates', 'sub/.git'],
  ])('a new file %s', (name) => {
    const place = new Place();
    expect(place.after(() => place.write(name, 'x'))).toEqual([`new ${name}`]);
  });

  it.each([
    ['.github/workflows/x.yml', '.github/workflows'],
    ['.vscode/tasks.json', '.vscode'],
    ['.claude/settings.json', '.claude'],
    ['a/b/.husky/pre-commit', 'a/b/.husky'],
    ['.venv/bin/python', '.venv/bin'],
    ['.git/worktrees/x/commondir', '.git/worktrees'],
    ['.git/modules/a/b/config', '.git/modules'],
    ['sub/.git/config', 'sub/.git'],
  ])('the new directory of %s', (name, told) => {
    const place = new Place();
    expect(place.after(() => place.write(name, 'x'))).toEqual([`new ${told}`]);
  });

  it('a repository under another name, and the hooks it gets', () => {
    const place = new Place();
    expect(
      place.after(() => execFileSync('git', ['init', '-q', '--bare', join(place.project, 'b')])),
    ).toEqual(['new b']);
    expect(place.after(() => place.write('b/config', CONFIG))).toEqual(['changed b/config']);
    expect(place.after(() => place.write('b/hooks/update', 'x'))).toEqual(['new b/hooks/update']);
  });

  it('another content, also by a link, another name, or in the place of the same', () => {
    const place = new Place();
    const path = (name: string): string => join(place.project, name);
    fs.linkSync(path('.gitattributes'), path('other'));
    expect(place.after(() => place.write('other', '* filter=x\n'))).toEqual([
      'changed .gitattributes',
    ]);
    expect(place.after(() => place.write('docs/kind.md', 'be evil\n'))).toEqual([
      'changed AGENTS.md',
    ]);
    const config = fs.readFileSync(path('.git/config'), 'utf8');
    const replaced = (): void => {
      fs.renameSync(path('.git'), path('away'));
      place.write('.git/config', config + CONFIG);
    };
    expect(place.after(replaced)).toContain('changed .git/config');
    expect(place.after(() => fs.rmSync(path('.gitattributes')))).toEqual([
      'removed .gitattributes',
    ]);
  });

  it('that there are more files than are looked at', () => {
    const place = new Place();
    const before = place.look();
    const after = { ...place.look(), whole: false };
    expect(changesWords(place.changes.between(before, after), place.project)).toEqual([
      `too many files in ${place.project}`,
    ]);
    // Where there were too many before, what is younger than the command is told.
    place.write('CLAUDE.md', 'x');
    const changes = place.changes.between({ ...before, whole: false }, place.look());
    expect(changesWords(changes, place.project)).toEqual(['new CLAUDE.md']);
    const later = { ...before, whole: false, at: Date.now() + 3_600_000 };
    expect(place.changes.between(later, place.look())).toEqual([]);
  });
});

it.each([
  ...['src/a.ts', 'README.md', 'package.json', '.git/index', '.git/refs/heads/x', '.git/logs/HEAD'],
  ...['.git/objects/ab/cd', '.git/COMMIT_EDITMSG', '.cuff/recordings/x.jsonl', '.cuff/spool/x'],
  ...['.cuff/.gitignore', 'node_modules/.bin/x'],
])('%s may be written', (name) => {
  const place = new Place();
  expect(place.after(() => place.write(name, 'x'))).toEqual([]);
});

it('the same content in a new file of the same name is no change', () => {
  const place = new Place();
  const same = (): void => {
    const path = join(place.project, '.gitattributes');
    fs.renameSync(path, `${path}.old`);
    place.write('.gitattributes', '*.txt text\n');
    fs.rmSync(`${path}.old`);
  };
  expect(place.after(same)).toEqual([]);
});

describe('a project that is held', () => {
  const change = { path: '/p/CLAUDE.md', how: 'new', state: 'file 1' } as const;

  it('goes on when a person has looked at all of it', () => {
    const { changes } = new Place();
    changes.hold({ id: 'run', command: 'make', at: 1, changes: [change] });
    const [seen] = changes.held();
    expect(seen).toMatchObject({ id: 'run', command: 'make', changes: [change] });
    const more = { ...change, path: '/p/AGENTS.md' };
    changes.hold({ id: 'run', command: 'make', at: 2, changes: [change, more] });
    if (seen !== undefined) changes.accept(seen);
    const [rest] = changes.held();
    expect(rest).toMatchObject({ changes: [more] });
    if (rest !== undefined) changes.accept(rest);
    expect(changes.held()).toEqual([]);
  });

  it('stays held by a record that cannot be read', () => {
    const place = new Place();
    place.changes.hold({ id: 'run', command: 'make', at: 1, changes: [change] });
    const top = join(place.home, 'state', 'changes');
    const [name = ''] = fs.readdirSync(top);
    fs.writeFileSync(join(top, name, 'run.held.json'), '{');
    const held = heldRuns(join(place.home, 'state'));
    expect(held).toMatchObject([{ id: 'run', changes: [] }]);
    expect(place.changes.held()).toHaveLength(1);
    for (const one of held) changesOf(join(place.home, 'state'), one).accept(one);
    expect(place.changes.held()).toEqual([]);
  });
});
