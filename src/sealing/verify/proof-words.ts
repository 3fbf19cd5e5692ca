// What a proof shows, in sentences: how far it reaches and what it leaves open.
import { formatVerifierKey } from '../../ledger/note-keys.ts';
import { asString, parseObject } from '../../text/json.ts';
import { counted } from '../../text/plural.ts';
import { printable } from '../../text/printable.ts';
import type { ProofCheck, ShownPart } from './proof.ts';

const ORIGINS = {
  live: 'recorded as it ended',
  late: 'sealed late, after a crash',
  spool: 'recorded in a sandbox, sealed later',
  import: 'imported',
} as const;

/** Lines without their ends. */
export function proofWords(check: ProofCheck): readonly string[] {
  const { leaf, index, checkpoint, inTree, signedBy, parts } = check;
  const [{ size }, log] = [checkpoint, printable(checkpoint.origin)];
  const command = commandOf(parts);
  return [
    `entry ${leaf.sequence} of session ${leaf.session}, ` +
      `${new Date(leaf.at).toISOString()}, ${ORIGINS[leaf.origin]}`,
    ...(command === undefined ? [] : [`  command: ${command}`]),
    inTree
      ? `  it is line ${index + 1} of the ${counted(size, 'line')} of the ledger ${log}`
      : `  WRONG: the ledger ${log} has no such line at place ${index + 1}`,
    signedBy === undefined
      ? '  WRONG: no key that was given signed the checkpoint'
      : `  signed with ${printable(formatVerifierKey(signedBy))}`,
    ...partWords(parts),
    witnessWords(check),
  ];
}

function commandOf(parts: readonly ShownPart[]): string | undefined {
  const text = parts.find(({ part, state }) => part === 'text' && state === 'as_sealed');
  const command = asString(parseObject(text?.data ?? '')?.command);
  return command === undefined ? undefined : printable(command).slice(0, 200);
}

const PART_STATES: readonly (readonly [ShownPart['state'], string])[] = [
  ['as_sealed', 'shown, and as sealed'],
  ['not_shown', 'sealed, not shown'],
  ['nothing', 'there was nothing'],
];

function partWords(parts: readonly ShownPart[]): string[] {
  const names = (wanted: ShownPart['state']): string =>
    parts
      .filter(({ state }) => state === wanted)
      .map(({ part }) => part)
      .join(', ');
  const changed = names('changed');
  return [
    ...PART_STATES.filter(([state]) => names(state) !== '').map(
      ([state, words]) => `  ${names(state)}: ${words}`,
    ),
    ...(changed === '' ? [] : [`  WRONG: ${changed}: shown, and not what was sealed`]),
  ];
}

function witnessWords({ witnesses }: ProofCheck): string {
  if (witnesses === undefined) {
    return '  no witness is asked for: the holder of the key could have made this later';
  }
  const { met, cosigned } = witnesses;
  const seen = cosigned.length === 0 ? 'no witness' : printable(cosigned.join(', '));
  return met
    ? `  seen by ${seen}, as the policy wants`
    : `  WRONG: seen by ${seen}; the policy wants more`;
}
