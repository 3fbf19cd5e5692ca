// The parameters of a request: each is known, stands once and is what it should be, or there is no
// answer. A filter that was mistyped is never taken for none.

import { parseSince } from '../text/dates.ts';
import { printable } from '../text/printable.ts';
import { Fault } from './fault.ts';

const TEXT_LENGTH_MAX = 10_000;

export class Params {
  readonly #values: ReadonlyMap<string, string>;
  readonly #now: number;

  constructor(query: URLSearchParams, known: readonly string[], now: number) {
    const values = new Map<string, string>();
    for (const [name, value] of query) {
      const words = printable(name.slice(0, 50));
      if (!known.includes(name)) {
        const hint = known.length === 0 ? 'It takes none.' : `It takes ${known.join(', ')}.`;
        throw new Fault(400, `There is no parameter '${words}' here.`, { hint });
      }
      if (values.has(name)) throw new Fault(400, `The parameter '${words}' stands twice.`);
      if (value.length > TEXT_LENGTH_MAX) throw new Fault(400, `'${words}' is too long.`);
      values.set(name, value);
    }
    this.#values = values;
    this.#now = now;
  }

  /** Undefined where it is not there or empty. */
  text(name: string): string | undefined {
    const value = this.#values.get(name);
    return value === '' ? undefined : value;
  }

  on(name: string): boolean {
    const value = this.text(name);
    if (value === undefined || value === '0') return false;
    if (value === '1') return true;
    throw new Fault(400, `'${name}' is 0 or 1, not '${printable(value)}'.`);
  }

  /** A whole number from 0. */
  count(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (/^\d{1,15}$/.test(value)) return Number(value);
    throw new Fault(400, `'${name}' is a whole number, not '${printable(value)}'.`);
  }

  limit(otherwise: number, max: number): number {
    const wanted = this.count('limit') ?? otherwise;
    if (wanted >= 1 && wanted <= max) return wanted;
    throw new Fault(400, `'limit' is from 1 to ${max}.`);
  }

  oneOf<T extends string>(name: string, known: readonly T[]): T | undefined {
    const value = this.text(name);
    const found = known.find((one) => one === value);
    if (value === undefined || found !== undefined) return found;
    throw new Fault(400, `'${name}' is one of ${known.join(', ')}, not '${printable(value)}'.`);
  }

  /** Epoch milliseconds. */
  time(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const exact = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
    const at = Number.isNaN(exact) ? parseSince(value, this.#now) : exact;
    if (at !== undefined) return at;
    throw new Fault(400, `'${name}' is no date: '${printable(value)}'.`, {
      hint: 'Write 7d, 12h, 2026-01-18 or 2026-01-18T14:30:52Z.',
    });
  }
}
