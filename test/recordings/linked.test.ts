// A repository that brings a link in the place of its journal, or a journal of another user, gets
// nothing read, written or deleted behind it, and its commands are recorded all the same.
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { binary, type Result } from '../cli/helper.ts';
import { CLIENTS } from '../mcp/clients.ts';
import { Life } from '../mcp/life.ts';
import { lacking } from '../requirements.ts';
import { Journal } from './helper.ts';

const OLD = '20250601_090000_b8c4d0e3-f6a7';
const SECRET = 'the password is in here';

function fresh(): Journal {
  const made = new Journal();
  onTestFinished(() => made.close());
  return made;
}

let victim: Journal;

beforeEach(() => {
  victim = fresh();
  victim.add(OLD, { entries: [{ command: 'cat notes', stdout: SECRET }] });
});

/** Everything in the victim's journal, with its content. */
function contentOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .sort()
    .map((path) => `${path}: ${readFileSync(path, 'latin1')}`);
}

/** Puts a link to the victim's journal into a project; says which path is the link. */
const LINKS: Readonly<Record<string, (project: string) => string>> = {
  '.cuff': (project) => {
    symlinkSync(dirname(victim.directory), join(project, '.cuff'));
    return join(project, '.cuff');
  },
  recordings: (project) => {
    mkdirSync(join(project, '.cuff'));
    symlinkSync(victim.directory, join(project, '.cuff/recordings'));
    return join(project, '.cuff/recordings');
  },
  sessions: (project) => {
    mkdirSync(join(project, '.cuff/recordings'), { recursive: true });
    symlinkSync(victim.sessions, join(project, '.cuff/recordings/sessions'));
    return join(project, '.cuff/recordings/sessions');
  },
};

describe.each(Object.entries(LINKS))('a project whose %s is a link', (_, linked) => {
  it('gets nothing out of `cuff record`, nothing is deleted, and it is said why', async () => {
    const clone = fresh();
    const link = linked(clone.project);
    const before = contentOf(victim.directory);
    writeFileSync(clone.path('history.jsonl'), '{"command":"true"}\n');
    for (const words of [
      ['list', '--json'],
      ['show', OLD],
      ['stats'],
      ['search', 'password'],
      ['generate'],
      ['export', 'all'],
      ['clean', '--older-than', '1d', '--force'],
      ['reindex'],
      ['import', 'history.jsonl'],
    ]) {
      const { out, err } = await clone.run(...words);
      expect(out).not.toMatch(/password|cat notes|"deleted": \["/);
      expect(err).toMatch(/^Journal: \/.*\/journals\/[0-9a-f]{32}, because /m);
      expect(err).toContain(`because ${link} is a symbolic link`);
    }
    expect(contentOf(victim.directory)).toEqual(before);
  });

  it("gets its commands recorded in the user's state root", async () => {
    const life = new Life();
    const link = linked(life.project);
    const before = contentOf(victim.directory);
    const client = await life.connect(byHand, 'cuff');
    const { text } = await client.call('bash_recorder_execute', { command: 'echo ran' });
    const { stdout, recording_id } = JSON.parse(text.slice(0, text.lastIndexOf('}') + 1));
    expect([stdout, typeof recording_id]).toEqual(['ran\n', 'string']);
    const [journal = ''] = readdirSync(join(life.cli.root, 'journals'));
    const directory = join(life.cli.root, 'journals', journal);
    const because = `because ${link} is a symbolic link`;
    const notice = `Commands of this project are recorded in ${directory}, ${because}.`;
    expect(text).toContain(notice);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const recent = await client.call('bash_recorder_list_recent', {});
    expect(recent.text).toContain('echo ran');
    expect(recent.text).not.toContain('cat notes');
    const status = await inProject(life, 'status', '--json');
    expect(JSON.parse(status.out).servers[0].health.notices).toEqual([notice]);
    await client.close(); // retention ran at its start
    expect(contentOf(victim.directory)).toEqual(before);

    const found = await inProject(life, 'record', 'search', 'echo ran');
    expect([found.code, found.err]).toEqual([0, `Journal: ${directory}, ${because}\n`]);
    expect(found.out).toContain('echo ran');
    // Nothing moves by itself once the link is gone.
    rmSync(link);
    const gone = await inProject(life, 'record', 'list', '--json');
    expect(JSON.parse(gone.out).sessions).toEqual([]);
    expect(gone.err).toBe(`More of this project is in another journal: --directory ${directory}\n`);
    const other = await inProject(life, 'record', 'list', '--json', '--directory', directory);
    expect(JSON.parse(other.out).sessions).toHaveLength(1);
  });
});

const { 'by hand': byHand = unknown } = CLIENTS;

function unknown(): never {
  throw new Error('no such client');
}

/** `cuff ...` where the server of this life runs. */
async function inProject(life: Life, ...words: readonly string[]): Promise<Result> {
  const enter = ['sh', '-c', 'cd "$0" && exec "$@"', life.project];
  const live = life.cli.start([...enter, process.execPath, binary('cuff'), ...words], {
    env: life.env,
  });
  live.child.stdin?.end();
  return live.result;
}

describe('a project whose .cuff is a file', () => {
  it('has a server that runs its commands and says that none is recorded', async () => {
    const life = new Life();
    writeFileSync(join(life.project, '.cuff'), '');
    const client = await life.connect(byHand, 'cuff', '--dialect', 'cuff_shell');
    const { text } = await client.call('shell_run', { command: 'echo ran' });
    expect(text).toContain('ran');
    expect(text).toContain('[not in the journal: ');
  });
});

describe('a journal in the usual place', () => {
  it.skipIf(lacking(process.getuid?.() !== 0, 'only root can give files away'))(
    'of another user is not read',
    async () => {
      chownSync(victim.directory, 65_534, 65_534);
      const { out, err } = await victim.run('search', 'password');
      expect(out).not.toContain(SECRET);
      expect(err).toContain(`because ${victim.directory} belongs to another user (uid 65534)`);
    },
  );

  it('is closed to others and kept out of git when something is written to it', async () => {
    chmodSync(victim.directory, 0o755);
    chmodSync(victim.sessions, 0o755);
    writeFileSync(victim.path('history.jsonl'), '{"command":"true"}\n');
    expect(await victim.run('import', 'history.jsonl')).toMatchObject({ code: 0 });
    const modes = [victim.directory, victim.sessions].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700]);
    expect(readFileSync(join(victim.directory, '.gitignore'), 'utf8')).toBe('*\n');
  });
});

describe('a journal that is named', () => {
  it('is resolved once, whatever links lead to it', async () => {
    const clone = fresh();
    symlinkSync(victim.directory, clone.path('link'));
    const { code, out, err } = await clone.run('search', 'password', '--directory', 'link');
    expect([code, err]).toEqual([0, `Journal: ${victim.directory}\n`]);
    expect(out).toContain(SECRET);
  });

  it('must not be writable by other users', async () => {
    const open = fresh().path('open');
    cpSync(victim.directory, open, { recursive: true });
    chmodSync(open, 0o777);
    const { code, err } = await victim.run('list', '--directory', open);
    expect([code, err]).toEqual([
      1,
      `Error: Cannot read the journal ${open}: ${open} is writable by other users\n\n` +
        `Hint: Run: chmod go-w '${open}'\n`,
    ]);
  });

  it('stays as it is when it holds other files, too', async () => {
    const project = fresh();
    chmodSync(project.project, 0o755);
    writeFileSync(project.path('history.jsonl'), '{"command":"true"}\n');
    const words = ['import', 'history.jsonl', '--directory', '.'];
    expect(await project.run(...words)).toMatchObject({ code: 0 });
    expect(statSync(project.project).mode & 0o777).toBe(0o755);
    expect(existsSync(project.path('.gitignore'))).toBe(false);
    expect(statSync(project.path('sessions')).mode & 0o777).toBe(0o700);
  });
});

describe('cleaning', () => {
  it('deletes only files whose name and metadata are those of a session', async () => {
    const foreign = '20240101_000000_aaaaaaaa-bbbb';
    const lost = '20240102_000000_aaaaaaaa-bbbb';
    victim.add(foreign, { entries: [{ command: 'true' }] });
    victim.write(
      `${foreign}.meta.json`,
      readFileSync(join(victim.sessions, `${OLD}.meta.json`), 'utf8'),
    );
    victim.add(lost, { entries: [{ command: 'true' }] });
    rmSync(join(victim.sessions, `${lost}.meta.json`));
    victim.write('notes.jsonl', '{"mine":true}\n');
    const { code, out } = await victim.run('clean', '--older-than', '1d', '--force', '--json');
    expect([code, JSON.parse(out)]).toMatchObject([0, { deleted: [OLD], failed: [] }]);
    expect(readdirSync(victim.sessions).filter((name) => name.endsWith('.jsonl'))).toEqual([
      `${foreign}.jsonl`,
      `${lost}.jsonl`,
      'notes.jsonl',
    ]);
  });
});

describe('looking for a journal above', () => {
  function below(path: string): string {
    const folder = victim.path(path);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  async function list(cwd: string, env: Readonly<Record<string, string>> = {}) {
    const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const live = victim.start(['list', '--json'], cwd, words);
    live.child.stdin?.end();
    const { out, err } = await live.result;
    return [JSON.parse(out).sessions.length, err];
  }

  it('finds it, and names it on stderr', async () => {
    expect(await list(below('a/b'))).toEqual([1, `Journal: ${victim.directory}\n`]);
    expect(await list(victim.project)).toEqual([1, '']);
  });

  it('ends at the root of a repository', async () => {
    below('repo/.git');
    expect(await list(below('repo/src'))).toEqual([0, '']);
    mkdirSync(victim.path('.git'));
    expect(await list(below('a'))).toEqual([1, `Journal: ${victim.directory}\n`]);
  });

  it('ends before a directory for everyone', async () => {
    const inside = below('shared/mine');
    chmodSync(victim.path('shared'), 0o1777);
    mkdirSync(victim.path('shared/.cuff/recordings'), { recursive: true });
    expect(await list(inside)).toEqual([0, '']);
  });

  it('ends at the home directory', async () => {
    expect(await list(below('home/code'), { HOME: below('home') })).toEqual([0, '']);
  });

  it.skipIf(lacking(process.getuid?.() !== 0, 'only root can give files away'))(
    'ends before a directory of another user',
    async () => {
      const inside = below('theirs/mine');
      chownSync(victim.path('theirs'), 65_534, 65_534);
      expect(await list(inside)).toEqual([0, '']);
    },
  );

  it('is for reading: an import goes to the current directory', async () => {
    const folder = below('a');
    writeFileSync(join(folder, 'history.jsonl'), '{"command":"true"}\n');
    const live = victim.start(['import', 'history.jsonl'], folder);
    live.child.stdin?.end();
    expect(await live.result).toMatchObject({ code: 0, err: '' });
    expect(readdirSync(join(folder, '.cuff/recordings/sessions'))).toHaveLength(2);
    expect(readdirSync(victim.sessions)).toHaveLength(2);
  });
});
