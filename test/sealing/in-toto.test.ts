// The in-toto attestations of an entry, to the byte: others read them.
import { expect, it } from 'vitest';
import type { LeafOf } from '../../src/ledger/leaf.ts';
import { signerKey } from '../../src/ledger/note-keys.ts';
import { attestations } from '../../src/sealing/in-toto.ts';
import type { ProvenEntry } from '../../src/sealing/prove.ts';

const KEY = signerKey('cuff.local/abcdefghijklm', new Uint8Array(32).fill(7));

function entryOf(text: object): ProvenEntry {
  const part = (data: string) => ({ salt: '', data });
  return {
    id: 'e_20260118_143052_003-e4f5',
    leaf: {} as LeafOf<'entry'>,
    line: 'cuff/1 entry ...\n',
    proof: '',
    parts: {
      facts: part(
        JSON.stringify({
          timestamp: '2026-01-18T14:30:52.123000Z',
          duration_ms: 1500,
          shell: '/bin/bash',
          exit_code: 3,
        }),
      ),
      text: part(JSON.stringify(text)),
      stdout: part('hello\n'),
    },
    redacted: {},
  };
}

function statements(entry: ProvenEntry): unknown[] {
  return attestations(entry, KEY, '0.1.0').map(({ payloadType, payload }) => {
    expect(payloadType).toBe('application/vnd.in-toto+json');
    return JSON.parse(Buffer.from(payload, 'base64').toString());
  });
}

const SUBJECT = [
  {
    name: 'e_20260118_143052_003-e4f5',
    // printf 'cuff/1 entry ...\n' | sha256sum
    digest: { sha256: '75fab1b37a99c82476226b3c88d644abea5e335c4ed98a6eb295b14d8ba1b6f6' },
  },
];

const LINK = {
  _type: 'https://in-toto.io/Statement/v1',
  subject: SUBJECT,
  predicateType: 'https://in-toto.io/attestation/link/v0.3',
  predicate: {
    name: 'e_20260118_143052_003-e4f5',
    command: ['/bin/bash', '-c', 'npm test'],
    materials: [],
    byproducts: {
      'return-value': 3,
      // printf 'hello\n' | sha256sum
      stdout: { sha256: '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03' },
    },
  },
};

it('a link says what ran, how it ended and what its output hashes to', () => {
  expect(statements(entryOf({ command: 'npm test', process_list: null }))).toEqual([LINK]);
});

it('a link says that the output was cut, whose hash is that of the rest', () => {
  const entry = entryOf({ command: 'npm test', process_list: null });
  const facts = { salt: '', data: '{"exit_code":0,"output_truncated":true}' };
  const [cut] = statements({ ...entry, parts: { ...entry.parts, facts } });
  expect(cut).toMatchObject({ predicate: { byproducts: { 'output-truncated': true } } });
});

it('a traced entry has its processes, too', () => {
  const processes = ['npm test', 'node index.js'];
  expect(statements(entryOf({ command: 'npm test', process_list: processes }))).toEqual([
    LINK,
    {
      _type: 'https://in-toto.io/Statement/v1',
      subject: SUBJECT,
      predicateType: 'https://in-toto.io/attestation/runtime-trace/v0.1',
      predicate: {
        monitor: { type: 'pkg:npm/cuff@0.1.0' },
        monitoredProcess: {
          hostID: 'x-cuff-ledger:cuff.local/abcdefghijklm',
          type: 'pkg:npm/cuff@0.1.0',
          event: 'e_20260118_143052_003-e4f5',
        },
        monitorLog: { process: [{ command: 'npm test' }, { command: 'node index.js' }] },
        metadata: {
          buildStartedOn: '2026-01-18T14:30:52.123Z',
          buildFinishedOn: '2026-01-18T14:30:53.623Z',
        },
      },
    },
  ]);
});
