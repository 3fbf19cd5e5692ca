// `cuff record show e_...`: one command and what it printed.

import { entryNamed } from '../../recordings/entry.ts';
import { printable } from '../../text/printable.ts';
import { put, putJson } from '../output.ts';
import { entryLine, entryOutput } from './entry-words.ts';
import type { Flags } from './flags.ts';

/** `--format json` and `yaml`: {"entry":{...}}, with its output. */
export async function showEntry(directory: string, flags: Flags): Promise<void> {
  const entry = entryNamed(directory, flags.operand());
  const format = flags.format();
  if (format === 'json') return putJson({ entry });
  if (format === 'yaml') return put((await import('./yaml.ts')).yaml({ entry }));
  const head = [`Recording: ${entry.entry_id}`, `Session: ${entry.session_id}`];
  await put(head.map((line) => `${printable(line)}\n`).join(''));
  await put(`\n${entryLine(entry)}${entryOutput(entry)}`);
}
