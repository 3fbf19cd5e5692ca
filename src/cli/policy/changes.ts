// `cuff policy changes`: lists the protected files that changed while commands ran in the sandbox,
// for which their projects are held, or lets those go on. It changes no file of a project.

import { acceptHeld, heldProjects } from '../../policies/accept.ts';
import { changesWords, type HeldRun } from '../../policies/changes.ts';
import { isoTime } from '../../text/dates.ts';
import { counted } from '../../text/plural.ts';
import { printable, shortLine } from '../../text/printable.ts';
import { askYes } from '../confirm.ts';
import { put, putJson, say } from '../output.ts';

const COMMAND_SHOWN_MAX = 100;

export type ChangesFlags = { readonly accept?: boolean; readonly json?: boolean };

export async function protectedChanges({ accept = false, json = false }: ChangesFlags) {
  const { env } = process;
  const held = heldProjects(env, accept ? 'accept' : 'list');
  if (!json) await put(held.length === 0 ? 'No project is held.\n' : `${shown(held)}\n`);
  const accepted = accept && held.length > 0 && (await confirmed());
  if (accepted) acceptHeld(env, held);
  if (json) return putJson(held.map((one) => ({ ...row(one), accepted })));
  if (accepted) return put('Accepted: commands may run again.\n');
  if (accept && held.length > 0) {
    say('cuff: nothing was accepted');
    process.exitCode = 1;
  }
  if (!accept && held.length > 0) {
    await put('\nLook at these files, then run: cuff policy changes --accept\n');
  }
}

async function confirmed(): Promise<boolean> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) return true;
  return askYes('Have you looked at them, and may commands run again?', stdout);
}

function shown(held: readonly HeldRun[]): string {
  return held
    .map(({ project, command, at, changes }) => {
      const ran = shortLine(command, COMMAND_SHOWN_MAX);
      const words = changesWords(changes, project).map((one) => `  ${printable(one)}`);
      const count = counted(changes.length, 'protected file');
      const head = `${printable(project)}: ${count} changed while \`${ran}\` ran, ${isoTime(at)}`;
      return [head, ...words].join('\n');
    })
    .join('\n\n');
}

function row({ id, project, command, at, changes }: HeldRun) {
  return { run_id: id, project, command, at: isoTime(at), changes: changesWords(changes, project) };
}
