// In a sandbox where the state root is read-only: the exit code is the command's, every byte
// arrives, and the record goes to the project, to the temporary directory, or nowhere. Outside of
// it, the next command of ours brings the record home.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { binary, Cli, type Result, until } from '../cli/helper.ts';
import { FACT_MS_MAX } from '../pace.ts';
import { lacking } from '../requirements.ts';
import {
  endSandboxes,
  mounted,
  noBwrap,
  noFilter,
  onSmallDisk,
  readOnly,
} from '../run/sandboxed.ts';
import { untraceable } from '../tracing/helper.ts';

const cli = new Cli();
afterAll(async () => {
  await cli.close();
  endSandboxes();
});

for (const why of [noFilter, noBwrap]) if (why !== undefined) process.stderr.write(`${why}\n`);
const skip = lacking((noFilter ?? noBwrap) !== undefined, 'there is no sandbox to be had here');
const noTrace = lacking(untraceable, 'there is no tracing here');

/** A project, a state root that does not exist yet, and a temporary directory. */
function world(name: string) {
  const dir = join(cli.root, name);
  const [project, state, temp, config] = ['project', 'state', 'temp', 'config'].map((one) => {
    mkdirSync(join(dir, one), { recursive: true });
    return join(dir, one);
  });
  if (!project || !state || !temp || !config) throw new Error(name);
  mkdirSync(join(project, '.git'));
  const env = {
    CUFF_STATE_ROOT: join(state, 'root'),
    TMPDIR: temp,
    XDG_CONFIG_HOME: config,
    XDG_RUNTIME_DIR: temp,
  };
  const cuff = (sandbox: readonly string[], ...words: readonly string[]): Promise<Result> => {
    const command = [...sandbox, process.execPath, binary('cuff'), ...words];
    const script = `cd '${project}' && exec "$@"`;
    const live = cli.start(['sh', '-c', script, 'sh', ...command], { env });
    live.child.stdin?.end();
    return live.result;
  };
  const home = (): string[] => namesIn(join(state, 'root', 'sessions'));
  const spool = join(project, '.cuff', 'spool', 'sessions');
  return { project, temp, config, env, cuff, home, spool, root: join(state, 'root') };
}

function namesIn(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir).sort() : [];
}

const SCRIPT = 'echo out; echo err >&2; exit 3';
const FLAGS = [[], ['--tty'], ...(noTrace ? [] : [['--trace']])];

describe.skipIf(skip)('in a sandbox where the state root is read-only', () => {
  it.each(FLAGS)('a run is kept in the project and comes home %s', async (...flags) => {
    const { project, temp, cuff, home, spool, root } = world(`project${flags.join('')}`);
    // Without a temporary directory nothing can be found out about tracing.
    const inside = mounted(project, [project, temp]);
    const run = await cuff(
      inside,
      'run',
      ...flags,
      '--session-id',
      'one',
      '--',
      'sh',
      '-c',
      SCRIPT,
    );
    expect(run.code).toBe(3);
    expect(run.out + run.err).toMatch(/^out\r?\nerr\r?\n$/);
    expect([namesIn(spool), home()]).toEqual([['one'], []]);
    const listed = await cuff([], 'ls', '--json');
    expect(JSON.parse(listed.out).sessions).toMatchObject([{ session_id: 'one', exit_code: 3 }]);
    expect([namesIn(spool), home()]).toEqual([[], ['one']]);
    const meta = JSON.parse(readFileSync(join(root, 'sessions', 'one', 'meta.json'), 'utf8'));
    expect(meta.source).toBe('spool');
    if (flags.includes('--trace')) {
      expect((await cuff([], 'trace', 'one')).out).toContain('exit 3');
    }
  });

  it.each(['run', 'sweep', 'mcp'])('`cuff %s` outside brings it home', async (command) => {
    const { project, temp, env, cuff, home } = world(`by-${command}`);
    await cuff(mounted(project, [project]), 'run', '--session-id', 'a', '--', 'true');
    await cuff(mounted(project, [temp]), 'run', '--session-id', 'b', '--', 'true');
    const there = (): boolean => home().length === 2 && namesIn(temp).length === 0;
    if (command === 'mcp') await server(project, env, there);
    else if (command === 'sweep') await cuff([], 'sweep');
    else await cuff([], 'run', '--session-id', 'c', '--', 'true');
    expect(home()).toEqual(command === 'run' ? ['a', 'b', 'c'] : ['a', 'b']);
    expect(namesIn(temp)).toEqual([]);
  });

  it('a run in a read-only project is kept in the temporary directory', async () => {
    const { project, temp, cuff, home } = world('temporary');
    const run = await cuff(mounted(project, [temp]), 'run', '--', 'sh', '-c', SCRIPT);
    expect([run.code, run.out, run.err]).toEqual([3, 'out\n', 'err\n']);
    expect(namesIn(temp)).toEqual([expect.stringMatching(/^cuff-spool-\w{6}$/)]);
    await cuff([], 'ls');
    expect([home().length, namesIn(temp)]).toEqual([1, []]);
  });

  it('a run where nothing can be written is as without us', async () => {
    const { project, cuff, home } = world('nothing');
    for (const flags of FLAGS) {
      const run = await cuff(readOnly(project), 'run', ...flags, '--', 'sh', '-c', SCRIPT);
      expect(run.code).toBe(3);
      expect(run.out + run.err).toMatch(/^out\r?\nerr\r?\n$/);
    }
    const strict = await cuff(readOnly(project), 'run', '--strict', '--', 'sh', '-c', SCRIPT);
    expect([strict.code, strict.out]).toEqual([1, '']);
    expect(strict.err).toContain('cannot be written');
    expect(home()).toEqual([]);
  });

  it('a run of the library where nothing can be written has its output in memory', async () => {
    const { project, env } = world('library');
    const index = join(binary('cuff'), '..', 'index.js');
    const program = join(project, 'library.mjs');
    writeFileSync(
      program,
      `import { writeSync } from 'node:fs';
      import { createShell } from ${JSON.stringify(index)};
      const shell = createShell();
      const run = shell.start(${JSON.stringify(SCRIPT)});
      const { outcome } = await run.done;
      const { on, why } = run.recording;
      const kept = Buffer.from(run.memory.stdout()).toString();
      writeSync(1, JSON.stringify([outcome, on, why, kept]));
      shell.close();`,
    );
    const words = [...readOnly(project), process.execPath, program];
    const { out, err } = await cli.start(words, { env }).result;
    const reason = expect.stringContaining('EROFS');
    expect(err).toBe('');
    expect(JSON.parse(out)).toEqual([{ kind: 'exited', code: 3 }, false, reason, 'out\n']);
  });

  it('a run on a full disk is as without us', async () => {
    const { project, cuff } = world('full');
    const script = `dd if=/dev/zero of=fill bs=4096 2>/dev/null; exec "$@"`;
    const sandbox = [...onSmallDisk(project, 131_072), 'sh', '-c', script, 'sh'];
    const run = await cuff(sandbox, 'run', '--', 'sh', '-c', SCRIPT);
    expect([run.code, run.out, run.err]).toEqual([3, 'out\n', 'err\n']);
  });

  it.each(['a link', 'open to others'])('a spool that is %s is not used', async (kind) => {
    const { project, temp, cuff, home } = world(kind.replaceAll(' ', '-'));
    mkdirSync(join(project, 'elsewhere'), { mode: 0o700 });
    mkdirSync(join(project, '.cuff'));
    const spool = join(project, '.cuff', 'spool');
    if (kind === 'a link') symlinkSync(join(project, 'elsewhere'), spool);
    else mkdirSync(spool, { mode: 0o755 });
    const run = await cuff(mounted(project, [project, temp]), 'run', '--', 'sh', '-c', SCRIPT);
    expect([run.code, run.out, run.err]).toEqual([3, 'out\n', 'err\n']);
    expect(namesIn(join(project, '.cuff', 'spool'))).toEqual([]);
    expect(namesIn(temp)).toHaveLength(1);
    await cuff([], 'ls');
    expect(home()).toHaveLength(1);
  });

  it('fifty runs at once are all kept, and all come home once', async () => {
    const { project, cuff, home, root } = world('fifty');
    const script = `i=0; while [ $i -lt 50 ]; do
      '${process.execPath}' '${binary('cuff')}' run --session-id n$i -- sh -c "echo $i; exit $i" &
      eval "p$i=$!"; i=$((i + 1)); done
      i=0; while [ $i -lt 50 ]; do eval "wait \\$p$i"; echo "code $i $?"; i=$((i + 1)); done`;
    const inside = [...mounted(project, [project]), 'sh', '-c', script, 'sh'];
    const { out } = await cuff(inside);
    const codes = out.split('\n').filter((line) => line.startsWith('code '));
    expect(codes).toEqual(Array.from({ length: 50 }, (_, i) => `code ${i} ${i}`));
    await Promise.all([cuff([], 'ls'), cuff([], 'sweep'), cuff([], 'ls')]);
    await cuff([], 'ls');
    const ids = Array.from({ length: 50 }, (_, i) => `n${i}`).sort();
    expect(home()).toEqual(ids);
    for (const id of ids) {
      expect(readFileSync(join(root, 'sessions', id, 'output.bin'), 'utf8')).toBe(
        `${id.slice(1)}\n`,
      );
    }
  });

  it('a run that goes on stays in its spool until it is over', async () => {
    const { project, cuff, home, spool } = world('going-on');
    const fifo = join(project, 'hold');
    await cli.start(['mkfifo', fifo]).result;
    const inside = mounted(project, [project]);
    const run = cuff(
      inside,
      'run',
      '--session-id',
      'long',
      '--',
      'sh',
      '-c',
      'read x <hold; exit 7',
    );
    const writer = cli.start(['sh', '-c', `exec 3>'${fifo}'; echo open; read x; echo go >&3`]);
    await writer.seen(/open/); // the command waits for a line
    await cuff([], 'ls');
    expect([namesIn(spool), home()]).toEqual([['long'], []]);
    writer.child.stdin?.end('go\n');
    expect((await run).code).toBe(7);
    await cuff([], 'ls');
    expect(home()).toEqual(['long']);
  });

  it('an entry that could not be written comes with the capture, judged anew', async () => {
    const { project, temp, config, env, cuff, root } = world('entry');
    mkdirSync(join(config, 'cuff'), { recursive: true });
    const rule = '[{ pattern: "rm *", decision: deny }]';
    const policy = `mode: record\npolicies: [{ name: no-rm, commands: ${rule} }]\n`;
    writeFileSync(join(config, 'cuff', 'policy.yml'), policy);
    const words = ['run', '--journal', '--agent', 'codex', '--session-id', 'e', '--'];
    const run = await cuff(mounted(project, [temp]), ...words, 'rm', '-f', '/nonexistent/x');
    expect([run.code, run.err]).toEqual([0, '']);
    expect(existsSync(join(project, '.cuff'))).toBe(false);
    await cuff([], 'ls');
    const intent = JSON.parse(readFileSync(join(root, 'sessions', 'e', 'meta.json'), 'utf8'));
    expect(intent.journal.entry).toMatchObject({ source: 'spool', decision: null });
    const sessions = join(project, '.cuff', 'recordings', 'sessions');
    const lines = (): unknown[] =>
      namesIn(sessions)
        .filter((name) => name.endsWith('.jsonl'))
        .flatMap((name) => readFileSync(join(sessions, name), 'utf8').split('\n').slice(0, -1))
        .map((line) => JSON.parse(line));
    await server(project, env, () => lines().length > 0);
    expect(lines()).toMatchObject([
      {
        run_id: 'e',
        agent_id: 'codex',
        source: 'spool',
        exit_code: 0,
        decision: { verdict: 'deny' },
      },
    ]);
  });
});

describe.skipIf(skip)('a repository that ships a spool', () => {
  it.each(['022', '077'])('brings nothing home under the umask %s', async (umask) => {
    const author = world(`author-${umask}`);
    await author.cuff(mounted(author.project, [author.project]), 'run', '--', 'true');
    const clone = join(author.temp, 'clone');
    const script = `set -e; umask ${umask}; cd '${author.project}'; rmdir .git; git init -q
      git add -f .; git -c user.name=a -c user.email=a@b commit -qm spool
      git clone -q . '${clone}'; cd '${clone}'; ls .cuff/spool/sessions/*/meta.json; exec "$@"`;
    const words = ['sh', '-c', script, 'sh', process.execPath, binary('cuff'), 'ls'];
    const listed = await cli.start(words, { env: author.env }).result;
    expect(listed.out).toMatch(/^\.cuff\/spool\/sessions\/[\w-]+\/meta\.json\n$/);
    expect(listed.err).toContain('No captures.');
    expect(author.home()).toEqual([]);
  });
});

describe.skipIf(skip)('the shell of an agent in such a sandbox', () => {
  it.each(['project', 'temp'] as const)('records what it can write to (%s)', async (place) => {
    const { root, cuff, home, env, ...dirs } = world(`shell-${place}`);
    await cuff([], 'sh', '-c', 'true'); // makes the shell
    const sandbox = mounted(dirs.project, [dirs[place]]);
    const words = [...sandbox, join(root, 'shells', 'bash'), '-c', SCRIPT];
    // The first shell of all, on a socket, is taken for rshd's: bash reads the user's ~/.bashrc.
    const agent = { ...env, SHLVL: '2', CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 's1' };
    const run = await cli.start(words, { env: agent }).result;
    expect([run.code, run.out, run.err]).toEqual([3, 'out\n', 'err\n']);
    const journal = join(dirs.project, '.cuff', 'recordings');
    expect(existsSync(journal)).toBe(place === 'project');
    await untilAsync(async () => {
      await cuff([], 'ls');
      return home().length === 1;
    });
  });
});

async function untilAsync(fact: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + FACT_MS_MAX;
  while (!(await fact())) if (Date.now() > deadline) throw new Error('it never came home');
}

/** A server of the project that lives until the fact is true. */
async function server(
  project: string,
  env: Readonly<Record<string, string>>,
  fact: () => boolean,
): Promise<void> {
  const script = `cd '${project}' && exec "$@"`;
  const words = [process.execPath, binary('cuff'), 'mcp', '--dialect', 'bash_recorder'];
  const live = cli.start(['sh', '-c', script, 'sh', ...words], { env });
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'outside', version: '1' },
  };
  const hello = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  live.child.stdin?.write(`${JSON.stringify(hello)}\n`);
  await until(fact, 'the server has brought it home');
  live.child.stdin?.end();
  await live.result;
}
