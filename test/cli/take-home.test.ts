// Entries that a sandbox kept from the journal: the next command of ours outside that reads or
// writes the journal of the project writes them, once, judged by the policy in force.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { lacking } from '../requirements.ts';
import { endSandboxes, mounted, noBwrap, noFilter } from '../run/sandboxed.ts';
import { binary, Cli, type Result, until } from './helper.ts';

const cli = new Cli();
afterAll(async () => {
  await cli.close();
  endSandboxes();
});

const skip = lacking((noFilter ?? noBwrap) !== undefined, 'there is no sandbox to be had here');

/** A project whose entry is owed: neither the state root nor the project could be written. */
async function owing(name: string) {
  const dir = join(cli.root, name);
  const [project = '', temp = '', config = ''] = ['project', 'temp', 'config/cuff'].map((one) => {
    mkdirSync(join(dir, one), { recursive: true });
    return join(dir, one);
  });
  mkdirSync(join(project, '.git'));
  const rule = '[{ pattern: "rm *", decision: deny }]';
  const policy = `mode: record\npolicies: [{ name: no-rm, commands: ${rule} }]\n`;
  writeFileSync(join(config, 'policy.yml'), policy);
  const root = join(dir, 'state');
  mkdirSync(root);
  const env = { CUFF_STATE_ROOT: root, TMPDIR: temp, XDG_CONFIG_HOME: join(dir, 'config') };
  const cuff = (words: readonly string[], more = {}, stdin = ''): Promise<Result> => {
    const script = `cd '${project}' && exec "$@"`;
    const command = ['sh', '-c', script, 'sh', ...words];
    const live = cli.start(command, { env: { ...env, XDG_RUNTIME_DIR: temp, ...more } });
    live.child.stdin?.end(stdin);
    return live.result;
  };
  const program = [process.execPath, binary('cuff')];
  const words = ['run', '--journal', '--agent', 'codex', '--session-id', 'owed', '--'];
  const inside = [...mounted(project, [temp]), ...program, ...words];
  const ran = await cuff([...inside, 'rm', '-f', '/nonexistent/x']);
  expect([ran.code, ran.err]).toEqual([0, '']);
  const sessions = join(project, '.cuff', 'recordings', 'sessions');
  const entries = (): Record<string, unknown>[] =>
    namesIn(sessions)
      .filter((one) => /^[^.]+\.jsonl$/.test(one))
      .flatMap((one) => readFileSync(join(sessions, one), 'utf8').split('\n').slice(0, -1))
      .map((line) => JSON.parse(line));
  const owed = (): unknown[] => entries().filter(({ run_id }) => run_id === 'owed');
  return { cuff, program, owed, entries, root, project };
}

function namesIn(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir).sort() : [];
}

const ENTRY = {
  run_id: 'owed',
  agent_id: 'codex',
  source: 'spool',
  exit_code: 0,
  decision: { verdict: 'deny', mode: 'record' },
};

describe.skipIf(skip)('an entry that is owed is written by', () => {
  it.each([
    ['record', 'list'],
    ['record', 'search', 'rm'],
    ['record', 'stats'],
    ['run', '--journal', '--', 'true'],
    ['sweep'],
  ])('cuff %s %s', async (...words) => {
    const { cuff, program, owed, root } = await owing(`by-${words.slice(0, 2).join('-')}`);
    expect(owed()).toEqual([]);
    const { code } = await cuff([...program, ...words]);
    expect(code).toBe(0);
    expect(owed()).toMatchObject([ENTRY]);
    expect(namesIn(join(root, 'owed'))).toEqual([]);
    await cuff([...program, 'record', 'list']);
    expect(owed()).toHaveLength(1);
  });

  it('cuff record search, which finds it, after `cuff ls` moved the capture', async () => {
    const { cuff, program, owed, root } = await owing('after-ls');
    await cuff([...program, 'ls']);
    expect(owed()).toEqual([]);
    expect(namesIn(join(root, 'owed'))).toEqual(['owed']);
    const { out } = await cuff([...program, 'record', 'search', 'nonexistent', '--json']);
    expect(JSON.parse(out).hits).toMatchObject([{ command: 'rm -f /nonexistent/x' }]);
    expect(namesIn(join(root, 'owed'))).toEqual([]);
  });

  it("cuff sh, when the agent's next command has its answer", async () => {
    const { cuff, program, owed } = await owing('by-sh');
    const agent = { OPENCODE: '1' };
    await cuff([...program, 'sh', '-c', 'echo next'], agent);
    await until(() => owed().length === 1, 'its entry');
    expect(owed()).toMatchObject([ENTRY]);
  });

  it('cuff hook, when the client has its answer', async () => {
    const { cuff, program, owed, project } = await owing('by-hook');
    const payload = {
      hook_event_name: 'PostToolUse',
      session_id: 's',
      cwd: project,
      tool_name: 'Bash',
      tool_use_id: 't',
      tool_input: { command: 'echo next' },
      tool_response: { stdout: 'next', stderr: '', interrupted: false },
    };
    const slow = { CUFF_HOOK_DEADLINE_MS: '9000' };
    await cuff([...program, 'hook', '--agent', 'claude'], slow, JSON.stringify(payload));
    expect(owed()).toMatchObject([ENTRY]);
  });
});

it.skipIf(skip)('stays owed while the journal cannot be written', async () => {
  const { cuff, program, owed, root, project } = await owing('unwritable');
  writeFileSync(join(project, '.cuff'), 'a file in its place');
  await cuff([...program, 'sweep']);
  expect([owed(), namesIn(join(root, 'owed'))]).toEqual([[], ['owed']]);
});
