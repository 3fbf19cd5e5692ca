// The words of an encrypted capture: what its command was, and those of the processes that it left
// behind. meta.json and final.json keep what listing, sweeping and sealing need, with
// `"encrypted":true` and without a word; what they were, byte for byte, is in meta.json.age and
// final.json.age.
import { isAppError } from '../errors.ts';
import { asObject, type JsonObject, parseObject } from '../text/json.ts';
import { type Decrypt, decryptedIn } from './open-source.ts';
import * as paths from './paths.ts';

const META_FACTS = [
  ...['schema_version', 'session_id', 'working_directory', 'created_at', 'retention_seconds'],
  ...['transport_mode', 'transport', 'tty_attached', 'starter_pid', 'starter_start'],
  ...['kill_after_ms', 'output_bytes_max', 'trace', 'owner', 'source', 'runner_pid'],
  ...['runner_start', 'pid', 'pid_start', 'started_at'],
];
const JOURNAL_FACTS = ['directory', 'session_id', 'capture_output', 'output_bytes_max', 'redact'];
const ENTRY_FACTS = [
  ...['timestamp', 'working_directory', 'timeout_seconds', 'agent_id', 'conversation_id'],
  ...['tool_call_id', 'opencuff_version', 'plugin_version', 'trace_id', 'context_source'],
];
const FINAL_FACTS = [
  ...['schema_version', 'session_id', 'state', 'exit_code', 'signal', 'error', 'ended_by'],
  ...['ended_at', 'output_bytes', 'lost_bytes', 'output_closed', 'hole'],
];

export function wordsAreHidden(dir: string): boolean {
  const meta = paths.readTextIn(dir, 'meta.json');
  return meta === undefined || parseObject(meta)?.encrypted === true;
}

/** `keep` puts a text away for those who may read it; it is on the disk when that returns. */
export function hideWords(
  dir: string,
  keep: (name: string, text: string) => void,
  io: paths.FileOps,
): void {
  for (const name of ['final.json', 'meta.json'] as const) {
    const text = paths.readTextIn(dir, name);
    if (text === undefined || parseObject(text)?.encrypted === true) continue;
    hideText(dir, name, text, keep, io);
  }
}

/** The same of one of them, whose text is to be this. */
export function hideText(
  dir: string,
  name: 'meta.json' | 'final.json',
  text: string,
  keep: (name: string, text: string) => void,
  io: paths.FileOps,
): void {
  // One that is damaged has no words that could be told from its facts; it is hidden as a whole.
  const json = parseObject(text) ?? {};
  keep(name, text);
  const facts = name === 'meta.json' ? metaWithoutWords(json) : finalWithoutWords(json);
  paths.replaceIn(dir, name, facts, { sync: true, io });
}

/** meta.json of a run whose words are kept in memory, for the disk. */
export function metaInMemory(text: string): string {
  return metaWithoutWords(parseObject(text) ?? {}, { command: GONE, more: { in_memory: true } });
}

/**
 * meta.json or final.json with its words, for readers that can decrypt it; for others as it lies
 * there. Undefined where there is none.
 */
export function textWithWords(dir: string, name: string, decrypt?: Decrypt): string | undefined {
  try {
    const whole = decrypt && wholeText(dir, name, decrypt);
    if (whole !== undefined) return whole;
  } catch (error) {
    // Not for us, or damaged: what else is known of the run counts.
    if (!isAppError(error) || error.code === 'path_unsafe') throw error;
  }
  return paths.readTextIn(dir, name);
}

/** The same, as it was before. Throws `decryption_failed` and `capture_damaged`. */
export function wholeText(dir: string, name: string, decrypt?: Decrypt): string | undefined {
  const there = paths.readTextIn(dir, name);
  if (there === undefined || parseObject(there)?.encrypted !== true) return there;
  const source = decryptedIn(dir, name, decrypt);
  try {
    return source && Buffer.from(source.read(0, source.size)).toString('utf8');
  } finally {
    source?.close();
  }
}

/** Stands in the entry of a run whose words were lost. */
const GONE = '(was in memory)';

type Stub = { readonly command?: string; readonly more?: JsonObject };

function metaWithoutWords(json: JsonObject, { command = '', more = {} }: Stub = {}): string {
  const journal = asObject(json.journal);
  const entry = { command, shell: '', ...only(asObject(journal?.entry) ?? {}, ENTRY_FACTS) };
  const facts = only(json, META_FACTS);
  const intent = journal && { journal: { ...only(journal, JOURNAL_FACTS), entry } };
  return `${JSON.stringify({ ...facts, command: [], ...intent, encrypted: true, ...more })}\n`;
}

/** The salt stays at the end: see `final-salt.ts`. */
function finalWithoutWords(json: JsonObject): string {
  const salt = json.salt === undefined ? {} : { salt: json.salt };
  const facts = { ...only(json, FINAL_FACTS), message: null, survivors: [], encrypted: true };
  return `${JSON.stringify({ ...facts, ...salt })}\n`;
}

function only(json: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.filter((key) => key in json).map((key) => [key, json[key]]));
}
