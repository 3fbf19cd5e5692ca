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
  const [first] = ownSettingsWith('encryption', cwd, env);
  return first === undefined ? [] : recipientsIn(first, env);
}

function recipientsIn({ path, text }: OwnSettings, env: Env): readonly Recipient[] {
  const { root, problems } = readYaml(text, env);
  if (problems.length > 0) throw invalid(problemLines(path, problems));
  const said = asObject(asObject(root && plain(root))?.encryption ?? {});
  if (said === undefined) throw invalid(`${path}: encryption names no recipients`);
  const other = Object.keys(said).find((key) => key !== 'recipients');
  if (other !== undefined) throw invalid(`${path}: encryption.${other} is no key of the settings`);
  const listed = said.recipients ?? [];
  if (!Array.isArray(listed)) throw invalid(`${path}: encryption.recipients is no list`);
  return listed.map((one: unknown, place) => {
    const recipient = typeof one === 'string' ? recipientOf(one) : undefined;
    if (recipient !== undefined) return recipient;
    throw invalid(`${path}: encryption.recipients[${place}] is no recipient of age`);
  });
}

function invalid(message: string): AppError {
  return new AppError('settings_invalid', message, {
    hint: 'Recipients look like `age1...`; `cuff identity` shows yours.',
  });
}
