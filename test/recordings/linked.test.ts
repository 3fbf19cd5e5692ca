// A repository that brings a link in the place of its journal, or a journal of another user, gets
// nothing read, written or deleted behind it.
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
  it('gets nothing out of `cuff record`, and nothing is deleted', async () => {
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
      const { code, out, err } = await clone.run(...words);
      expect([words[0], code, out]).toEqual([words[0], 1, '']);
      expect(err).toContain(`${link} is a symbolic link`);
    }
    expect(contentOf(victim.directory)).toEqual(before);
  });

  it('gets its commands executed by the server, which records none and says why', async () => {
    const life = new Life();
    const link = linked(life.project);
    const before = contentOf(victim.directory);
    const [connect] = Object.values(CLIENTS);
    const client = await life.connect(connect ?? expect.fail('no client'), 'cuff');
    const { text } = await client.call('bash_recorder_execute', { command: 'echo ran' });
    expect(JSON.parse(text)).toMatchObject({ stdout: 'ran\n', recording_id: null });
    expect(text).toContain(`${link} is a symbolic link`);
    const recent = await client.call('bash_recorder_list_recent', {});
    expect(recent.text).not.toContain('cat notes');
    await client.close(); // retention ran at its start
    expect(contentOf(victim.directory)).toEqual(before);
  });
});

describe('a journal in the usual place', () => {
  it.skipIf(lacking(process.getuid?.() !== 0, 'only root can give files away'))(
    'of another user is refused',
    async () => {
      chownSync(victim.directory, 65_534, 65_534);
      const { code, out, err } = await victim.run('list');
      expect([code, out]).toEqual([1, '']);
      expect(err).toContain(`${victim.directory} belongs to another user (uid 65534)`);
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
