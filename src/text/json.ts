// JSON from files that may be damaged: a value of the expected shape, or undefined. Never throws.

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export type JsonObject = { readonly [key: string]: unknown };

/** The object `text` is, or undefined when it is anything else. */
export function parseObject(text: string): JsonObject | undefined {
  return asObject(parseJson(text));
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // damaged is an expected answer here
  }
}

export function asObject(value: unknown): JsonObject | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as JsonObject;
}

/** A count, size or offset: a safe integer from 0. */
export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Epoch milliseconds of an ISO 8601 time in UTC with milliseconds, as we write it. */
export function asTime(value: unknown): number | undefined {
  if (typeof value !== 'string' || !TIME.test(value)) return undefined;
  const at = Date.parse(value);
  return at >= 0 ? at : undefined;
}

export function asOneOf<T>(known: readonly T[], value: unknown): T | undefined {
  return known.find((one) => one === value);
}

export function asCounts(value: unknown): number[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.every((one) => asCount(one) !== undefined) ? value : undefined;
}

export function asStrings(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.every((one) => typeof one === 'string') ? value : undefined;
}

type Whole<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };

/** The same fields, if none of them is missing. */
export function whole<T extends object>(fields: T): Whole<T> | undefined {
  return Object.values(fields).includes(undefined) ? undefined : (fields as Whole<T>);
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that are there. */
export function defined<T extends object>(fields: T): Defined<T> {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as Defined<T>;
}

/** Its JSON for people to read; undefined for a value that JSON cannot express. */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return 'something nested too deeply'; // thousands of brackets: there is no stack for them
  }
}
