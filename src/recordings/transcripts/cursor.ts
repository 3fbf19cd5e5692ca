// Cursor, as public code describes it: `projects/<project>/agent-transcripts/<id>/<id>.jsonl`. It
// keeps the commands and nothing else: no output, no exit code, no times and no ids. The place in
// the file is the id of a call, because a transcript is only ever appended to.

import { AGENTS } from '../../text/agents.ts';
import { asObject, asString } from '../../text/json.ts';
import {
  callFact,
  objectsOf,
  type TranscriptFact,
  type TranscriptLine,
  type TranscriptOrigin,
  textOrNull,
  timeOf,
} from './call.ts';
import { editsOf, isFileTool } from './edits.ts';

export function* cursorFacts(
  lines: Iterable<TranscriptLine>,
  { session, cwd: home }: TranscriptOrigin,
): Generator<TranscriptFact, void, undefined> {
  for (const { json, number: line } of lines) {
    const blocks = objectsOf(asObject(json.message)?.content);
    for (const [index, block] of blocks.entries()) {
      const name = asString(block.name);
      if (block.type !== 'tool_use' || name === undefined) continue;
      const input = asObject(block.input) ?? {};
      const call = asString(block.id) ?? `line ${line}.${index + 1}`;
      const at = timeOf(json.timestamp);
      const cwd = textOrNull(input.working_directory) ?? home;
      if (AGENTS.cursor.shellTools.includes(name)) {
        const command = asString(input.command) ?? '';
        const description = textOrNull(input.description) ?? textOrNull(input.explanation);
        const asked = { session, command, description, cwd, startedAt: at, line };
        yield callFact('cursor', call, asked, { exitCode: null, output: null, end: 'itself' });
      } else if (isFileTool('cursor', name)) {
        const common = { agent: 'cursor', session, call, tool: name, cwd: home, at, line } as const;
        for (const edit of editsOf(input)) yield { kind: 'edit', edit: { ...common, ...edit } };
      }
    }
  }
}
