import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  CastDecoder,
  CastEncoder,
  type CastVersion,
  decodeCastHeader,
  isCastFiller,
} from '../../src/text/asciicast.ts';

const HEADER = {
  width: 100,
  height: 30,
  startedAt: 1_768_746_652_000,
  command: 'npm test',
  title: 'a run',
  idleSecondsMax: 2,
};

it('writes version 2: times from the start', () => {
  const cast = new CastEncoder(2);
  expect(cast.header(HEADER)).toBe(
    '{"version":2,"width":100,"height":30,"timestamp":1768746652,"idle_time_limit":2,' +
      '"command":"npm test","title":"a run"}\n',
  );
  expect(cast.event({ atMs: 250, code: 'o', data: 'a\r\n\x1b[1m' })).toBe(
    '[0.25,"o","a\\r\\n\\u001b[1m"]\n',
  );
  expect(cast.event({ atMs: 1250, code: 'r', data: '80x24' })).toBe('[1.25,"r","80x24"]\n');
  expect(cast.event({ atMs: 1300, code: 'x', data: '0' })).toBe('');
});

it('writes version 3: times from the event before, and the exit status', () => {
  const cast = new CastEncoder(3);
  expect(cast.header(HEADER)).toBe(
    '{"version":3,"term":{"cols":100,"rows":30},"timestamp":1768746652,"idle_time_limit":2,' +
      '"command":"npm test","title":"a run"}\n',
  );
  expect(cast.event({ atMs: 250, code: 'o', data: 'a' })).toBe('[0.25,"o","a"]\n');
  expect(cast.event({ atMs: 1250, code: 'm', data: 'b' })).toBe('[1,"m","b"]\n');
  expect(cast.event({ atMs: 1300, code: 'x', data: '7' })).toBe('[0.05,"x","7"]\n');
});

it('never goes back in time', () => {
  const cast = new CastEncoder(2);
  cast.event({ atMs: 500, code: 'o', data: 'late' });
  expect(cast.event({ atMs: 100, code: 'o', data: 'early' })).toBe('[0.5,"o","early"]\n');
});

it('reads back what it wrote, in both versions', () => {
  const event = fc.record({ atMs: fc.nat(10_000_000), data: fc.string({ unit: 'grapheme' }) });
  fc.assert(
    fc.property(fc.array(event), fc.constantFrom<CastVersion>(2, 3), (events, version) => {
      const sorted = events
        .map((one) => ({ ...one, code: 'o' as const }))
        .sort((a, b) => a.atMs - b.atMs);
      const encoder = new CastEncoder(version);
      const decoder = new CastDecoder(version);
      const read = sorted.map((one) => decoder.event(encoder.event(one)));
      expect(read.map((one) => one && { ...one, atMs: Math.round(one.atMs) })).toEqual(sorted);
    }),
  );
});

it('knows a header, and what is none', () => {
  for (const version of [2, 3] as const) {
    const { idleSecondsMax: _, ...known } = HEADER;
    expect(decodeCastHeader(new CastEncoder(version).header(HEADER))).toEqual({
      version,
      ...known,
    });
  }
  const none = ['', '{}', '[]', '{"version":1}', '{"version":2}', '{"version":3,"term":{}}'];
  for (const text of [...none, '{"command":"ls"}', '{"version":2,"width":"80","height":24}']) {
    expect([text, decodeCastHeader(text)]).toEqual([text, undefined]);
  }
});

it('knows an event, and what is none', () => {
  const decoder = new CastDecoder(2);
  const none = ['', '{}', '[]', '[1]', '[1,"o"]', '[-1,"o","a"]', '["1","o","a"]', '[1,"o",2]'];
  for (const text of none) expect([text, decoder.event(text)]).toEqual([text, undefined]);
  expect(decoder.event('[1,"z","later versions"]')).toEqual({
    atMs: 1000,
    code: 'z',
    data: 'later versions',
  });
  expect([
    isCastFiller('# comment', 3),
    isCastFiller('# comment', 2),
    isCastFiller(' ', 2),
  ]).toEqual([true, false, true]);
});
