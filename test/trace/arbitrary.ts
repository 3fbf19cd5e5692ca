// Any frame, for property tests.
import fc from 'fast-check';
import type { Frame, Who } from '../../src/trace/decode/format.ts';
import { HEADER } from './encode.ts';

const uint32 = fc.nat(0xffff_ffff);
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const atNs = fc.bigInt(0n, 2n ** 63n).map((at) => at + HEADER.offsetNs);

/** What fits between NULs and survives UTF-8. */
const text = fc.string({ unit: 'grapheme', maxLength: 20 }).map((one) => one.replaceAll('\0', ' '));
const name = text.map((one) => one.replaceAll('=', '-'));

const who = fc.record({ pid: uint32, space: uint32 });
const inner: fc.Arbitrary<Who | undefined> = fc.option(
  fc.record({ pid: fc.integer({ min: 1, max: 0xffff_ffff }), space: uint32 }),
  { nil: undefined },
);
const head = {
  source: fc.constantFrom('shim', 'runner', 'proc', 'ptrace'),
  atNs,
  who,
} as const;
const argv = {
  argv: fc.array(text, { maxLength: 6 }),
  args: uint32,
  cut: fc.boolean(),
  redacted: fc.boolean(),
  isStatic: fc.boolean(),
};

const count = fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { nil: undefined });
const usage = fc.record({ cpuNs: count, peakBytes: count });
const withUsage = <T extends object>(frame: T): fc.Arbitrary<T> =>
  fc.option(usage, { nil: undefined }).map((one) => (one ? { ...frame, usage: one } : frame));

const write = fc.record({
  atNs,
  tookNs: uint32,
  stream: fc.constantFrom('stdout', 'stderr', 'pty'),
  length: uint32,
  hash: fc.option(fc.bigInt(0n, 2n ** 64n - 1n), { nil: undefined }),
});

export const anyFrame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({
    type: fc.constant('start'),
    ...head,
    ...argv,
    parent: uint32,
    uid: uint32,
    startTicks: fc.maxSafeNat(),
    inner,
    exe: text,
    cwd: text,
    envCount: uint32,
    env: fc.dictionary(name, text, { maxKeys: 4, noNullPrototype: true }),
  }),
  fc.record({
    type: fc.constant('exec'),
    ...head,
    ...argv,
    spawned: fc.option(fc.integer({ min: 1, max: 0xffff_ffff }), { nil: undefined }),
    file: text,
  }),
  fc.record({
    type: fc.constant('execfail'),
    ...head,
    spawn: fc.boolean(),
    errno: int32,
    file: text,
  }),
  fc.record({
    type: fc.constant('fork'),
    ...head,
    parent: uint32,
    startTicks: fc.maxSafeNat(),
    inner,
  }),
  fc.record({ type: fc.constant('exit'), ...head, code: int32 }).chain(withUsage),
  fc
    .record({ type: fc.constant('reap'), ...head, child: uint32, status: int32 })
    .chain((frame) => (frame.child === 0 ? fc.constant(frame) : withUsage(frame))),
  fc.record({ type: fc.constant('write'), ...head, writes: fc.array(write, { maxLength: 9 }) }),
  fc.record({ type: fc.constant('drop'), ...head, frames: uint32, errno: int32 }),
);
