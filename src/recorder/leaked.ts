// Which secrets a command has printed: names of variables whose values are in its output. Looked at
// are the bytes that its entry is made of and, of a longer output, a megabyte at its end, which is
// what an agent is shown. `cuff record leaks` looks at all of it.

import { OutputReader } from '../shell/output/reader.ts';
import { secretVariables } from '../text/redact.ts';
import { KnownValues, knownValues } from '../text/secrets/known-values.ts';
import type { Env } from '../types.ts';
import type { Terms } from './admission.ts';
import type { RunOutput, Streams } from './ending.ts';

const END_BYTES = 1024 * 1024;

/** `env`: what this command alone was given. */
export function leakedBy(terms: Terms, env: Env | undefined, output: RunOutput): readonly string[] {
  const { heads, capture } = output;
  if (!terms.recording.leakWarning || heads.stdout.total + heads.stderr.total === 0) return [];
  const all = [heads, ...(capture === undefined ? [] : endsOf(capture, heads))];
  return namesIn(all, [terms.known(), ownValues(terms, env)]);
}

/** The same for output that a client tells. */
export function leakedIn(terms: Terms, output: Uint8Array): readonly string[] {
  if (!terms.recording.leakWarning) return [];
  const stdout = { bytes: output, total: output.length };
  return namesIn([{ stdout, stderr: { bytes: new Uint8Array(), total: 0 } }], [terms.known()]);
}

function namesIn(all: readonly Streams[], known: readonly KnownValues[]): readonly string[] {
  const names = all.flatMap(({ stdout, stderr }) =>
    [stdout, stderr].flatMap(({ bytes }) => {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
      return known.flatMap((values) => values.names(text));
    }),
  );
  return [...new Set(names)].sort();
}

/** Values that only this command has; nearly all have none. */
function ownValues({ overrides }: Terms, env: Env | undefined): KnownValues {
  if (env === undefined || env === overrides) return NONE;
  const own = secretVariables(env).filter(({ name, value }) => overrides?.[name] !== value);
  return own.length === 0 ? NONE : knownValues(env);
}

const NONE = new KnownValues([]);

type Opened = NonNullable<RunOutput['capture']>;

/** What is behind the heads, as far as it is looked at. */
function endsOf(capture: Opened, { stdout, stderr }: Streams): readonly Streams[] {
  const rest = [stdout, stderr].some(({ bytes, total }) => bytes.length < total);
  if (!rest) return [];
  const from = ({ bytes, total }: Streams['stdout']): number =>
    Math.max(bytes.length, total - END_BYTES);
  try {
    const reader = OutputReader.of(capture);
    return [reader.heads(END_BYTES, { stdout: from(stdout), stderr: from(stderr) })];
  } catch {
    return []; // swept meanwhile: then the entry is all there is
  }
}
