// A verification of a record that others write at the same time: what was read first and what was
// read last may not belong together, as where a session was deleted, with its leaf, in between. So
// a wrong counts only where the ledger did not grow meanwhile, or where every look finds it.
import * as fs from 'node:fs';
import { sealFile } from '../place.ts';
import { type Finding, isWrong } from './findings.ts';
import { type GatherOptions, gatherEvidence } from './gather.ts';
import { type Verification, verifyEvidence } from './verify.ts';

const LOOKS_MAX = 5;

export function verifyRecord(options: GatherOptions): Verification {
  let [found, grown] = look(options);
  for (let looks = 1; !found.intact && grown && looks < LOOKS_MAX; looks += 1) {
    const before = new Set(found.findings.filter(isWrong).map(nameOf));
    [found, grown] = look(options);
    const findings = found.findings.filter((one) => !isWrong(one) || before.has(nameOf(one)));
    found = { ...found, findings, intact: !findings.some(isWrong) };
  }
  return found;
}

/** And whether the ledger has grown since it was read. */
function look(options: GatherOptions): [Verification, boolean] {
  const evidence = gatherEvidence(options);
  const found = verifyEvidence(evidence);
  const leaves = sealFile(options.store.root, 'leaves');
  const size = fs.statSync(leaves, { throwIfNoEntry: false })?.size ?? 0;
  return [found, size !== evidence.ledger.leaves.length];
}

/** The same finding has it at every look. */
function nameOf({ verdict, journal, session, sequence, run, part }: Finding): string {
  return JSON.stringify([verdict, journal, session, sequence, run, part]);
}
