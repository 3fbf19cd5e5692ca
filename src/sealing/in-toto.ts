// One entry as in-toto attestations, for those who verify those: statements about the entry's leaf,
// each in an envelope that the key of the ledger signed. What ran is a `link`, what was traced a
// `runtime-trace`. Unlike a proof they show the command, and nothing in them says when they were
// made: the subject, the SHA-256 of the leaf, is what ties them to the ledger.

import { sha256 } from '../ledger/commitments.ts';
import { type Envelope, signEnvelope } from '../ledger/dsse.ts';
import type { SignerKey } from '../ledger/note-keys.ts';
import { asString, asStrings, type JsonObject, parseObject } from '../text/json.ts';
import type { ProvenEntry } from './prove.ts';

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
const STATEMENT = 'https://in-toto.io/Statement/v1';
const LINK = 'https://in-toto.io/attestation/link/v0.3';
const TRACE = 'https://in-toto.io/attestation/runtime-trace/v0.1';

/** The link, and the trace of an entry that has one. `version` is that of cuff. */
export function attestations(
  entry: ProvenEntry,
  signer: SignerKey,
  version: string,
): readonly Envelope[] {
  const facts = parseObject(entry.parts.facts?.data ?? '') ?? {};
  const text = parseObject(entry.parts.text?.data ?? '') ?? {};
  const trace = traceOf(entry, { facts, text, version, origin: signer.verifier.name });
  const statements = [
    { predicateType: LINK, predicate: linkOf(entry, facts, text) },
    ...(trace === undefined ? [] : [{ predicateType: TRACE, predicate: trace }]),
  ];
  const subject = [{ name: entry.id, digest: { sha256: hexOf(entry.line) } }];
  return statements.map((statement) =>
    signEnvelope(PAYLOAD_TYPE, JSON.stringify({ _type: STATEMENT, subject, ...statement }), signer),
  );
}

function linkOf({ id, parts }: ProvenEntry, facts: JsonObject, text: JsonObject) {
  const { stdout, stderr } = parts;
  const shell = asString(facts.shell) ?? '';
  const command = asString(text.command) ?? '';
  return {
    name: id,
    command: shell === '' ? [command] : [shell, '-c', command],
    materials: [],
    byproducts: {
      'return-value': facts.exit_code ?? null,
      ...(stdout !== undefined && { stdout: { sha256: hexOf(stdout.data) } }),
      ...(stderr !== undefined && { stderr: { sha256: hexOf(stderr.data) } }),
      // The hashes are those of what the entry has, which is then not all that was printed.
      ...(facts.output_truncated === true && { 'output-truncated': true }),
    },
  };
}

type Traced = {
  readonly facts: JsonObject;
  readonly text: JsonObject;
  readonly version: string;
  readonly origin: string;
};

/** The monitor is named as a package URL, the machine by its ledger. */
function traceOf({ id }: ProvenEntry, { facts, text, version, origin }: Traced) {
  const processes = asStrings(text.process_list);
  if (processes === undefined) return undefined;
  const monitor = `pkg:npm/cuff@${version}`;
  const began = Date.parse(asString(facts.timestamp) ?? '');
  const took = typeof facts.duration_ms === 'number' ? facts.duration_ms : 0;
  return {
    monitor: { type: monitor },
    monitoredProcess: { hostID: `x-cuff-ledger:${origin}`, type: monitor, event: id },
    monitorLog: { process: processes.map((command) => ({ command })) },
    metadata: { buildStartedOn: moment(began), buildFinishedOn: moment(began + took) },
  };
}

function moment(at: number): string | null {
  return Number.isFinite(at) ? new Date(at).toISOString() : null;
}

function hexOf(text: string): string {
  return sha256(Buffer.from(text)).toString('hex');
}
