// What somebody who looks on gets to know: log lines with their ids, metrics that count, a catalog
// that follows, and nothing that leaves the machine.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics, processMetrics } from '../../src/ops/metrics.ts';
import { until } from '../cli/helper.ts';
import { execute, executeWith, World } from './helper.ts';
import { Server } from './server.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('the log', () => {
  it('tells of a command by its hash, with every id there is', async () => {
    const world = new World();
    const plugin = await world.plugin();
    const meta = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, tool_call_id: 'tc_1' };
    await execute(plugin, 'echo unlogged; exit 2', {}, { meta });
    const { entry_id, session_id, duration_ms, trace_id, tool_call_id } = world.entry();
    expect([trace_id, tool_call_id]).toEqual([TRACE, 'tc_1']);
    expect(world.log('Command executed')).toEqual([
      {
        level: 'debug',
        message: 'Command executed',
        fields: {
          plugin: 'bash_recorder',
          session_id,
          entry_id,
          command_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
          duration_ms,
          exit_code: 2,
          trace_id: TRACE,
        },
      },
    ]);
    expect(JSON.stringify(world.logged)).not.toContain('unlogged');
  });

  it('names the session in every line that is about one', async () => {
    const world = new World();
    const plugin = await world.plugin();
    await execute(plugin, 'true');
    await plugin.onConfigReload({ recording: { directory: 'other' } });
    await world.stop(plugin);
    for (const { fields } of world.logged) {
      expect(fields).toMatchObject({ plugin: 'bash_recorder', session_id: expect.any(String) });
    }
  });
});

describe('the metrics', () => {
  it('count what happened', async () => {
    const metrics = await createMetrics();
    const world = new World();
    const config = { recording: { max_output_size: 3 } };
    const recorder = await world.recorder(config, { metrics });
    await executeWith(recorder, 'printf ok');
    await executeWith(recorder, 'printf truncated; exit 3');
    const text = await metrics.text();
    for (const line of [
      'bash_recorder_commands_total{exit_code="0",timed_out="false"} 1',
      'bash_recorder_commands_total{exit_code="3",timed_out="false"} 1',
      'bash_recorder_command_duration_seconds_count 2',
      'bash_recorder_active_sessions 1',
      'bash_recorder_entries_recorded_total 2',
      'bash_recorder_output_bytes_total 11',
      'bash_recorder_output_truncated_total 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    await recorder.close();
    expect(await metrics.text()).toContain('bash_recorder_active_sessions 0\n');
  });

  it('count errors by their kind', async () => {
    const metrics = await createMetrics();
    const world = new World();
    fs.writeFileSync(join(world.project, '.cuff'), 'a file in its way');
    const recorder = await world.recorder({}, { metrics });
    await executeWith(recorder, 'true');
    const text = await metrics.text();
    expect(text).toMatch(/bash_recorder_recording_errors_total\{error_type="E[A-Z]+"\} 2\n/);
    await recorder.close();
  });

  it('are those of the process', async () => {
    const world = new World();
    const plugin = await world.plugin();
    await execute(plugin, 'exit 77');
    const text = await (await processMetrics()).text();
    expect(text).toContain('bash_recorder_commands_total{exit_code="77",timed_out="false"} 1');
  });
});

it('the catalog follows without anybody waiting for it', async () => {
  const world = new World();
  const plugin = await world.plugin();
  await execute(plugin, 'echo findable');
  const catalog = join(world.journal, 'catalog.db');
  await until(() => fs.existsSync(catalog) && fs.statSync(catalog).size > 0, 'there is a catalog');
  await world.stop(plugin);
});

it('no server has a connection to anywhere', async () => {
  const world = new World();
  const server = await Server.start(world);
  await server.execute('echo 1');
  const { pid } = server.child;
  const own = fs
    .readdirSync(`/proc/${pid}/fd`)
    .map((fd) => {
      try {
        return fs.readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return ''; // closed meanwhile
      }
    })
    .flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
  const internet = ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((name) =>
    fs
      .readFileSync(`/proc/${pid}/net/${name}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/)[9]),
  );
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter((inode) => internet.includes(inode))).toEqual([]);
  await server.stop();
});

it('the documentation warns of what it is', () => {
  const path = join(import.meta.dirname, '..', '..', 'docs', 'recorder.md');
  expect(fs.readFileSync(path, 'utf8')).toMatch(/executes \*\*any command\*\* it is given/);
});
