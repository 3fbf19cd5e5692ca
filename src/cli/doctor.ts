// `cuff doctor`: what this machine can do for a run. Exit 1 when something needed is missing.

import { unrecordedCommands } from '../hooks/shell/unrecorded.ts';
import { trustNotices } from '../policies/trust-notices.ts';
import { anchorState, failedAnchorTexts, lastAnchorText } from '../sealing/anchors/state.ts';
import { wantedAnchors } from '../sealing/anchors/wanted.ts';
import { type Check, capabilities } from '../shell/capabilities.ts';
import { storeOf } from '../shell/captures.ts';
import { traceChecks } from '../shell/trace-capabilities.ts';
import { uncapturedRuns } from '../shell/uncaptured.ts';
import { table } from '../text/table.ts';
import { paint, put, putJson, say } from './output.ts';
import { shellChecks } from './own-shell.ts';
import { uncapturedWords, unrecordedWords } from './uncaptured.ts';

const COLOURS = { ok: 'green', warn: 'yellow', bad: 'red' } as const;

type Options = { readonly json?: boolean; readonly agents?: boolean };

/** `--json`: {"ok","checks":[{"name","status","value","hint"}],"limits":[...]}. */
export async function doctor({ json = false, agents }: Options): Promise<void> {
  if (agents === true) return (await import('./doctor-agents.ts')).doctorAgents({ json });
  const { checks: own, limits } = await capabilities(process.env);
  const waiting = await trustNotices(process.cwd(), process.env);
  const uncaptured = uncapturedWords(uncapturedRuns(storeOf(process.env).root));
  const checks = [
    ...own,
    ...traceChecks(process.env),
    ...(await shellChecks(process.env)),
    ...unrecordedWords(unrecordedCommands(storeOf(process.env).root)).map(unrecordedCheck),
    ...waiting.map(waitingCheck),
    ...(await anchorChecks(storeOf(process.env).root)),
    ...uncaptured.map(uncapturedCheck),
  ];
  const bad = checks.filter(({ status }) => status === 'bad');
  if (bad.length > 0) process.exitCode = 1;
  if (json) {
    const shown = checks.map((check) => ({ ...check, hint: check.hint ?? null }));
    await putJson({ ok: bad.length === 0, checks: shown, limits });
    return;
  }
  await put(rows(checks));
  if (limits.length > 0) {
    await put('\nWithout the native runner:\n');
    for (const limit of limits) await put(`- ${limit}\n`);
  }
  if (bad.length > 0) say(`Missing: ${bad.map(({ name }) => name).join(', ')}.`);
}

/** Only where something waits, which before an upgrade may have counted without trust. */
function waitingCheck(value: string): Check {
  const hint = 'See it with `cuff trust --show`, and run `cuff trust` if it is yours.';
  return { name: 'project trust', status: 'warn', value, hint };
}

/** Only where there is a ledger. */
async function anchorChecks(stateRoot: string): Promise<Check[]> {
  const state = anchorState(stateRoot);
  if (state === undefined) return [];
  const { env } = process;
  const { targets, notices } = await wantedAnchors({ env, project: process.cwd() });
  const [name, last] = ['anchor', lastAnchorText(state, Date.now())];
  const troubles = [...failedAnchorTexts(state), ...notices];
  if (troubles.length > 0) {
    const value = [...troubles, ...(last === undefined ? [] : [`The last one: ${last}.`])].join(
      ' ',
    );
    return [{ name, status: 'warn', value, hint: 'Try it with `cuff seal`.' }];
  }
  if (last !== undefined) return [{ name, status: 'ok', value: last }];
  const value = targets.length > 0 ? 'not yet' : 'none: your account could rewrite the ledger';
  const hint = 'Name a place in `seal.anchor` of your settings, or try `cuff seal`.';
  return [{ name, status: 'warn', value, hint }];
}

function uncapturedCheck(value: string): Check {
  const hint = 'See the rows `state root` and `free disk`; --strict refuses such a run.';
  return { name: 'uncaptured run', status: 'warn', value, hint };
}

function unrecordedCheck(value: string): Check {
  const hint = 'An enforced policy of yours, or `recording.strict`, refuses such a command.';
  return { name: "agent's shell", status: 'warn', value, hint };
}

/** A hint has a row of its own, right below its check. */
function rows(checks: readonly Check[]): string {
  const lines = checks.flatMap(({ name, status, value, hint }) => [
    { status, cells: [name, status, value] },
    ...(hint === undefined ? [] : [{ status, cells: ['', '', `-> ${hint}`] }]),
  ]);
  const style = (text: string, row: number): string =>
    paint(COLOURS[lines[row]?.status ?? 'ok'], text);
  return table(
    [{ title: 'CHECK' }, { title: 'STATUS', style }, { title: 'FOUND' }],
    lines.map(({ cells }) => cells),
    { styleHead: (text) => paint('dim', text) },
  );
}
