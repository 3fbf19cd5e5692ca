// Commands in a real sandbox: what is out of scope cannot be read, written or reached, whatever the
// command does; and they are traced and judged as anywhere else.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate } from '../../src/guard/gate.ts';
import {
  checkSandbox,
  lookAround,
  type SandboxOptions,
  sandboxed,
} from '../../src/guard/sandbox.ts';
import { ProjectChanges, type ProtectedState } from '../../src/policies/changes.ts';
import { protectedPaths } from '../../src/policy/protected.ts';
import { createShell } from '../../src/shell/shell.ts';
import { readTrace } from '../../src/tracing/read.ts';
import { lacking } from '../requirements.ts';
import { untraceable } from '../tracing/helper.ts';

const check = checkSandbox();
if (!check.ok) process.stderr.write(`no sandbox here: ${check.reason}\n`);
const noSandbox = lacking(!check.ok, 'bubblewrap is not there, or may not do what it must');

const home = mkdtempSync(join(tmpdir(), 'cuff-sandbox-'));
const project = join(home, 'project');
const other = join(home, 'other');
const stateRoot = join(home, '.state');
const shell = createShell({ stateRoot, cwd: project });
let gate: Gate;

const OPTIONS: SandboxOptions = {
  scopes: { read: ['~/notes*'], write: ['src/**', 'out'], protect: ['**/.env', '.cuff/**'] },
  project,
  home,
  network: false,
  cwd: project,
};

const FILES = {
  [join(project, 'README')]: 'project',
  [join(project, '.env')]: 'SECRET',
  [join(project, 'src/deep/.env')]: 'SECRET',
  [join(project, '.cuff/policy.yml')]: 'policy',
  [join(other, 'file')]: 'private',
  [join(home, 'notes.txt')]: 'notes',
};

beforeAll(async () => {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  }
  for (const name of ['src', 'out']) mkdirSync(join(project, name), { recursive: true });
  gate = await openGate({
    directory: stateRoot,
    strict: true,
    decide: ({ argv }) =>
      argv[0] === 'touch' ? { allow: false, message: 'touch is denied' } : { allow: true },
  });
});

afterAll(async () => {
  shell.close();
  await gate.close();
  rmSync(home, { recursive: true, force: true });
});

async function inside(text: string, more: Parameters<typeof shell.start>[1] = {}) {
  const sandbox = sandboxed(OPTIONS);
  const run = shell.start(text, { sandbox, transport: 'merged', ...more });
  const { outcome } = await run.done;
  const capture = shell.open(run.id);
  const file = join(capture.dir, 'output.bin');
  const output = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return { outcome, output, capture };
}

const OK = { kind: 'exited', code: 0 };

describe.skipIf(noSandbox)('a command in a sandbox', () => {
  test('works in the project, and ends as it does outside', async () => {
    const { outcome, output } = await inside(
      'pwd; cat README; echo x > src/a && echo y > out/b && cat src/a out/b; exit 7',
    );
    expect(output).toBe(`${project}\nprojectx\ny\n`);
    expect(outcome).toEqual({ kind: 'exited', code: 7 });
    expect(readFileSync(join(project, 'src/a'), 'utf8')).toBe('x\n');
  });

  test('sees of the home directory only what may be read', async () => {
    const { output } = await inside(`cat ~/notes.txt; cat ${other}/file; ls -A $HOME`, {
      env: { HOME: home },
    });
    expect(output).toMatch(/^notescat: .*: No such file or directory\n/);
    expect(output).not.toContain('private');
    expect(output).toMatch(/notes.txt\nproject\n$/);
  });

  test.each([
    ['the project', 'echo x > README'],
    ['what may only be read', 'echo x > ../notes.txt'],
    ['the system', 'echo x > /usr/cuff-was-here'],
    ['what is protected', 'echo x > .cuff/policy.yml'],
    ['a new file in it', 'echo x > .cuff/new'],
    ['the root, mounted again', 'mount -o remount,rw / && echo x > /usr/cuff-was-here'],
    // What it writes is there already: where it is not kept from it, nothing is another.
    ['settings of the kernel', 'p=/proc/sys/kernel/core_pattern; v=$(cat $p); echo "$v" > $p'],
  ])('cannot write: %s', async (_, text) => {
    const { outcome } = await inside(text);
    expect(outcome).not.toEqual(OK);
    expect(existsSync('/usr/cuff-was-here')).toBe(false);
    for (const [path, content] of Object.entries(FILES)) {
      expect(readFileSync(path, 'utf8')).toBe(content);
    }
  });

  test('does not read what is protected', async () => {
    const { output } = await inside('cat .env src/deep/.env; ls -A .cuff; cat .cuff/policy.yml');
    expect(output).not.toMatch(/SECRET|^policy/m);
    expect(output.match(/^cat: .*$/gm)).toHaveLength(3);
  });

  test('reaches no network', async () => {
    const server = createServer((socket) => socket.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const text = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
    const network = { ...OPTIONS, network: true };
    expect((await inside(text)).output).not.toContain('reached');
    expect((await inside(text, { sandbox: sandboxed(network) })).output).toBe('reached');
    server.close();
  });

  test('sees no process from outside', async () => {
    const { output } = await inside(`kill -0 ${process.pid}; ps -e | wc -l`);
    expect(output).toContain('No such process');
  });

  test.skipIf(lacking(untraceable, 'runs cannot be traced here'))(
    'is traced, and judged at a strict gate',
    async () => {
      const text = 'x=touch; $x src/made; /bin/echo "$?"';
      const { output, capture } = await inside(text, { gate, trace: 'on' });
      expect(output).toBe('cuff: policy: touch is denied\n126\n');
      expect(existsSync(join(project, 'src/made'))).toBe(false);
      const found = readTrace(capture);
      const words =
        found.kind === 'traced'
          ? found.trace.processes.flatMap(({ images }) => images.map(({ argv }) => argv.join(' ')))
          : [];
      expect(words).toEqual(expect.arrayContaining(['touch src/made', '/bin/echo 126']));
    },
  );
});

describe.skipIf(noSandbox)('a repository in a sandbox', () => {
  const repository = join(home, 'repository');
  const guarded = protectedPaths(
    { project: repository, home },
    { more: [], opened: [], kept: [stateRoot] },
  );
  const options: SandboxOptions = {
    scopes: { read: [], write: ['.'], protect: [] },
    ...{ project: repository, cwd: repository, home, network: false, guarded },
  };
  const sandbox = sandboxed(options);
  const changes = new ProjectChanges(stateRoot, repository);
  let before: ProtectedState | undefined;
  const git = 'git -c user.name=a -c user.email=a@example.org';

  beforeAll(() => {
    execFileSync('git', ['init', '-q', repository]);
    execFileSync('git', ['init', '-q', '--template=', join(repository, 'bare')]);
    before = lookAround(options).found?.state;
  });

  test('takes commits', async () => {
    const text = `echo x > a && git add a && ${git} commit -qm first && git log --oneline | wc -l`;
    const { outcome, output } = await inside(text, { sandbox, cwd: repository });
    expect([outcome, output]).toEqual([OK, '1\n']);
  });

  test('keeps what tells agents what to do, also behind a link', async () => {
    const path = (name: string): string => join(repository, name);
    writeFileSync(path('notes.md'), 'kind\n');
    symlinkSync(path('notes.md'), path('AGENTS.md'));
    writeFileSync(path('CLAUDE.md'), 'kind\n');
    const text = 'echo x > CLAUDE.md || echo x > AGENTS.md || echo x > notes.md';
    const { outcome } = await inside(text, { sandbox, cwd: repository });
    expect(outcome).not.toEqual(OK);
    expect(['CLAUDE.md', 'notes.md'].map((name) => readFileSync(path(name), 'utf8'))).toEqual([
      ...['kind\n', 'kind\n'],
    ]);
    for (const name of ['CLAUDE.md', 'AGENTS.md', 'notes.md']) rmSync(path(name));
  });

  test.each([
    ['gets no hook where it had no directory for them', 'echo x > bare/.git/hooks/post-commit'],
    ['is not put aside', 'mv .git away'],
    ['is not removed', 'rm -rf .git; test ! -d .git'],
    ['gets no hook', 'echo x > .git/hooks/post-commit'],
    ['keeps its settings', 'git config core.fsmonitor x'],
    ['keeps its hooks', 'mv .git/hooks .git/other'],
  ])('%s', async (_, text) => {
    const { outcome } = await inside(text, { sandbox, cwd: repository });
    expect(outcome).not.toEqual(OK);
    expect(existsSync(join(repository, '.git', 'hooks'))).toBe(true);
    const { state } = lookAround(options).found ?? {};
    expect(state && changes.between(before ?? state, state)).toEqual([]);
  });
});
