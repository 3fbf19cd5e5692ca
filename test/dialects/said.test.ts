// What every dialect says about a command besides its output: that its end was not seen, that the
// call was cancelled, that it is not in the journal. Nothing is said that is not so.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../src/host/plugin.ts';
import { findRunner } from '../../src/run/binary.ts';
import { until } from '../cli/helper.ts';
import { call, World } from '../recorder/helper.ts';
import { lacking } from '../requirements.ts';
import { DIALECTS, type DialectCase } from './policy-helper.ts';

const noRunner = lacking(findRunner().kind === 'none', 'there is no native runner here');

const HELD = 'echo printed; sleep 100';

/** The longest that a call waits, in the words of each dialect. */
function waiting({ name, argument }: DialectCase): Readonly<Record<string, unknown>> {
  return { [argument]: HELD, ...(name === 'codex' && { yield_time_ms: 30_000 }) };
}

async function printed(world: World): Promise<{ readonly runner: number; readonly child: number }> {
  const look = () => world.shell.list()[0];
  await until(() => {
    const one = look();
    return one?.meta?.child !== undefined && world.shell.read(one.id, 0, 10).nextCursor > 0;
  }, 'the command has printed');
  const { runner, child } = look()?.meta ?? {};
  if (runner === undefined || child === undefined || runner.pid === process.pid) {
    throw new Error('no runner');
  }
  return { runner: runner.pid, child: child.pid };
}

describe.each(DIALECTS)('$name', (dialect) => {
  it.skipIf(noRunner)('gives the output of a run whose runner was killed', async () => {
    const world = new World();
    const plugin = await world.open(dialect.plugin);
    const answering = call(plugin, dialect.tool, waiting(dialect));
    const { runner, child } = await printed(world);
    process.kill(runner, 'SIGKILL');
    const { text } = await answering;
    process.kill(-child, 'SIGKILL'); // without its runner nothing ends it
    expect(text).toContain('printed');
    expect(text).toMatch(/runner was killed/);
    expect(text).toMatch(/Up to 64 KiB( of each stream)? may be missing at the end/);
    expect(text).not.toContain('could not be started');
    const messages = world.logged.map(({ message }) => message);
    expect(messages).toContain('Command was lost');
    expect(messages).not.toContain('Command could not be started');
  });

  it('calls a cancelled call cancelled', async () => {
    const world = new World();
    const plugin = await world.open(dialect.plugin);
    const controller = new AbortController();
    const about = { signal: controller.signal };
    const answering = call(plugin, dialect.tool, waiting(dialect), about);
    await printed(world);
    controller.abort();
    expect((await answering).text).toMatch(/printed.*cancelled|cancelled.*printed/s);
    const late = await call(plugin, dialect.tool, waiting(dialect), about);
    expect(late).toMatchObject({ success: false, text: expect.stringContaining('cancelled') });
    expect(world.entry()).toMatchObject({ end_reason: 'cancelled' });
  });

  it('says one sentence of an argument that is nested too deeply', async () => {
    const plugin = await new World().open(dialect.plugin);
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const { argument } = dialect;
    expect(await call(plugin, dialect.tool, { [argument]: deep })).toEqual({
      success: false,
      text: `${argument} must be a string, not something nested too deeply.`,
    });
  });

  const run = async (world: World, recording: object): Promise<() => Promise<ToolResult>> => {
    const plugin = await world.open(dialect.plugin, { recording });
    return () => call(plugin, dialect.tool, { [dialect.argument]: 'echo hi' });
  };

  it('says once that recording is turned off', async () => {
    const once = await run(new World(), { enabled: false });
    const first = await once();
    expect(first.text).toContain('hi');
    expect(first.text).toContain('recording is turned off in the settings');
    const second = await once();
    expect(second.text).toContain('hi');
    expect(second.text).not.toContain('turned off');
  });

  it('says each time that the journal cannot be written', async () => {
    const world = new World();
    writeFileSync(join(world.project, 'file'), '');
    const once = await run(world, { directory: 'file/below' });
    for (const _ of [1, 2]) {
      const { text } = await once();
      expect(text).toContain('hi');
      expect(text).toMatch(/not in the journal: |was not recorded: /);
    }
  });
});

describe('bash_recorder', () => {
  it('names only tools that are there', async () => {
    const world = new World();
    const tools = new Set<string>();
    Object.assign(world.services, { mounted: (tool: string) => tools.has(tool) });
    const plugin = await world.plugin();
    const command = 'sleep 100 & head -c 1100000 /dev/zero | tr "\\0" x';
    const notices = async () =>
      JSON.parse((await call(plugin, 'execute', { command })).text) as {
        readonly run_id: string;
        readonly notices: readonly string[];
      };
    const alone = await notices();
    expect(alone.notices).toEqual([
      expect.stringMatching(`Read the rest with \`cuff cat ${alone.run_id}\`\\.$`),
      expect.stringMatching(`Follow its output with \`cuff tail -f ${alone.run_id}\`\\.$`),
    ]);
    tools.add('derun_read_output').add('derun_wait_output');
    const together = await notices();
    expect(together.notices).toEqual([
      expect.stringMatching(
        `Read the rest with derun_read_output, session_id "${together.run_id}"`,
      ),
      expect.stringMatching(`Follow its output with derun_wait_output, session_id "`),
    ]);
  });
});
