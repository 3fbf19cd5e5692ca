// `GET /api/runs/ID/find`: where a text stands in the output of a run. Bytes are searched as they
// are, some megabytes in one answer; a line number costs a look into the index.

import { withSnapshot } from '../../capture/snapshot.ts';
import { countNewlines } from '../../text/lines.ts';
import { literalRegex } from '../../text/regex.ts';
import type { FindAnswer } from '../api.ts';
import { Fault } from '../fault.ts';
import { lineAt } from '../run-index.ts';
import { captureOf } from '../runs.ts';
import type { Ground, Question, Request } from './ground.ts';

const SEARCHED_BYTES_MAX = 64 * 1024 * 1024; // in one answer
const WINDOW_BYTES = 1024 * 1024;
const OVERLAP_BYTES = 64 * 1024; // no match is longer
const LIMIT = 1_000;
const LIMIT_MAX = 10_000;

export const find: Question = { params: ['q', 'regex', 'case', 'from', 'limit'], answer };

function answer({ store }: Ground, { id, params }: Request): FindAnswer {
  const text = params.text('q');
  if (text === undefined) throw new Fault(400, 'What is to be found? Say it with q.');
  const pattern = patternOf(text, { regex: params.on('regex'), exact: params.on('case') });
  const capture = captureOf(store, id);
  const limit = params.limit(LIMIT, LIMIT_MAX);
  return withSnapshot(capture, (snapshot) => {
    const { end, hole, output } = snapshot;
    const matches: FindAnswer['matches'][number][] = [];
    let count = 0;
    let at = Math.min(params.count('from') ?? 0, end);
    const until = Math.min(end, at + SEARCHED_BYTES_MAX);
    let counted = { offset: at, line: lineAt(snapshot, at) };
    while (at < until) {
      if (hole !== undefined && at >= hole.from && at < hole.to) {
        at = Math.min(hole.to, until);
        counted = { offset: at, line: lineAt(snapshot, at) };
        continue;
      }
      const stop = hole !== undefined && at < hole.from ? Math.min(hole.from, until) : until;
      const size = Math.min(WINDOW_BYTES, stop - at);
      const window = Buffer.from(output.read(at, Math.min(size + OVERLAP_BYTES, end - at)));
      for (const { offset, length } of matchesIn(window, pattern)) {
        if (offset >= size) break; // the next window begins with it
        count += 1;
        if (matches.length === limit) continue;
        const from = counted.offset - at;
        const line = counted.line + countNewlines(window.subarray(Math.max(0, from), offset));
        counted = { offset: at + offset, line };
        matches.push({ offset: at + offset, length, line });
      }
      const rest = window.subarray(Math.max(0, counted.offset - at), size);
      counted = { offset: at + size, line: counted.line + countNewlines(rest) };
      at += size;
    }
    return { matches, count, next: at < end ? at : null };
  });
}

/** A pattern for the bytes of UTF-8 as characters, so that places are places in the file. */
function patternOf(
  text: string,
  how: { readonly regex: boolean; readonly exact: boolean },
): RegExp {
  const flags = how.exact ? 'gm' : 'gim';
  const bytes = Buffer.from(text).toString('latin1');
  if (!how.regex) return new RegExp(literalRegex(bytes), flags);
  try {
    return new RegExp(bytes, flags);
  } catch {
    throw new Fault(400, 'This is no regular expression.');
  }
}

function* matchesIn(
  window: Buffer,
  pattern: RegExp,
): Generator<{ readonly offset: number; readonly length: number }> {
  const text = window.toString('latin1');
  for (const match of text.matchAll(pattern)) {
    const [found] = match;
    if (found.length > 0) yield { offset: match.index, length: found.length };
  }
}
