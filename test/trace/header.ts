// The header of a trace.bin as a runner would write it for processes of this machine, with which
// the shim is driven directly, without a runner.
import { readlinkSync, statSync } from 'node:fs';
import { encodeHeader, HEADER } from './encode.ts';

export type HeaderOptions = {
  readonly envNames?: readonly string[];
  readonly fileMax?: number;
  readonly argvMax?: number;
  readonly argsMax?: number;
  readonly follows?: boolean;
  /** Not the namespace of this process. */
  readonly pidNamespace?: number;
  /** 0: the shim has to look its namespace up. */
  readonly procDevice?: number;
};

export function makeHeader(options: HeaderOptions = {}): Buffer {
  const now = BigInt(Date.now()) * 1_000_000n;
  const bytes = encodeHeader({
    ...HEADER,
    mode: 'socket',
    startedNs: now,
    offsetNs: now - process.hrtime.bigint(),
    runnerPid: process.pid,
    follows: options.follows ?? false,
    pidNamespace: options.pidNamespace ?? ownPidNamespace(),
    envNames: options.envNames ?? ['HOME'],
  });
  bytes.writeBigUInt64LE(BigInt(options.fileMax ?? 64 << 20), 40);
  bytes.writeUInt32LE(options.argvMax ?? 16 << 10, 48);
  bytes.writeUInt32LE(options.argsMax ?? 1024, 52);
  bytes.writeUInt32LE(options.procDevice ?? statSync('/proc').dev, 100);
  return bytes;
}

function ownPidNamespace(): number {
  return Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]);
}
