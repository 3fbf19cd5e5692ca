// Frames as a C compiler lays them out from native/trace.h, byte for byte, with what they mean.
// They change only with the version of the format.
import type { Frame } from '../../../src/trace/decode/format.ts';

type Vector = { readonly hex: string; readonly frame: Frame };

/** Microseconds behind the header's moment. */
const at = (us: number): bigint => 1_794_816_005_000_000_000n + BigInt(us) * 1000n;

/** Its first bytes; the rest of the page is zero. What it means is `HEADER` of the encoder. */
export const HEADER_HEX =
  '4355464654524331010000000010000000f235afa577e81800f2052a010000000200000004100000000000040000' +
  '000000400000000400000d000000000000004d000000000000000d000000000000004e0000000000000000000000' +
  'fcffffef020000000000000032303236313131362d3038303030302d316132623363346400000000000000000000' +
  '00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000' +
  '00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000' +
  '00005041544800484f4d45';

export const VECTORS: Readonly<Record<Frame['type'], Vector>> = {
  start: {
    hex:
      '4346465201000c00880000009484c2eaa078072a01000000061000000000000005100000e803000006120f00' +
      '0000000002000000a00000f0030000000e000000020000000900000001000000000000002f7573722f62696e' +
      '2f656e76002f746d702fc3a400656e76005b4150495f4b45595d00504154483d2f62696e3a2f7573722f6269' +
      '6e000000',
    frame: {
      type: 'start',
      source: 'shim',
      atNs: at(100),
      who: { pid: 4102, space: 0 },
      parent: 4101,
      uid: 1000,
      startTicks: 987654,
      inner: { pid: 2, space: 4_026_532_000 },
      args: 3,
      argv: ['env', '[API_KEY]'],
      cut: true,
      redacted: true,
      isStatic: false,
      exe: '/usr/bin/env',
      cwd: '/tmp/ä',
      envCount: 9,
      env: { PATH: '/bin:/usr/bin' },
    },
  },
  exec: {
    hex:
      '4346465202001000400000007664bcd640ff082a010000000610000000000000071000000200000008000000' +
      '020000002f6f70742f726700726700776f726400',
    frame: {
      type: 'exec',
      source: 'shim',
      atNs: at(200),
      who: { pid: 4102, space: 0 },
      spawned: 4103,
      args: 2,
      file: '/opt/rg',
      argv: ['rg', 'word'],
      cut: false,
      redacted: false,
      isStatic: true,
    },
  },
  execfail: {
    hex:
      '434646520300000038000000e0e5e65ce0850a2a01000000061000000000000001000000020000002f6e6f2f' +
      '737563680000000000000000',
    frame: {
      type: 'execfail',
      source: 'shim',
      atNs: at(300),
      who: { pid: 4102, space: 0 },
      spawn: true,
      errno: 2,
      file: '/no/such',
    },
  },
  fork: {
    hex:
      '43464652040000003800000017f22e46800c0c2a0100000008100000a00000f007120f000000000006100000' +
      '000000000000000000000000',
    frame: {
      type: 'fork',
      source: 'shim',
      atNs: at(400),
      who: { pid: 4104, space: 4_026_532_000 },
      parent: 4102,
      startTicks: 987655,
      inner: undefined,
    },
  },
  exit: {
    hex: '43464652050000002800000035078d1820930d2a0100000008100000000000000300000000000000',
    frame: { type: 'exit', source: 'shim', atNs: at(500), who: { pid: 4104, space: 0 }, code: 3 },
  },
  reap: {
    hex: '4346465206000100280000005d5edad4c0190f2a010000000410000000000000061000008b000000',
    frame: {
      type: 'reap',
      source: 'runner',
      atNs: at(600),
      who: { pid: 4100, space: 0 },
      child: 4102,
      status: 0x8b,
    },
  },
  write: {
    hex:
      '434646520700000080000000b0c5e7b860a0102a01000000061000000000000010dd0f2a01000000b0040000' +
      '010000000600000000000000efcdab90785634122004102a01000000ffffffff020000000100000000000000' +
      '8cec01864cdc63af302b102a01000000630000000300008070110100000000000000000000000000',
    frame: {
      type: 'write',
      source: 'shim',
      atNs: at(700),
      who: { pid: 4102, space: 0 },
      writes: [
        { atNs: at(650), tookNs: 1200, stream: 'stdout', length: 6, hash: 0x1234567890abcdefn },
        {
          atNs: at(660),
          tookNs: 4_294_967_295,
          stream: 'stderr',
          length: 1,
          hash: 0xaf63dc4c8601ec8cn,
        },
        { atNs: at(670), tookNs: 99, stream: 'pty', length: 70_000, hash: undefined },
      ],
    },
  },
  drop: {
    hex: '434646520800030028000000e0c1f96e0027122a010000000610000000000000110000001c000000',
    frame: {
      type: 'drop',
      source: 'ptrace',
      atNs: at(800),
      who: { pid: 4102, space: 0 },
      frames: 17,
      errno: 28,
    },
  },
};

/** What was added behind the frames of the first version, which older readers pass over. */
export const USAGE_VECTORS: readonly Vector[] = [
  {
    hex:
      '43464652050000004000000043bbd56620930d2a010000000810000000000000030000000000000060e31600' +
      '0000000090d00300000000000090c90100000000',
    frame: {
      type: 'exit',
      source: 'shim',
      atNs: at(500),
      who: { pid: 4104, space: 0 },
      code: 3,
      usage: { cpuNs: 1_750_000, peakBytes: 29_986_816 },
    },
  },
  {
    hex:
      '4346465206000100400000007572c740c0190f2a010000000410000000000000061000000900000000000000' +
      '00000000f03ac000000000000000000000000000',
    frame: {
      type: 'reap',
      source: 'runner',
      atNs: at(600),
      who: { pid: 4100, space: 0 },
      child: 4102,
      status: 9,
      usage: { cpuNs: 12_598_000, peakBytes: undefined },
    },
  },
  {
    hex:
      '4346465201000000600000005d475016a078072a01000000061000000000000005100000e803000000000000' +
      '0000000000000000000000000100000003000000010000000200000000000000f00500002f62696e2f696400' +
      '2f00696400000000',
    frame: {
      type: 'start',
      source: 'shim',
      atNs: at(100),
      who: { pid: 4102, space: 0 },
      parent: 4101,
      uid: 1000,
      startTicks: 0,
      inner: undefined,
      args: 1,
      argv: ['id'],
      cut: false,
      redacted: false,
      isStatic: false,
      exe: '/bin/id',
      cwd: '/',
      envCount: 2,
      env: {},
      peakBefore: 1520 * 1024,
    },
  },
];
