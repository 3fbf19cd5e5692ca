// Output that was printed and is not there: every tool that shows a run says how much is missing,
// and the end of more than is kept is shown where a dialect shows the end.
import { spawnSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ClaudeCode } from '../../src/dialects/claude_code/dialect.ts';
import { DerunPlugin } from '../../src/dialects/derun/dialect.ts';
import { findRunner } from '../../src/run/binary.ts';
import { until } from '../cli/helper.ts';
import { call, World } from '../recorder/helper.ts';
import { lacking } from '../requirements.ts';
import { CodexWorld } from './codex/helper.ts';
import { Native } from './cuff_shell/helper.ts';
import { background, bash, pipe } from './pipe_bash/helper.ts';
import { DIALECTS } from './policy-helper.ts';

const noRunner = lacking(findRunner().kind === 'none', 'there is no native runner here');

const KEPT = 100;
const LOST = 3893 - KEPT; // of `seq 1000`

const HELD = 'read -r < held; seq 1000';

/** Makes what `HELD` waits for; the call lets it go on. */
function held({ project }: World): () => void {
  const fifo = join(project, 'held');
  expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
  return () => writeFileSync(fifo, '\n');
}

/** Waits for the end of the only run, cuts its output, and gives its id. */
async function shortened(world: World): Promise<string> {
  const only = () => world.shell.list()[0];
  await until(() => only()?.final?.outputClosed === true, 'the run has ended');
  truncateSync(`${only()?.dir}/output.bin`, KEPT);
  return only()?.id ?? '';
}

describe('a shortened output.bin is told by', () => {
  it('claude_code', async () => {
    const world = new World();
    const plugin = await world.open(ClaudeCode);
    await call(plugin, 'Bash', { command: 'seq 1000', run_in_background: true });
    await shortened(world);
    const { text } = await call(plugin, 'BashOutput', { bash_id: 'bash_1' });
    expect(text).toContain(`${LOST} bytes of output could not be kept`);
  });

  it('codex', async () => {
    const codex = await CodexWorld.open();
    const release = held(codex.world);
    await codex.exec(HELD, { yield_time_ms: 250 });
    release();
    await shortened(codex.world);
    const { text } = await codex.write(1000);
    expect(text).toContain(`${LOST} bytes of output could not be kept`);
  });

  it('pipe_bash', async () => {
    const world = new World();
    const release = held(world);
    const plugin = await pipe(world);
    const { pid } = await background(plugin, HELD);
    release();
    await shortened(world);
    const { text } = await bash(plugin, { check_pid: pid });
    expect(text).toContain(`${LOST} bytes of output could not be captured`);
  });

  it('cuff_shell', async () => {
    const native = await Native.open();
    await native.run('seq 1000');
    const id = await shortened(native.world);
    for (const args of [{}, { tail: 3 }, { grep: '99' }, { stream: 'stderr' }, { from_byte: 50 }]) {
      const { trailer } = await native.call('shell_read', { id, ...args });
      expect(trailer.at(-1)).toBe(`${LOST} bytes are missing`);
    }
    const { trailer } = await native.call('shell_wait', { id });
    expect(trailer).toContain(`${LOST} bytes of output could not be kept`);
  });

  it('cuff_shell, and bytes without a record, too', async () => {
    const native = await Native.open();
    await native.run('seq 1000; echo oops >&2');
    await until(() => native.world.shell.list()[0]?.final?.outputClosed === true, 'it has ended');
    const { id = '', dir } = native.world.shell.list()[0] ?? {};
    for (const stream of ['stdout', 'stderr']) {
      const { trailer } = await native.call('shell_read', { id, stream });
      expect(trailer).toHaveLength(1);
    }
    truncateSync(`${dir}/index.jsonl`, 0);
    for (const args of [{}, { tail: 3 }, { grep: 'oops' }, { stream: 'stderr' }]) {
      const { trailer } = await native.call('shell_read', { id, ...args });
      expect(trailer.at(-1)).toBe('3898 bytes are of an unknown stream, shown as stdout');
    }
  });

  it('derun', async () => {
    const native = await Native.open();
    await native.run('seq 1000');
    const session_id = await shortened(native.world);
    const derun = await native.world.open(DerunPlugin);
    const missing = { offset: KEPT, length: LOST };
    const page = await call(derun, 'read_output', { session_id, cursor: '0', max_bytes: 10 });
    expect(page.structured).not.toHaveProperty('missing');
    for (const cursor of ['0', '50', '3000']) {
      const { structured } = await call(derun, 'read_output', { session_id, cursor });
      expect(structured).toMatchObject({ missing, eof: true, final: true, next_cursor: '100' });
    }
    const waited = { session_id, cursor: '100', timeout_ms: 1 };
    expect((await call(derun, 'wait_output', waited)).structured).toMatchObject({ missing });
    const { structured } = await call(derun, 'get_session', { session_id });
    expect(structured).toMatchObject({ output: { output_bytes: KEPT, lost_bytes: LOST } });
  });
});

describe.skipIf(noRunner)('of more output than is kept', () => {
  const LAST = 'the last error';
  const LOUD = `yes 'all work and no play' | head -n 200000; echo ${LAST}`;

  it.each(DIALECTS)('$name says how much is missing', async ({ name, ...dialect }) => {
    const world = new World({ env: { ...process.env, CUFF_OUTPUT_BYTES_MAX: '524288' } });
    const plugin = await world.open(dialect.plugin);
    const args = { [dialect.argument]: LOUD, ...(name === 'codex' && { yield_time_ms: 30_000 }) };
    const { text } = await call(plugin, dialect.tool, args);
    const lost = world.shell.list()[0]?.final?.lostBytes ?? 0;
    expect(lost).toBeGreaterThan(3_000_000);
    expect(text).toContain(`${lost} bytes`);
    // The tool of the seed shows the start of an output, and says where the rest is.
    if (name !== 'bash_recorder') expect(text).toContain(LAST);
  });
});
