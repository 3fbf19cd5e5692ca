// One answer of `cuff_shell` about a run: its output, or what is new of it, and the lines that say
// how it stands. A command that failed is an answer like any other: clients that are told of an
// error wrap the text, or throw it. Its output is shown in another way, unless it only said "no"
// with exit code 1.

import { missedVariables, type Report } from '../../agent/report.ts';
import { answerOf } from '../../agent/report-answer.ts';
import { isListing } from '../../agent/report-listing.ts';
import { waitingForInput } from '../../agent/report-waiting.ts';
import type { ToolResult } from '../../host/plugin.ts';
import type { Capture } from '../../shell/shell.ts';
import { printable } from '../../text/printable.ts';
import { failed } from '../tool-plugin.ts';
import { type Body, type BodyRequest, bodyOf, type Kind, newsBody } from './output.ts';
import type { Native, Subject } from './runs.ts';
import type { VIEWS } from './tools.ts';
import { endedTrailer, joined, lines, runningTrailer } from './words.ts';

export type ViewName = (typeof VIEWS)[number];

export type AnswerRequest = {
  /** Undefined: what is new since the last answer. */
  readonly view: ViewName | undefined;
  readonly bytesMax: number;
  /** In place of the output. */
  readonly instead?: ((report: Report) => Body) | undefined;
  /** Lines in brackets before those about the run. */
  readonly first?: readonly string[];
};

export function answerAbout(native: Native, about: Subject, wanted: AnswerRequest): ToolResult {
  // An answer is about one moment: the capture is opened once.
  let opened: Capture | undefined;
  const open = (): Capture => {
    opened ??= about.open();
    return opened;
  };
  const subject = { ...about, open };
  const report = reportOf(native, subject);
  if (report.ended === undefined) {
    const capture = open();
    const { bytesMax } = wanted;
    const body =
      wanted.view === 'none'
        ? NOT_SHOWN
        : wanted.instead !== undefined
          ? wanted.instead(report)
          : news(native, subject, report, { bytesMax, totals: report.totals, failed: false });
    const waiting = waitingForInput(capture);
    const killAfterMs = capture.meta?.killAfterMs;
    const { first = [] } = wanted;
    const facts = { report: agreed(report, body), waiting, killAfterMs, first };
    return { success: true, text: joined([body.text, runningTrailer(facts)]) };
  }
  const { outcome } = report.ended;
  if (outcome.kind === 'failed' && outcome.error !== 'runner_lost') return notStarted(outcome);
  return ended(native, subject, report, wanted);
}

/** Why a run was not traced stands in its capture. */
function reportOf({ reports, shell }: Native, { run, open }: Subject): Report {
  const known = run?.silent === true && !shell.wantsTrace ? run.result : undefined;
  return run && known ? reports.ofSilent(run, known) : reports.of(open(), run);
}

function ended(
  native: Native,
  subject: Subject,
  report: Report,
  wanted: AnswerRequest,
): ToolResult {
  const { endedBy, outcome } = report.ended ?? {};
  const itself = endedBy === 'itself';
  const code = itself && outcome?.kind === 'exited' ? outcome.code : undefined;
  const answer = code === 1 ? answerOf(subject.command, report.totals.stderr.bytes) : undefined;
  const fine = code === 0 || answer !== undefined;
  const failed = !fine || report.stages.length > 0 || report.hidden.length > 0;
  const { view, bytesMax } = wanted;
  const { totals } = report;
  const body =
    view === undefined
      ? news(native, subject, report, { bytesMax, totals, failed })
      : firstBody(native, report, view, () =>
          wanted.instead === undefined
            ? bodyOf(subject, kindOf(view, fine, subject.command), { bytesMax, totals, failed })
            : wanted.instead(report),
        );
  const withheld = fine ? [] : native.shell.withheld;
  const missed = missedVariables(withheld, subject.command, body.text);
  const killAfterMs = endedBy === 'timeout' ? subject.open().meta?.killAfterMs : undefined;
  const about = { report: agreed(report, body), unshown: view === 'none' };
  const untraced = native.shell.wantsTrace ? report.untraced : undefined;
  const trailer = endedTrailer({ ...about, answer, killAfterMs, missed, untraced });
  const first = wanted.first === undefined ? '' : lines(wanted.first);
  return { success: true, text: joined([body.text, first, trailer]) };
}

const NOT_SHOWN: Body = { text: '' };

/** With the totals of what is shown, so that no line is shown that was not counted. */
function agreed(report: Report, { totals = report.totals }: Body): Report {
  return { ...report, totals };
}

function kindOf(view: ViewName, fine: boolean, command: string): Kind {
  if (view === 'auto' || view === 'grep') return fine && isListing(command) ? 'listing' : 'auto';
  return view === 'full' ? 'head' : view;
}

const NO_OUTPUT = '(no output)';

function firstBody(
  { reports }: Native,
  { id, totals }: Report,
  view: ViewName,
  show: () => Body,
): Body {
  const body = show();
  if (view === 'none') return body;
  for (const channel of ['stdout', 'stderr'] as const) {
    reports.news(id).heard(channel, (body.totals ?? totals)[channel].bytes);
  }
  if (body.text !== '') return body;
  const none = totals.stdout.bytes + totals.stderr.bytes === 0;
  return { ...body, text: none ? NO_OUTPUT : '(nothing visible)' };
}

function news(
  { reports }: Native,
  subject: Subject,
  { id, totals }: Report,
  request: BodyRequest,
): Body {
  const body = newsBody(subject, reports.news(id), request);
  if (body.text !== '') return body;
  const some = totals.stdout.bytes + totals.stderr.bytes > 0;
  return { ...body, text: some ? '(no new output)' : NO_OUTPUT };
}

function notStarted({ message, error }: { message: string; error: string }): ToolResult {
  const why = printable(message || error);
  return failed(`The command could not be started: ${why}.`);
}
