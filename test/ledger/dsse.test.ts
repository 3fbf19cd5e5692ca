// Envelopes of DSSE v1.
import * as crypto from 'node:crypto';
import { expect, it } from 'vitest';
import { signEnvelope } from '../../src/ledger/dsse.ts';
import { signerKey } from '../../src/ledger/note-keys.ts';

const KEY = signerKey('cuff.local/abcdefghijklm', new Uint8Array(32).fill(7));

it('an envelope is signed over its type and its payload', () => {
  const envelope = signEnvelope('http://example.com/HelloWorld', 'hello world', KEY);
  expect(envelope).toEqual({
    payloadType: 'http://example.com/HelloWorld',
    payload: 'aGVsbG8gd29ybGQ=',
    signatures: [{ keyid: 'cuff.local/abcdefghijklm+3d36ee89', sig: expect.any(String) }],
  });
  // The example of the specification, written down here.
  const signed = Buffer.from('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
  const signature = Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64');
  expect(crypto.verify(null, signed, KEY.verifier.key, signature)).toBe(true);
  const other = signEnvelope('http://example.com/HelloWorl', 'dhello world', KEY);
  expect(other.signatures[0]?.sig).not.toBe(envelope.signatures[0]?.sig);
});

it('lengths are those of the bytes', () => {
  const [envelope] = [signEnvelope('t', 'ä', KEY)];
  const signature = Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64');
  const signed = Buffer.from('DSSEv1 1 t 2 ä');
  expect(crypto.verify(null, signed, KEY.verifier.key, signature)).toBe(true);
});
