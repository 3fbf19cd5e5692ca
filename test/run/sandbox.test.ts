// Behind the seccomp filter of Codex: `cuff run`, a shell of the library and `cuff mcp` work, the
// exit code is the command's, every byte arrives and is captured.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { binary, Cli } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';
import { untraceable } from '../tracing/helper.ts';
import { endSandboxes, filtered, noFilter } from './sandboxed.ts';

const cli = new Cli();
const dir = mkdtempSync(join(tmpdir(), 'cuff-sandbox-'));
afterAll(async () => {
  await cli.close();
  endSandboxes();
  rmSync(dir, { recursive: true, force: true });
});

if (noFilter !== undefined) process.stderr.write(`${noFilter}\n`);
const skip = lacking(noFilter !== undefined, 'there are no seccomp filters');
const noTrace = lacking(untraceable, 'there is no tracing here');
const KINDS = ['codex', 'no-messages'] as const;
const TRACING = noTrace ? [[]] : [[], ['--trace']];
const SCRIPT = 'seq 50000; /bin/echo problem >&2; exit 3';
const NUMBERS = `${Array.from({ length: 50_000 }, (_, i) => i + 1).join('\n')}\n`;

describe.skipIf(skip).each(KINDS)('behind the filter (%s)', (kind) => {
  // Streams of a child of Node are sockets, those of a shell's pipeline are pipes.
  const cuff = (...words: readonly string[]): readonly string[] => [
    ...filtered(kind),
    process.execPath,
    binary('cuff'),
    ...words,
  ];

  it.each(TRACING)('a command on sockets is as without us %s', async (...flags) => {
    const id = `sockets${flags.join('')}-${kind}`;
    const live = cli.start(cuff('run', ...flags, '--session-id', id, '--', 'sh', '-c', SCRIPT));
    const { code, out, err } = await live.result;
    expect([code, err, out === NUMBERS]).toEqual([3, 'problem\n', true]);
    expect(readFileSync(join(cli.dir(id), 'output.bin')).length).toBe(NUMBERS.length + 8);
    const traced = await cli.cuff('trace', id);
    if (flags.length > 0) expect(traced.out).toMatch(/exit 0 +err 8 B +└─ \/bin\/echo problem/);
  });

  it.each(TRACING)('a command on pipes is as without us %s', async (...flags) => {
    const id = `pipes${flags.join('')}-${kind}`;
    const run = cuff('run', ...flags, '--session-id', id, '--', 'sh', '-c', SCRIPT);
    const script = '{ "$@"; echo "code $?" >&2; } 2>&1 </dev/null | cat';
    const { out } = await cli.start(['sh', '-c', script, 'sh', ...run]).result;
    expect(out).toHaveLength(NUMBERS.length + 'problem\ncode 3\n'.length);
    expect(out.endsWith('code 3\n')).toBe(true);
  });

  it.each(TRACING)('a command in a terminal of its own is as without us %s', async (...flags) => {
    const script = 'test -t 1 && echo terminal; exit 4';
    const words = cuff('run', '--tty', ...flags, '--', 'sh', '-c', script);
    const { code, out, err } = await cli.start(words).result;
    expect([code, out, err]).toEqual([4, 'terminal\r\n', '']);
  });

  it('a signal, a missing program and a wrong call end as without the filter', async () => {
    const killed = await cli.start(cuff('run', '--', 'sh', '-c', 'kill -KILL $$')).result;
    expect([killed.signal, killed.err]).toEqual(['SIGKILL', '']);
    const missing = await cli.start(cuff('run', '--', '/nonexistent/x')).result;
    expect([missing.code, missing.err]).toEqual([
      127,
      'cuff: /nonexistent/x: No such file or directory\n',
    ]);
    const wrong = await cli.start(cuff('run', '--nothing', '--', 'true')).result;
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringContaining("Unknown flag '--nothing'"),
    ]);
  });

  it('signals to `cuff run` reach the command', async () => {
    const script = 'trap "echo caught; exit 5" TERM; echo ready; while :; do :; done';
    const live = cli.start(cuff('run', '--', 'sh', '-c', script));
    await live.seen(/ready/);
    live.child.kill('SIGTERM');
    const { code, out } = await live.result;
    expect([code, out]).toEqual([5, 'ready\ncaught\n']);
  });

  it.each(['auto', 'portable'])('runs of the library end as they should (%s)', async (runner) => {
    const program = join(dir, `library-${runner}-${kind}.mjs`);
    writeFileSync(program, library(runner));
    const { out, err } = await cli.start([...filtered(kind), process.execPath, program]).result;
    expect([out, err]).toEqual(['3 hello\n4 hello\r\n5 hello\nall 50\n', '']);
  });

  it('`cuff mcp` answers, runs a command and journals it', async () => {
    const child = spawn(...asArguments(cuff('mcp', '--dialect', 'bash_recorder')), {
      cwd: dir,
      env: { ...cli.env, XDG_CONFIG_HOME: join(dir, 'config') },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const answers = conversation(child);
    await answers.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'sandboxed', version: '1' },
    });
    const ran = await answers.ask('tools/call', {
      name: 'bash_recorder_execute',
      arguments: { command: 'echo inside; exit 3' },
    });
    expect(JSON.stringify(ran)).toContain('inside');
    expect(JSON.stringify(ran)).toMatch(/exit_code[^\d]{1,6}3/);
    expect(JSON.stringify(ran)).not.toMatch(/recording_id[^\w]{1,6}null/);
    await answers.end();
  });
});

function asArguments([file = '', ...rest]: readonly string[]): [string, string[]] {
  return [file, rest];
}

function library(runner: string): string {
  const index = join(binary('cuff'), '..', 'index.js');
  return `
import { writeSync } from 'node:fs';
import { createShell } from ${JSON.stringify(index)};
const shell = createShell({ runner: ${JSON.stringify(runner)} });
const cases = [[3, {}], [4, { transport: 'pty' }], [5, { trace: 'on' }]];
for (const [code, options] of cases) {
  const run = shell.start('echo hello; exit ' + code, options);
  const { outcome } = await run.wait(60_000);
  const { text } = shell.view(run.id, { kind: 'tail', linesMax: 9 });
  writeSync(1, outcome.code + ' ' + text);
}
const many = Array.from({ length: 50 }, (_, i) => shell.start('exit ' + i));
const ends = await Promise.all(many.map((run) => run.wait(60_000)));
const right = ends.filter((ended, i) => ended?.outcome.code === i).length;
writeSync(1, 'all ' + right + '\\n');
shell.close();
`;
}

type Child = ReturnType<typeof spawn>;

function conversation(child: Child) {
  let text = '';
  let next = 0;
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('no streams');
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const answerTo = (id: number): unknown =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .find((message) => message.id === id);
  stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  return {
    async ask(method: string, params: object): Promise<unknown> {
      const id = ++next;
      stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      while (answerTo(id) === undefined) {
        const more = new Promise<boolean>((resolve) => stdout.once('data', () => resolve(true)));
        const going = await Promise.race([more, ended.then(() => false)]);
        if (!going && answerTo(id) === undefined) throw new Error(`it ended after: ${text}`);
      }
      return answerTo(id);
    },
    async end(): Promise<void> {
      stdin.end();
      await ended;
    },
  };
}
