// `cuff redact` as a program: what it asks for, what it refuses, and what is gone afterwards.
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_VARIABLES } from '../../src/text/agents.ts';
import { planted } from '../text/secrets/planted.ts';
import { binary, Cli, type Result } from './helper.ts';
import { atOwnTerminal } from './terminal.ts';

const cli = new Cli();
const project = join(cli.root, 'project');
const WHERE = { cwd: project } as const;

afterAll(() => cli.close());

/** As a person's script calls it: without the variables of the agent that may run these tests. */
function cuff(args: readonly string[], input = '', more: Record<string, string> = {}) {
  const none = [...AGENT_VARIABLES].flatMap((name) => ['-u', name]);
  const own = Object.entries(more).map(([name, value]) => `${name}=${value}`);
  const words = ['env', ...none, ...own, process.execPath, binary('cuff'), ...args];
  const { child, result } = cli.start(words, WHERE);
  child.stdin?.end(input);
  return result as Promise<Result>;
}

function filesWith(text: string): string[] {
  return readdirSync(cli.root, { recursive: true, encoding: 'utf8' })
    .map((name) => join(cli.root, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(text));
}

let session = '';

async function record(...command: readonly string[]): Promise<void> {
  await cuff(['run', '--journal', '--agent', 'demo', '--', ...command]);
  const { out } = await cuff(['record', 'list', '--json']);
  session = JSON.parse(out).sessions[0].session_id;
}

beforeAll(async () => {
  mkdirSync(join(project, '.git'), { recursive: true });
  await record('sh', '-c', 'echo FIRST-OUTPUT; echo other >&2');
  await record('sh', '-c', 'printf SECOND-SECRET | base64; echo SECOND-SECRET');
  await cuff(['sweep']);
  await cuff(['record', 'search', 'SECRET']);
});

describe('cuff redact SESSION N', () => {
  it('takes parts out, says what it cannot reach, and verify says it', async () => {
    const why = ['--why', 'customer data'];
    const unasked = await cuff(['redact', session, '1', '--parts', 'stdout', ...why]);
    expect([unasked.code, unasked.err]).toEqual([
      2,
      expect.stringContaining('there is no terminal to ask at.'),
    ]);
    expect(filesWith('FIRST-OUTPUT').length).toBeGreaterThan(1);
    const first = await cuff(['redact', session, '1', '--parts', 'stdout', ...why, '--yes']);
    expect([first.code, first.out]).toEqual([0, 'Redacted: stdout.\n']);
    expect(first.err).toMatch(/Its capture \S+ still has it: add capture to --parts\./);
    expect(first.err).toContain('Not reached: exports and copies of the journal');
    const parts = ['--parts', 'text,stdout,capture'];
    const all = await cuff(['redact', session, '1', ...parts, ...why, '--yes', '--json']);
    expect(JSON.parse(all.out)).toMatchObject({
      session_id: session,
      sequence_number: 1,
      parts: ['text'],
      capture: { bytes: 19, files: ['output.bin', 'meta.json'] },
    });
    expect(filesWith('FIRST-OUTPUT')).toEqual([]);
    const { code, out } = await cuff(['verify', '--deep']);
    expect(code).toBe(0);
    expect(out).toContain('  1 entry was redacted: text,stdout, "customer data"\n');
    expect(out).toContain('  1 capture was redacted: bytes 0-19, "customer data"; ');
    const shown = await cuff(['record', 'show', session, '--entries', '--output']);
    expect(shown.out).toContain('[redacted]\n');
    // What it was is not counted as a command without words.
    expect(shown.out).toContain('- 1 call');
    expect((await cuff(['record', 'generate'])).out).toContain('# Commands analyzed: 1\n');
    const { out: stats } = await cuff(['record', 'stats']);
    expect(stats).toContain('Total Commands: 2\n');
    expect(stats).toMatch(/Command Frequency:\n {2}sh \S.* - 1 \(50\.0%\)\n\n/);
    const again = await cuff(['redact', session, '1', ...parts, ...why, '--yes']);
    expect(again.out).toBe('Nothing of that is recorded any more.\n');
  });

  it('asks at a terminal, and takes nothing but a yes for one', async () => {
    const command = ['redact', session, '2', '--parts', 'stderr,stdout', '--why', 'no'];
    const at = { cwd: project, env: cli.env, wholly: true };
    const no = await atOwnTerminal([process.execPath, binary('cuff'), ...command], {
      ...at,
      answer: 'n',
    });
    expect([no.code, no.err]).toEqual([1, expect.stringContaining('Nothing was redacted.')]);
    expect(no.err).toContain('Redact for good: stdout, stderr? [y/N]');
    expect(filesWith('SECOND-SECRET').length).toBeGreaterThan(2);
  });

  it('says what is wrong with a call, and exits 2', async () => {
    const calls: [args: string[], words: string][] = [
      [[], 'Say which entry: a session, and the number of the entry in it.'],
      [[session, 'x'], 'Say which entry: '],
      [[session, '1'], 'Say what to take out: --parts text,stdout,stderr,capture.'],
      [[session, '1', '--parts', 'facts'], 'Say what to take out: '],
      [[session, '1', '--parts', 'stdout'], 'Say why, for the ledger: --why TEXT.'],
      [[session, '--secret', 'x'], 'A secret is looked for everywhere'],
      [['--secret', 'short'], 'A value of 5 characters is too short to stand out.'],
      [['--secret', 'SECOND-SECRET', '--why', 'SECOND-SECRET'], '--why has the secret in it'],
      [['--secret', 'SECOND-SECRET', '--why', 'w'.repeat(501)], 'more than 500 characters'],
      [['--secret', '-', '--parts', 'text'], 'cannot be used with'],
    ];
    for (const [args, words] of calls) {
      const { code, out, err } = await cuff(['redact', ...args]);
      expect([args, code, out]).toEqual([args, 2, '']);
      expect(err).toContain(words);
    }
    const missing = await cuff(['redact', session, '9', '--parts', 'text', '--why', 'x']);
    expect([missing.code, missing.err]).toEqual([
      1,
      expect.stringContaining(`${session} has no entry 9.`),
    ]);
  });

  it('is refused to an agent: by its variables, and inside of a run', async () => {
    const args = ['redact', '--secret', 'SECOND-SECRET', '--yes'];
    const agent = await cuff(args, '', { CLAUDECODE: '1' });
    expect([agent.code, agent.err]).toEqual([
      2,
      expect.stringContaining('An agent cannot redact what was recorded: CLAUDECODE is set.'),
    ]);
    const run = await cuff(['run', '--', process.execPath, binary('cuff'), ...args]);
    expect([run.code, run.err]).toEqual([
      2,
      expect.stringContaining('An agent cannot redact what was recorded.'),
    ]);
    expect(filesWith('SECOND-SECRET').length).toBeGreaterThan(2);
  });
});

describe('cuff redact --secret', () => {
  it('reads the value from stdin, shows where it is and not what, and takes it out', async () => {
    const args = ['redact', '--secret', '-'];
    const { code, out } = await cuff(args, 'SECOND-SECRET\n');
    expect([code, out]).toEqual([2, expect.stringMatching(/^It is in \d+ places:\n/)]);
    expect(out).toContain(`  session ${session}: #2 text,stdout\n`);
    expect(out).toMatch(/ {2}capture \S+: output\.bin, meta\.json\n/);
    expect(out).not.toContain('SECOND-SECRET');
    const done = await cuff([...args, '--yes', '--why', 'leaked'], 'SECOND-SECRET\n');
    expect([done.code, done.out]).toEqual([0, expect.stringContaining('Redacted in ')]);
    expect(filesWith('SECOND-SECRET')).toEqual([]);
    expect(filesWith(Buffer.from('SECOND-SECRET').toString('base64').slice(0, -4))).toEqual([]);
    const verified = await cuff(['verify', '--deep']);
    expect(verified.out).toContain('  1 entry was redacted: text,stdout, "leaked"\n');
    expect(verified.code).toBe(0);
    const again = await cuff(args, 'SECOND-SECRET\n');
    expect([again.code, again.out]).toEqual([0, 'It was recorded nowhere here.\n']);
  });

  it('names what goes on and stays, exits 1, and takes it out when that is over', async () => {
    const words = ['run', '--session-id', 'live', '--', 'sh', '-c', 'echo LIVE-SECRET-1; read x'];
    const run = cli.start(['env', '-u', 'CLAUDECODE', process.execPath, binary('cuff'), ...words]);
    await run.seen(/LIVE-SECRET-1/);
    const args = ['redact', '--secret', 'LIVE-SECRET-1', '--yes'];
    const early = await cuff(args);
    expect([early.code, early.out]).toEqual([
      1,
      expect.stringContaining('capture live: output.bin, meta.json (being written)\n'),
    ]);
    expect(early.err).toContain('The run live goes on.');
    run.child.stdin?.end('\n');
    await run.result;
    const late = await cuff([...args, '--json']);
    expect([late.code, JSON.parse(late.out)]).toMatchObject([0, { left: [] }]);
    expect(filesWith('LIVE-SECRET-1')).toEqual([]);
  });
});

describe('a leak', () => {
  it('is gone after the command that the report names for it', async () => {
    const [token] = planted('redacted by its line');
    await record('sh', '-c', `echo '${token?.text}'`);
    const before = await cuff(['record', 'leaks', '--json']);
    const lines: string[] = JSON.parse(before.out).leaks.map(
      (one: { redact: string }) => one.redact,
    );
    expect(lines.sort()).toEqual([
      `cuff redact ${session} 3 --parts stdout,capture --why 'a leaked ${token?.kind}'`,
      `cuff redact ${session} 3 --parts text,capture --why 'a leaked ${token?.kind}'`,
    ]);
    const program = `"$0" "$1" ${lines[0]?.replace(/^cuff /, '')} --yes && "$0" "$1" ${lines[1]
      ?.replace(/^cuff /, '')
      .replace(/$/, ' --yes')}`;
    const none = [...AGENT_VARIABLES].flatMap((name) => ['-u', name]);
    const shell = ['sh', '-c', program, process.execPath, binary('cuff')];
    const { child, result } = cli.start(['env', ...none, ...shell], WHERE);
    child.stdin?.end();
    expect((await result).code).toBe(0);
    expect((await cuff(['record', 'leaks'])).code).toBe(0);
    expect(filesWith(token?.secret ?? '')).toEqual([]);
  });
});
