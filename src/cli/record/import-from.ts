// `cuff record import --from`: what agents ran before cuff was there, out of their own transcripts.

import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stateRoot } from '../../capture/paths.ts';
import { AppError } from '../../errors.ts';
import { homeOf } from '../../places.ts';
import { locatedByName } from '../../recordings/directory.ts';
import {
  importTranscripts,
  type TranscriptImportResult,
} from '../../recordings/import-transcripts.ts';
import { TRANSCRIPT_AGENTS, type TranscriptAgent } from '../../recordings/transcripts/agents.ts';
import { countText } from '../../text/dates.ts';
import { manyText } from '../../text/plural.ts';
import { printable, quoteWords } from '../../text/printable.ts';
import { commandRedactor, type Redactor, redactor, secretVariables } from '../../text/redact.ts';
import { KnownValues } from '../../text/secrets/known-values.ts';
import { outputWithoutSecrets } from '../../text/secrets/masked.ts';
import { put, putJson, say } from '../output.ts';
import { ownLedger } from '../own-ledger.ts';
import type { Flags } from './flags.ts';
import { nameJournal } from './opened.ts';
import { Progress } from './progress.ts';
import { recordingSettingsOf } from './record-settings.ts';
import { sayUnread, tallyJson } from './transcript-words.ts';

/**
 * `--json`: {"kind":"transcripts","dry_run","directory","commands","sessions","denied","agents":
 * [{"agent","sessions","commands"}],"already_known","still_running","other_projects","file_edits",
 * "not_understood","not_understood_at":[{"path","line"}],"not_read":[{"agent","path","why"}]}.
 */
export async function importFrom(flags: Flags): Promise<void> {
  if (flags.operand() !== '') {
    throw new AppError('usage', 'A file and --from cannot be imported together');
  }
  if (flags.on('--rejects')) throw new AppError('usage', "Option '--rejects' is for a file");
  const target = await targetOf(flags);
  const { settings, directory, project } = target;
  nameJournal({ directory, because: target.named ? undefined : settings.because });
  const values = redactor(process.env);
  const progress = new Progress('calls read');
  const ledger = ownLedger();
  const done = await importTranscripts({
    directory,
    project,
    agents: agentsOf(flags),
    env: process.env,
    since: flags.since(),
    terms: {
      captureOutput: settings.captureOutput,
      outputBytesMax: settings.outputBytesMax,
      redactOutput: outputRedactor(settings.redact ? values : undefined),
      redactCommand: commandRedactor(values),
    },
    dryRun: flags.on('--dry-run'),
    now: Date.now,
    ledger,
    step: () => progress.step(),
  }).finally(() => ledger?.close());
  progress.end();
  if (flags.on('--json')) return putJson(answerJson(done, directory, flags.on('--dry-run')));
  sayUnread(done.tally);
  await put(`${sentence(done, flags)}\n`);
  for (const line of besides(done, target)) say(line);
}

export function agentsOf(flags: Flags): readonly TranscriptAgent[] {
  const from = flags.text('--from');
  return from === 'all' ? TRANSCRIPT_AGENTS : TRANSCRIPT_AGENTS.filter((one) => one === from);
}

type Target = {
  readonly settings: Awaited<ReturnType<typeof recordingSettingsOf>>;
  readonly directory: string;
  /** Undefined: every session. */
  readonly project: string | undefined;
  /** The journal is not the one that is found from here. */
  readonly named: boolean;
};

async function targetOf(flags: Flags): Promise<Target> {
  const all = flags.on('--all-projects');
  const given = flags.text('--project');
  if (all && given !== undefined) {
    throw new AppError('usage', "Options '--project' and '--all-projects' contradict each other");
  }
  const project = realOf(resolve(given ?? process.cwd()));
  // What is recorded of other projects is no matter of the settings of this one.
  const home = all ? homeOf(process.env) : project;
  const settings = await recordingSettingsOf(home, process.env, flags.on('--trust'));
  const name = flags.text('--directory');
  const own = all ? join(stateRoot(process.env), 'journals', 'all-projects') : settings.directory;
  const directory = name === undefined ? own : locatedByName(name).directory;
  const named = all || name !== undefined || given !== undefined;
  return { settings, directory, project: all ? undefined : project, named };
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    throw new AppError('usage', `There is no directory '${printable(path)}'`);
  }
}

function sentence(done: TranscriptImportResult, flags: Flags): string {
  const { commands, sessions, agents, denied, tally } = done;
  const parts = [...agents].map(([agent, counts]) => `${agent} ${countText(counts.sessions)}`);
  const verb = flags.on('--dry-run') ? 'Would import' : 'Imported';
  const what = `${verb} ${manyText(commands, 'command')} of ${manyText(sessions, 'session')}`;
  const clauses = [
    commands === 0 ? 'Nothing new to import' : `${what} (${parts.join(', ')})`,
    ...(denied > 0 ? [`${countText(denied)} denied`] : []),
    ...(tally.unknown > 0 ? [`${countText(tally.unknown)} not understood`] : []),
  ];
  return `${clauses.join('; ')}.`;
}

function* besides(done: TranscriptImportResult, target: Target): Generator<string> {
  const { known, running, elsewhere, commands, tally } = done;
  if (known > 0) yield `${manyText(known, 'command')} had an entry already.`;
  if (running > 0)
    yield `${manyText(running, 'command')} may still be running; import again later.`;
  if (elsewhere > 0) {
    yield `${manyText(elsewhere, 'command')} of other projects: --all-projects imports them, too.`;
  }
  if (tally.files.size === 0 && tally.unread.length === 0) yield 'There are no transcripts here.';
  if (commands === 0) return;
  const journal = target.named ? ` --directory ${quoteWords([target.directory])}` : '';
  yield `Next: cuff record generate --since 90d${printable(journal)}`;
}

function answerJson(done: TranscriptImportResult, directory: string, dryRun: boolean) {
  return {
    kind: 'transcripts',
    dry_run: dryRun,
    directory,
    commands: done.commands,
    sessions: done.sessions,
    denied: done.denied,
    agents: [...done.agents].map(([agent, counts]) => ({ agent, ...counts })),
    already_known: done.known,
    still_running: done.running,
    other_projects: done.elsewhere,
    file_edits: done.edits,
    ...tallyJson(done.tally),
  };
}

/** Whatever the settings say, tokens of well-known shapes and values of secret variables go. */
function outputRedactor(values: Redactor | undefined): Redactor {
  const known = new KnownValues(secretVariables(process.env), { whole: true });
  const redact = (text: string): string => outputWithoutSecrets(values?.(text) ?? text, known);
  return Object.assign(redact, { lengthMax: 0 }); // it is given whole outputs
}
