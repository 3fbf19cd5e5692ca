// `compare: previous` in `cuff_shell`: what is different from the last time that the same command
// ran in the same directory of the same conversation.

import type { Caller } from '../../agent/caller.ts';
import type { Report } from '../../agent/report.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import { headCut } from '../../text/cut.ts';
import { unifiedDiff } from '../../text/diff.ts';
import { decodeUtf8 } from '../../text/utf8.ts';
import type { Body } from './output.ts';
import { allRuns, type Native, nameOf, opened, type Subject } from './runs.ts';
import { callText, durationText, joined } from './words.ts';

const COMPARED_BYTES_MAX = 1_000_000; // of each stream

/** Undefined when there is nothing to compare with; `first` then says so. */
export type Comparison = {
  readonly first: readonly string[];
  readonly body: ((report: Report) => Body) | undefined;
};

export function comparison(
  native: Native,
  subject: Subject,
  caller: Caller,
  bytesMax: number,
): Comparison {
  const previous = previousOf(native, subject, caller);
  if (previous === undefined) {
    return {
      first: ['compare: no earlier run of this command in this directory'],
      body: undefined,
    };
  }
  const age = native.services.now() - (previous.open().meta?.createdAt ?? 0);
  const name = `run ${nameOf(previous)}, ${durationText(age)} ago`;
  const body = (): Body => {
    const before = outputOf(previous);
    const after = outputOf(subject);
    return compared(before, after, { previous, bytesMax });
  };
  const call = callText('shell_read', subject.id);
  return { first: [`compared with ${name}; the whole output: ${call}`], body };
}

/** The last run of the same command that was over before this one began. */
function previousOf(native: Native, subject: Subject, caller: Caller): Subject | undefined {
  const { createdAt = 0 } = subject.open().meta ?? {};
  return allRuns(native, caller).find((one) => {
    if (one.id === subject.id || one.command !== subject.command || one.cwd !== subject.cwd) {
      return false;
    }
    const { meta, final } = opened(one) ?? {};
    return final !== undefined && (meta?.createdAt ?? 0) <= createdAt;
  });
}

type Output = { readonly text: string; readonly whole: boolean };

function outputOf({ open }: Subject): Output {
  const output = OutputReader.of(open());
  const [stdout, stderr] = (['stdout', 'stderr'] as const).map((channel) =>
    output.page({ channel, bytesMax: COMPARED_BYTES_MAX }),
  );
  const heading = stderr?.text ? '[stderr]' : '';
  const text = joined([stdout?.text ?? '', heading, stderr?.text ?? '']);
  return { text, whole: stdout?.next === undefined && stderr?.next === undefined };
}

function compared(
  before: Output,
  after: Output,
  about: { readonly previous: Subject; readonly bytesMax: number },
): Body {
  const part =
    before.whole && after.whole
      ? ''
      : `[only the first ${COMPARED_BYTES_MAX} bytes of each stream were compared]`;
  if (before.text === after.text) {
    return { text: joined([part, `(the same output)`]) };
  }
  // Its first two lines name files, and there are none.
  const [, , ...hunks] = unifiedDiff('', before.text, after.text).split('\n');
  const diff = Buffer.from(hunks.join('\n'));
  const limits = { bytesMax: about.bytesMax, linesMax: Number.POSITIVE_INFINITY };
  const shown = diff.subarray(0, headCut(diff, limits).to);
  const call = callText('shell_read', about.previous.id);
  const missing = `${diff.length - shown.length} of ${diff.length} bytes of the diff not shown`;
  const cut = shown.length === diff.length ? '' : `[${missing}; the previous output: ${call}]`;
  return { text: joined([decodeUtf8(shown), cut, part]) };
}
