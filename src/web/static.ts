// The page itself: the files of dist/web, read once, and nothing else. The names that are served
// are those that were there, so that no path leads anywhere.

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
};

const INDEX = '/index.html';

/** Stands in index.html where the nonce of this answer goes. */
const NONCE = '__NONCE__';

export type StaticFile = { readonly type: string; readonly bytes: Uint8Array };

export class StaticFiles {
  readonly #files: ReadonlyMap<string, StaticFile>;

  constructor(directory: string) {
    this.#files = filesIn(directory);
  }

  /** Undefined: there is no such file. */
  get(path: string): StaticFile | undefined {
    return this.#files.get(path === '/' ? INDEX : path);
  }

  /** With a fresh nonce in it. */
  page(nonce: string): StaticFile {
    const file = this.#files.get(INDEX);
    const text = file === undefined ? NO_PAGE : Buffer.from(file.bytes).toString('utf8');
    const bytes = Buffer.from(text.replaceAll(NONCE, nonce));
    return { type: TYPES['.html'] ?? '', bytes };
  }
}

export function newNonce(): string {
  return randomBytes(16).toString('base64');
}

/** Of a build without a client. */
const NO_PAGE = '<!doctype html><title>cuff</title><p>The page was not built: npm run build.</p>\n';

/** Of the build; for the sources, of their last build. */
export function pageDirectory(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return here.endsWith(join('src', 'web'))
    ? join(here, '..', '..', 'dist', 'web')
    : join(here, 'web');
}

function filesIn(directory: string): ReadonlyMap<string, StaticFile> {
  const files = new Map<string, StaticFile>();
  for (const name of namesIn(directory)) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    files.set(`/${name.replaceAll('\\', '/')}`, {
      type,
      bytes: readFileSync(join(directory, name)),
    });
  }
  return files;
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' });
  } catch {
    return []; // it was not built
  }
}
