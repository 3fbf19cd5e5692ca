// `cuff policy approvals` and `cuff policy revoke`: what a person has approved besides rules, and
// taking it back.

import { AppError } from '../../errors.ts';
import { type Grant, grantsOf, revoke } from '../../policies/approve.ts';
import { isoTime } from '../../text/dates.ts';
import { printable } from '../../text/printable.ts';
import { put, putJson } from '../output.ts';

export async function listGrants({ json }: { readonly json?: boolean }): Promise<void> {
  const grants = grantsOf(process.env);
  if (json === true) return putJson(grants.map(row));
  if (grants.length === 0) return put('Nothing is approved but by rules.\n');
  await put(`${grants.map(shown).join('\n\n')}\n`);
}

export async function revokeGrants(
  ids: readonly string[],
  { all }: { readonly all?: boolean },
): Promise<void> {
  const { env } = process;
  if ((ids.length === 0) === (all !== true)) {
    throw new AppError('usage', 'It takes ids, or --all.', {
      hint: 'List them with `cuff policy approvals`.',
    });
  }
  const named = all === true ? grantsOf(env).map(({ id }) => id) : ids;
  revoke(named, env);
  await put(named.length === 0 ? 'Nothing was approved.\n' : `Revoked ${named.join(', ')}.\n`);
}

const SPANS = {
  once: 'once, within a day',
  hour: 'for an hour',
  conversation: 'for one conversation',
} as const;

function shown({ id, span, command, cwd, beside, at }: Grant): string {
  const since = `${SPANS[span]}, since ${isoTime(at)}`;
  const parts = [command, `in ${cwd.replaceAll('\n', '\\n')}`, ...beside, since];
  return `${id}  ${parts.flatMap((part) => part.split('\n').map(printable)).join('\n  ')}`;
}

function row({ id, span, command, beside, cwd, project, conversation, agent, at }: Grant) {
  const who = { conversation: conversation ?? null, agent: agent ?? null };
  return { id, span, command, beside, cwd, project, ...who, approved_at: isoTime(at) };
}
