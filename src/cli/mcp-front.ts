// `cuff mcp` before the server is loaded: reads the files that decide which tools there are, and
// answers for the server. Loads as little as it can, because a client waits for it.

import * as fs from 'node:fs';
import { Front, type HandOver } from '../mcp/front.ts';
import {
  type ReadyArguments,
  type ReadyKey,
  readyAnswers,
  readyKey,
  type ShippedAnswers,
} from '../mcp/ready.ts';
import { nameAndValue } from './name-and-value.ts';

export type ReadyFront = {
  /** Resolves when the server may be loaded. */
  readonly settled: Promise<void>;
  /** Names the content of the files that decided the answers. */
  readonly key: ReadyKey;
  /** The key of the files as they are now. */
  keyNow(): Promise<ReadyKey>;
  handOver(): HandOver;
};

/** Options with a value that does not change the tools. */
const ASIDE = ['--metrics-port', '--ask-timeout'];
/** Flags that may change the tools. */
const FLAGS = ['--trust'];

/** Undefined when the server has to answer by itself. */
export async function openFront(args: readonly string[]): Promise<ReadyFront | undefined> {
  const given = argumentsOf(args);
  const shipped = given && readShipped();
  if (given === undefined || shipped === undefined || !isPipe()) return undefined;
  const keyNow = (): Promise<ReadyKey> => readyKey(given, shipped.build, process.cwd());
  const key = await keyNow();
  const answers = readyAnswers(key, shipped, given, process.cwd());
  const front = new Front({ shipped, answers, input: process.stdin, write: put });
  return { key, keyNow, settled: front.settled, handOver: () => front.handOver() };
}

/** Undefined for arguments that the server may refuse. */
function argumentsOf(args: readonly string[]): ReadyArguments | undefined {
  const values = new Map<string, string>();
  const others: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const [name, joined] = nameAndValue(args[at] ?? '');
    if (FLAGS.includes(name) && joined === undefined) others.push(name);
    else {
      const value = joined ?? args[++at];
      const known = ['--dialect', '--settings', ...ASIDE].includes(name);
      if (!known || value === undefined || values.has(name)) return undefined;
      values.set(name, value);
    }
  }
  return { dialect: values.get('--dialect'), settings: values.get('--settings'), others };
}

function readShipped(): ShippedAnswers | undefined {
  try {
    const text = fs.readFileSync(new URL('./mcp-ready.json', import.meta.url), 'utf8');
    return JSON.parse(text) as ShippedAnswers;
  } catch {
    return undefined; // not built: the server answers when it is loaded
  }
}

/** A person at a terminal is told what to do, by the server. */
function isPipe(): boolean {
  try {
    return !fs.fstatSync(0).isCharacterDevice();
  } catch {
    return false; // closed
  }
}

/** Node's stream for stdout takes longer to make than the answer. */
function put(line: string): void {
  const bytes = Buffer.from(line);
  let done = 0;
  try {
    while (done < bytes.length) done += fs.writeSync(1, bytes, done);
  } catch {
    // A full pipe that does not block; or a client that left, which the stream will say.
    process.stdout.write(bytes.subarray(done));
  }
}
