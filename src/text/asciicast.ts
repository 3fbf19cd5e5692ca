// asciicast, the file format of terminal sessions, versions 2 and 3: a line of JSON that says what
// was recorded, then a line [time, code, data] per event. Version 2 counts time from the start,
// version 3 from the event before and knows how the command ended. Pure: text in, text out.
import {
  asCount,
  asObject,
  asString,
  defined,
  type JsonObject,
  parseJson,
  parseObject,
} from './json.ts';

export type CastVersion = 2 | 3;

export type CastHeader = {
  readonly width: number;
  readonly height: number;
  /** Epoch milliseconds of the start; the format keeps whole seconds. */
  readonly startedAt: number;
  readonly command?: string;
  readonly title?: string;
  /** A player shortens longer pauses to so many seconds. */
  readonly idleSecondsMax?: number;
};

/** `o` output, `m` marker, `r` resize (`80x24`), `x` exit status (version 3 only). */
type CastCode = 'o' | 'i' | 'm' | 'r' | 'x';

export type CastEvent = {
  /** Milliseconds since the start. */
  readonly atMs: number;
  readonly code: CastCode;
  readonly data: string;
};

/** One file from its start to its end. Times never go back: a late event comes at once. */
export class CastEncoder {
  readonly #version: CastVersion;
  #lastMs = 0;

  constructor(version: CastVersion) {
    this.#version = version;
  }

  header(header: CastHeader): string {
    const { width, height, startedAt, command, title, idleSecondsMax } = header;
    const v2 = this.#version === 2;
    return line({
      version: this.#version,
      ...(v2 ? { width, height } : { term: { cols: width, rows: height } }),
      timestamp: Math.floor(startedAt / 1000),
      ...defined({ idle_time_limit: idleSecondsMax, command, title }),
    });
  }

  /** Nothing for an event that this version does not have. */
  event({ atMs, code, data }: CastEvent): string {
    if (code === 'x' && this.#version === 2) return '';
    const ms = Math.max(this.#lastMs, Math.round(atMs));
    const time = this.#version === 2 ? ms : ms - this.#lastMs;
    this.#lastMs = ms;
    return line([time / 1000, code, data]);
  }
}

// JSON.stringify writes a lone half of a surrogate pair as an escape, so every line is UTF-8.
function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** The header of a file, or undefined when it is no asciicast we know. */
export function decodeCastHeader(
  text: string,
): (CastHeader & { readonly version: CastVersion }) | undefined {
  const json = parseObject(text);
  const version = json?.version;
  if (json === undefined || (version !== 2 && version !== 3)) return undefined;
  const term: JsonObject = version === 2 ? json : (asObject(json.term) ?? {});
  const width = asCount(version === 2 ? term.width : term.cols);
  const height = asCount(version === 2 ? term.height : term.rows);
  if (width === undefined || height === undefined) return undefined;
  return {
    version,
    width,
    height,
    startedAt: (asNumber(json.timestamp) ?? 0) * 1000,
    ...defined({ command: asString(json.command), title: asString(json.title) }),
  };
}

/** Reads the events of one file in order: version 3 adds up its times. */
export class CastDecoder {
  readonly #version: CastVersion;
  #lastMs = 0;

  constructor(version: CastVersion) {
    this.#version = version;
  }

  /** Undefined for a line that is no event. An unknown code is an event all the same. */
  event(text: string): (Omit<CastEvent, 'code'> & { readonly code: string }) | undefined {
    const json = parseJson(text);
    const [time, code, data]: readonly unknown[] = Array.isArray(json) ? json : [];
    if (asNumber(time) === undefined || typeof code !== 'string' || typeof data !== 'string') {
      return undefined;
    }
    const ms = Number(time) * 1000;
    this.#lastMs = this.#version === 2 ? Math.max(this.#lastMs, ms) : this.#lastMs + ms;
    return { atMs: this.#lastMs, code, data };
  }
}

/** What may stand between events: nothing, or in version 3 a comment. */
export function isCastFiller(text: string, version: CastVersion): boolean {
  return text.trim() === '' || (version === 3 && text.startsWith('#'));
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
