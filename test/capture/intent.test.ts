// What a capture says about the entry it is to become.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeMeta, encodeMeta } from '../../src/capture/format.ts';
import { decodeIntent } from '../../src/capture/intent.ts';
import type { JournalIntent } from '../../src/types.ts';
import { decisions } from '../journal/decisions.ts';
import { metaOf } from './helper.ts';

const words = fc.option(fc.string(), { nil: null });
const intents: fc.Arbitrary<JournalIntent> = fc.record({
  directory: fc.string(),
  sessionId: words,
  captureOutput: fc.boolean(),
  redact: fc.boolean(),
  outputBytesMax: fc.nat(),
  draft: fc.record({
    timestamp: fc.string(),
    command: fc.string(),
    description: words,
    working_directory: fc.string(),
    shell: fc.string(),
    timeout_seconds: fc.nat(),
    environment: fc.option(fc.dictionary(fc.stringMatching(/^[A-Z]{1,9}$/), fc.string()), {
      nil: null,
    }),
    agent_id: words,
    conversation_id: words,
    tool_call_id: words,
    opencuff_version: fc.string(),
    plugin_version: fc.string(),
    trace_id: words,
    context_source: fc.constantFrom('self-reported' as const, null),
    decision: decisions,
  }),
});

it('comes back from meta.json as it was written', () => {
  fc.assert(
    fc.property(intents, (journal) => {
      const text = encodeMeta(metaOf('one', { journal }), ['x']);
      expect(decodeMeta(text)?.journal).toEqual(journal);
    }),
  );
});

it('is left out when it is anything else, and the rest of meta.json stays', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(decodeIntent(value)).toBeUndefined();
      const text = encodeMeta(metaOf('one'), ['echo', 'hi']).replace(
        '"output_bytes_max"',
        () => `"journal":${JSON.stringify(value)},"output_bytes_max"`,
      );
      expect(decodeMeta(text)).toEqual({ ...metaOf('one'), argv: ['echo', 'hi'] });
    }),
  );
});
