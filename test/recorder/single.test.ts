// The entry of a process that is no server.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { recordingOf } from '../../src/cli/recording.ts';
import { openSingle } from '../../src/recorder/single.ts';
import { openStore } from '../../src/shell/store.ts';

const base = mkdtempSync(join(tmpdir(), 'cuff-single-'));
afterAll(() => rmSync(base, { recursive: true }));

it('is on the disk before the index of the journal is looked at', async () => {
  const env = { HOME: base, CUFF_STATE_ROOT: join(base, 'state') };
  const { recording, project } = await recordingOf(base, env);
  const single = openSingle({
    store: openStore(join(base, 'state')),
    recording: { ...recording, trace: 'off' },
    project,
    request: { command: 'true', cwd: base, shell: '/bin/bash' },
    context: { agentId: null, conversationId: null, toolCallId: null, traceId: null },
    env,
  });
  const ended = {
    at: Date.now(),
    outcome: { kind: 'exited', code: 0 },
    endedBy: 'itself',
  } as const;
  const { writeIndex } = await single.finish({ id: 'x', dir: undefined, ended, durationMs: 1 });
  const { directory } = recording;
  const id = single.intent?.sessionId ?? '';
  const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
  expect(JSON.parse(read(`sessions/${id}.jsonl`))).toMatchObject({ command: 'true', exit_code: 0 });
  expect(JSON.parse(read(`sessions/${id}.meta.json`))).toMatchObject({ end_reason: 'shutdown' });
  expect(existsSync(join(directory, 'index.json'))).toBe(false);
  await writeIndex();
  expect(JSON.parse(read('index.json'))).toMatchObject({
    total_entries: 1,
    sessions: { [id]: {} },
  });
});
