// `cuff record leaks`: which runs printed a secret, or have one in their command. The secret itself
// is shown nowhere.

import type { Leak, LeakReport } from '../../recordings/leaks.ts';
import { findLeaks } from '../../recordings/leaks.ts';
import { storeOf } from '../../shell/captures.ts';
import { isoTime, sinceText, timeText } from '../../text/dates.ts';
import { counted, manyText } from '../../text/plural.ts';
import { printable, quoteWords, shortLine } from '../../text/printable.ts';
import { knownValues } from '../../text/secrets/known-values.ts';
import { paint, put, putJson, say, terminalWidth } from '../output.ts';
import type { Flags } from './flags.ts';
import { Progress } from './progress.ts';
import { sayUnreadable, unreadableJson } from './unreadable.ts';

const WIDTH = 100;

/**
 * `--json`: {"commands","captures","leaks":[...],"not_searched":{"damaged_lines","captures",
 * "recipients"}}; see
 * `leakJson` for a leak. Exit 1 when there is one.
 */
export async function leaks(flags: Flags): Promise<void> {
  const { directory } = await flags.journal();
  const progress = new Progress('recordings searched');
  const step = (): void => progress.step();
  const store = storeOf(process.env);
  // Those of this shell: the values that commands had are not recorded.
  const known = knownValues(process.env);
  const report = findLeaks({ directory, store, since: flags.since(), known, step });
  progress.end();
  const unreadable = sayUnreadable(directory);
  if (report.leaks.length > 0) process.exitCode = 1;
  if (flags.on('--json')) return putJson(reportJson(report, unreadable));
  for (const line of textOf(report, flags)) await put(`${line}\n`);
  for (const line of notSearched(report)) say(line);
}

function* textOf({ leaks: found, commands, captures }: LeakReport, flags: Flags) {
  const searched = `${manyText(commands, 'command')} and ${manyText(captures, 'capture')}`;
  const since = flags.text('--since');
  const period = since === undefined ? '' : ` (${sinceText(since)})`;
  if (found.length === 0) {
    yield `No secrets found in ${searched}${period}.`;
    return;
  }
  const secrets = new Set(found.map(({ mark }) => mark)).size;
  const runs = new Set(found.map(placeOf)).size;
  const head = `${manyText(secrets, 'secret')} in ${manyText(runs, 'run')}`;
  yield paint('bold', `${head}, of ${searched}${period}`);
  for (const leak of found) yield* leakText(leak);
  yield '';
  yield 'Lines with the same [mark] are about the same secret. Change it where it was issued.';
  yield 'To take out a value alone, wherever it was recorded: cuff redact --secret -';
}

const PARTS = { text: 'in the command', stdout: 'printed', stderr: 'printed on stderr' } as const;

function* leakText(leak: Leak): Generator<string> {
  const { kind, variable, part, count, encodings, mark, at, agent, kept, command } = leak;
  const what = kind === 'variable' ? `value of ${variable}` : kind;
  const known = kind !== 'variable' && variable !== null ? `, the value of ${variable}` : '';
  const times = count > 1 ? `, ${count} times` : '';
  const encoded = encodings.filter((one) => one !== 'plain');
  const how = encoded.length > 0 ? `, as ${encoded.join(' and ')}` : '';
  const facts = [timeText(at).slice(0, 16), placeOf(leak), agent ?? '', kept.join(' and ')];
  yield '';
  const title = `${paint('bold', printable(what))}${printable(known)} [${mark}]`;
  yield `${title}  ${PARTS[part]}${times}${how}`;
  yield `  ${shortLine(command, (terminalWidth().width ?? WIDTH) - 4)}`;
  yield paint('dim', `  ${facts.filter(Boolean).map(printable).join('  ')}`);
  yield paint('dim', `  ${redactLine(leak)}`);
}

/** Takes it out of the record: the value where it is known, else the parts that have it. */
function redactLine({ entry, kind, variable, part, kept }: Leak): string {
  const redact = 'cuff redact';
  if (kind === 'variable') {
    return `printenv ${quoteWords([variable ?? ''])} | ${redact} --secret -`;
  }
  if (entry === null) return `${redact} --secret -`;
  const parts = [part, ...(kept.includes('capture') ? ['capture'] : [])].join(',');
  const where = `${quoteWords([entry.sessionId])} ${entry.sequence} --parts ${parts}`;
  return `${redact} ${where} --why 'a leaked ${kind}'`;
}

function placeOf({ entry, runId }: Leak): string {
  return entry === null ? `${runId}` : `${entry.sessionId} #${entry.sequence}`;
}

function notSearched({ notSearched: not }: LeakReport): readonly string[] {
  const { damagedLines, captures, recipients } = not;
  const unread = counted(captures, 'capture', 'captures');
  const whom = recipients.map(printable).join(', ');
  return [
    ...(damagedLines > 0 ? [`Not searched: ${manyText(damagedLines, 'damaged line')}.`] : []),
    ...(captures > 0 ? [`Not searched: ${unread} that cannot be read.`] : []),
    ...(whom === '' ? [] : [`They are encrypted for ${whom}; CUFF_IDENTITY names an identity.`]),
  ];
}

function reportJson({ leaks: found, commands, captures, notSearched: not }: LeakReport, n: number) {
  const { damagedLines, captures: unread, recipients } = not;
  const missed = { damaged_lines: damagedLines, captures: unread, recipients };
  return {
    commands,
    captures,
    leaks: found.map(leakJson),
    not_searched: { ...missed, ...unreadableJson(n) },
  };
}

function leakJson(one: Leak) {
  const { entry, runId, at, agent, ...leak } = one;
  return {
    kind: leak.kind,
    variable: leak.variable,
    mark: leak.mark,
    part: leak.part,
    encodings: leak.encodings,
    count: leak.count,
    session_id: entry?.sessionId ?? null,
    sequence_number: entry?.sequence ?? null,
    run_id: runId,
    timestamp: isoTime(at),
    agent_id: agent,
    command: leak.command,
    kept: leak.kept,
    redact: redactLine(one),
  };
}
