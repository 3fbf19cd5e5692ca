// The body of a POST, as far as it is what it should be: one JSON object with known keys.

import { asObject, asString, type JsonObject } from '../text/json.ts';
import { printable } from '../text/printable.ts';
import { Fault } from './fault.ts';

/** Throws for anything but an object with these keys. */
export function bodyOf(body: unknown, known: readonly string[]): JsonObject {
  const json = asObject(body);
  if (json === undefined) throw new Fault(400, 'The body must be a JSON object.');
  const other = Object.keys(json).find((key) => !known.includes(key));
  if (other === undefined) return json;
  const hint = known.length === 0 ? 'It takes none.' : `It takes ${known.join(', ')}.`;
  throw new Fault(400, `There is no key '${printable(other.slice(0, 50))}' here.`, { hint });
}

export function textOf(json: JsonObject, key: string): string {
  const text = asString(json[key]);
  if (text !== undefined && text !== '') return text;
  throw new Fault(400, `'${key}' must be text.`);
}

/** Undefined where it is not there. */
export function optionalText(json: JsonObject, key: string): string | undefined {
  return json[key] === undefined || json[key] === null ? undefined : textOf(json, key);
}

export function onOrOff(json: JsonObject, key: string): boolean {
  const value = json[key];
  if (typeof value === 'boolean') return value;
  throw new Fault(400, `'${key}' is true or false.`);
}
