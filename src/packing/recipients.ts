// For whom captures and journals are encrypted: `encryption.recipients` in the user's own settings.
// A project can neither turn it off nor name others.
import { type Recipient, recipientOf } from '../age/recipients.ts';
import { AppError } from '../errors.ts';
import { asObject } from '../text/json.ts';
import { problemLines } from '../text/problems.ts';
import { plain, readYaml } from '../text/yaml.ts';
import type { Env } from '../types.ts';
import { type OwnSettings, ownSettingsWith } from './own-settings.ts';

/** None where nothing is to be encrypted. Throws `settings_invalid`: a mistake never means none. */
export function ownRecipients(cwd: string, env: Env): readonly Recipient[] {
  return encryptionSettings(cwd, env).recipients;
}

export const LIVE_WAYS = ['plain', 'memory'] as const;

export type EncryptionSettings = {
  readonly recipients: readonly Recipient[];
  /** Where a capture is before that. */
  readonly live: (typeof LIVE_WAYS)[number];
};

/** The same with what else they say. Throws `settings_invalid`. */
export function encryptionSettings(cwd: string, env: Env): EncryptionSettings {
  const [first] = ownSettingsWith('encryption', cwd, env);
  return first === undefined ? { recipients: [], live: 'plain' } : settingsIn(first, env);
}

function settingsIn({ path, text }: OwnSettings, env: Env): EncryptionSettings {
  const { root, problems } = readYaml(text, env);
  if (problems.length > 0) throw invalid(problemLines(path, problems));
  const said = asObject(asObject(root && plain(root))?.encryption ?? {});
  if (said === undefined) throw invalid(`${path}: encryption names no recipients`);
  const other = Object.keys(said).find((key) => key !== 'recipients' && key !== 'live');
  if (other !== undefined) throw invalid(`${path}: encryption.${other} is no key of the settings`);
  const live = LIVE_WAYS.find((way) => way === (said.live ?? 'plain'));
  if (live === undefined) throw invalid(`${path}: encryption.live is neither plain nor memory`);
  const listed = said.recipients ?? [];
  if (!Array.isArray(listed)) throw invalid(`${path}: encryption.recipients is no list`);
  const recipients = listed.map((one: unknown, place) => {
    const recipient = typeof one === 'string' ? recipientOf(one) : undefined;
    if (recipient !== undefined) return recipient;
    throw invalid(`${path}: encryption.recipients[${place}] is no recipient of age`);
  });
  return { recipients, live };
}

function invalid(message: string): AppError {
  return new AppError('settings_invalid', message, {
    hint: 'Recipients look like `age1...`; `cuff identity` shows yours.',
  });
}
