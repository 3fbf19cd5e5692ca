// Where an entry comes from, as its line and the intent before it say: the keys `source`,
// `shell_text` and `wrapper`, each there only when it says something.

import type { Entry } from '../types.ts';
import { ENTRY_SOURCES } from '../types.ts';
import { asOneOf, asString } from './json.ts';

export type EntryOrigin = Pick<Entry, 'source' | 'shell_text' | 'wrapper'>;

/** Anything but what these keys may say is left out. */
export function originFields(from: { readonly [K in keyof EntryOrigin]: unknown }): EntryOrigin {
  const source = asOneOf(ENTRY_SOURCES, from.source);
  const text = asString(from.shell_text);
  return {
    ...(source !== undefined && { source }),
    ...(text !== undefined && { shell_text: text }),
    ...(from.wrapper === 'unknown' && { wrapper: 'unknown' }),
  };
}
