// Identities of a test, sessions with words in them, and what lies on the disk of a journal.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { identityText, newIdentity } from '../../../src/age/x25519.ts';
import { appendEdits, type EditRecord } from '../../../src/journal/edits.ts';
import { sessionFiles } from '../../../src/journal/files.ts';
import { appendLater } from '../../../src/journal/later.ts';
import { packLines } from '../../../src/journal/packed/pack.ts';
import { startSession } from '../../../src/journal/writer.ts';
import type { EntryDraft } from '../../../src/types.ts';
import { to } from '../../age/helper.ts';
import { type CountingDisk, draftOf, FACTS, newJournal, tempDir, world } from '../helper.ts';

export const mine = newIdentity();
export const RECIPIENTS = [to(mine)];

/** What this process can decrypt with until the test is over. */
function withIdentity(text: string | undefined): void {
  const path = join(tempDir(), 'identity');
  if (text !== undefined) fs.writeFileSync(path, `${text}\n`, { mode: 0o600 });
  vi.stubEnv('HOME', tempDir());
  vi.stubEnv('XDG_CONFIG_HOME', tempDir());
  vi.stubEnv('CUFF_IDENTITY', text === undefined ? undefined : path);
  onTestFinished(() => void vi.unstubAllEnvs());
}

export const withMine = (): void => withIdentity(identityText(mine));
export const withNone = (): void => withIdentity(undefined);

export const WORD = 'wombat';

const EDIT: EditRecord = {
  timestamp: '2026-01-18T14:30:53.000Z',
  tool: 'Write',
  path: `/p/${WORD}.ts`,
  lines_added: 1,
  lines_removed: 0,
  hash_before: null,
  hash_after: null,
  failed: false,
  agent_id: 'claude-code',
  conversation_id: 'conv_abc123',
  tool_call_id: 't1',
};

export function wordy(i: number): EntryDraft {
  return draftOf({
    command: `echo ${WORD} ${i}`,
    run_id: `20260118-143052-0000${String(i).padStart(4, '0')}`,
    stdout: `a ${WORD}\n`.repeat(20 + i),
    exit_code: i % 3 === 0 ? 1 : 0,
  });
}

/** Complete, with output that came later and an edit. */
export async function wordySession(count: number, directory = newJournal()) {
  const env = world();
  const writer = startSession(directory, FACTS, env);
  for (let i = 1; i <= count; i += 1) {
    const { entry_id } = await writer.append(wordy(i));
    const output = { stdout: `later ${WORD}\n`, stderr: '', truncated: false };
    if (i % 4 === 1) {
      await appendLater(directory, writer.id, [{ entry_id, survivors: [], output }], env);
    }
  }
  await appendEdits(directory, writer.id, [EDIT], env);
  await writer.finalize('complete', 'over');
  const files = sessionFiles(directory, writer.id);
  return { directory, id: writer.id, files, lines: [files.entries, files.later, files.edits] };
}

export async function packAll(lines: readonly string[], disk?: CountingDisk): Promise<void> {
  for (const path of lines) await packLines(path, { recipients: RECIPIENTS, disk });
}

/** Every byte of every file below. */
export function onDisk(directory: string): string {
  const names = fs.readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const files = names.map((name) => join(directory, name));
  return files
    .filter((path) => fs.statSync(path).isFile())
    .map((path) => fs.readFileSync(path, 'latin1'))
    .join('\n');
}
