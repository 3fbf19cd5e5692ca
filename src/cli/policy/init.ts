// `cuff policy init`: a first policy for a project. The project's files say what it is, the journal
// or the transcripts of agents say what the policy would have meant, and a person says yes before
// anything is written. Exit 0 when it is written, 1 after a no, 2 without a terminal to ask at.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError } from '../../errors.ts';
import { homeOf, realOf } from '../../places.ts';
import { parsePolicy } from '../../policies/files.ts';
import { kindsOf, presetText } from '../../policies/init/document.ts';
import type { Preset } from '../../policies/init/presets.ts';
import { type ProjectFacts, projectFacts } from '../../policies/init/project.ts';
import { projectPolicy } from '../../policies/places.ts';
import type { Backtest } from '../../recordings/evidence.ts';
import { testPolicy } from '../../recordings/evidence.ts';
import { testOnTranscripts } from '../../recordings/transcript-evidence.ts';
import { unifiedDiff } from '../../text/diff.ts';
import { isPerson, refuseAgents } from '../../trust/person.ts';
import { trustFile } from '../../trust/trust.ts';
import { askYes } from '../confirm.ts';
import { assertInside, readConfig, replaceConfig } from '../init/file.ts';
import { shown } from '../init/shown.ts';
import { put, say } from '../output.ts';
import { ownProgram } from '../own-program.ts';
import { Progress } from '../record/progress.ts';
import { sayUnread } from '../record/transcript-words.ts';
import { backtestSections, verdictLines } from './test.ts';

export type PolicyInitFlags = {
  readonly preset: Preset;
  /** Try it on agents' own transcripts, not on the journal. */
  readonly fromHistory: boolean;
  readonly yes: boolean;
  /** The journal; undefined with `fromHistory`. */
  readonly directory: string | undefined;
  readonly since: number | undefined;
  readonly sinceText: string;
};

export async function initPolicy(flags: PolicyInitFlags): Promise<void> {
  const { env } = process;
  refuseAgents(env, 'write its own policy');
  const project = realOf(process.cwd());
  const path = projectPolicy(project);
  assertInside(path, shown(path), [project]);
  const before = readConfig(path, shown(path));
  if (before !== undefined && flags.yes) throw exists(path);
  const facts = projectFacts(project);
  const { preset } = flags;
  const schema = schemaFor(project);
  const draft = presetText({ preset, facts, schema });
  const result = backtestOf(draft, project, flags);
  const suggestions = result.additions.filter(
    ({ pattern }) => pattern.length <= PATTERN_LENGTH_MAX,
  );
  const after = presetText({ preset, facts, schema, suggestions });
  if (before === after) return say(`Nothing to do: ${shown(path)} is this policy already.`);
  await put(before === undefined ? after : unifiedDiff(shown(path), before, after));
  await put(reportText(result, facts, flags));
  if (!(await agreed(path, before, flags))) return;
  replaceConfig({ path, before, after }, shown(path));
  tellWritten(project, path, after);
}

const PATTERN_LENGTH_MAX = 200; // a longer rule is not read

function exists(path: string): AppError {
  return new AppError('usage', `There is a policy already: ${shown(path)}; it was not changed.`, {
    hint: 'Without --yes you see what would change and are asked, at a terminal.',
  });
}

/** Where an editor finds the schema: in the project if cuff is installed there. */
function schemaFor(project: string): string {
  const schema = join(dirname(dirname(ownProgram())), 'docs', SCHEMA);
  const installed = join(project, 'node_modules', 'cuff', 'docs', SCHEMA);
  if (existsSync(installed) && realOf(installed) === schema) {
    return `../node_modules/cuff/docs/${SCHEMA}`;
  }
  return pathToFileURL(schema).href;
}

const SCHEMA = 'policy.schema.json';

function backtestOf(text: string, project: string, flags: PolicyInitFlags): Backtest {
  const { env } = process;
  const home = homeOf(env);
  const place = { path: projectPolicy(project), origin: 'project' } as const;
  const parsed = parsePolicy(text, place, { home, project });
  if (parsed.kind !== 'good') throw new Error(`the preset is no policy: ${JSON.stringify(parsed)}`);
  const { since, directory } = flags;
  const progress = new Progress('commands');
  const step = (): void => progress.step();
  try {
    if (directory !== undefined) {
      return testPolicy(parsed.loaded, { directory, since, home, step }).result;
    }
    const query = { project, env, home, since, step };
    const { result, tally } = testOnTranscripts(parsed.loaded, query);
    sayUnread(tally);
    return result;
  } finally {
    progress.end();
  }
}

function reportText(
  result: Backtest,
  facts: ProjectFacts,
  { preset, fromHistory, sinceText }: PolicyInitFlags,
): string {
  const from = fromHistory ? "agents' own transcripts" : 'the journal';
  const title = `The preset \`${preset}\` for ${kindsOf(facts)}`;
  if (result.commands === 0) {
    const more = fromHistory ? '' : '; --from-history tries it on what agents ran before';
    return `\n${title}: no commands to try it on in ${from} (since ${sinceText})${more}.\n`;
  }
  const lines = [
    '',
    `${title}, tried on ${from} (since ${sinceText}):`,
    ...verdictLines(result),
    ...backtestSections(result, { rules: false }),
  ];
  return `${lines.join('\n')}\n`;
}

async function agreed(
  path: string,
  before: string | undefined,
  { yes }: PolicyInitFlags,
): Promise<boolean> {
  if (yes) return true;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    say(
      `Nothing was written. ${before === undefined ? 'Say --yes' : 'At a terminal you are asked'}.`,
    );
    process.exitCode = 2;
    return false;
  }
  const question = before === undefined ? 'Write' : 'Replace your own';
  const agrees = await askYes(`${question} ${shown(path)}?`, process.stderr);
  if (agrees) return true;
  say('Nothing was written.');
  process.exitCode = 1;
  return false;
}

/** A person who has it written trusts it. */
function tellWritten(project: string, path: string, text: string): void {
  const { env } = process;
  if (isPerson(env)) trustFile(project, env, path, text);
  else say('Where you have a policy of your own, this one waits for `cuff trust`.');
  say(`Wrote ${shown(path)}. Servers and hooks of this project follow it from now on.`);
  say('Next: cuff policy check COMMAND; cuff policy test .cuff/policy.yml');
}
