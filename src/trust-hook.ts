// Holds modules of a project to the files that a person trusted: whatever a listed file imports or
// requires has to be listed, too, and every listed file has to have the listed content. A file
// that no import names statically is not listed, so loading it fails. Node 22.15 has hooks for both
// kinds of modules in this thread; before that, imports are hooked in a thread of Node's and
// requires by the loaders of their file extensions.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Module, * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort } from 'node:worker_threads';

type Hashes = Readonly<Record<string, string>>;

let listed: ReadonlyMap<string, string> = new Map();
let thread: MessagePort | undefined;
let hooked = false;

/** From now on; a later list takes the place of the one before. */
export function guardModules(hashes: Hashes): void {
  listed = new Map(Object.entries(hashes));
  if (!hooked) hook();
  hooked = true;
  // Posted before any import asks: the thread takes in what was posted before it answers.
  thread?.postMessage(hashes);
}

type Loaded = { readonly url?: string; readonly source?: string | Uint8Array | null };
type Next<Context> = (what: string, context: Context) => Loaded;
type RegisterHooks = (hooks: {
  resolve(name: string, context: { parentURL?: string }, next: Next<unknown>): Loaded;
  load(url: string, context: unknown, next: Next<unknown>): Loaded;
}) => void;

function hook(): void {
  const { registerHooks } = nodeModule as { registerHooks?: RegisterHooks };
  if (registerHooks === undefined) {
    hookImports();
    hookRequires();
    return;
  }
  registerHooks({
    resolve(name, context, next) {
      const found = next(name, context);
      refuseUnlisted(pathOf(found.url), pathOf(context.parentURL));
      return found;
    },
    load(url, context, next) {
      const found = next(url, context);
      const path = pathOf(url);
      if (path !== undefined) refuseChanged(path, found.source ?? readFileSync(path));
      return found;
    },
  });
}

function refuseUnlisted(path: string | undefined, parent: string | undefined): void {
  if (path === undefined || parent === undefined) return;
  if (listed.has(parent) && !listed.has(path)) throw new Error(`${path} ${UNLISTED}`);
}

function refuseChanged(path: string, content: string | Uint8Array): void {
  const known = listed.get(path);
  if (known === undefined || known === sha256(content)) return;
  throw new Error(`${path} ${CHANGED}`);
}

const UNLISTED = 'was not trusted: no import of the trusted modules names it';
const CHANGED = 'has changed since it was trusted; a person can run `cuff trust`';

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function pathOf(url: string | undefined): string | undefined {
  return url?.startsWith('file:') ? fileURLToPath(url) : undefined;
}

type Extension = (
  module: { readonly parent?: { readonly filename?: string | null } | null },
  filename: string,
) => void;

function hookRequires(): void {
  const extensions = (Module as unknown as { _extensions: Record<string, Extension> })._extensions;
  for (const [name, load] of Object.entries(extensions)) {
    extensions[name] = (module, filename) => {
      refuseUnlisted(filename, module.parent?.filename ?? undefined);
      if (listed.has(filename)) refuseChanged(filename, readFileSync(filename));
      load(module, filename);
    };
  }
}

/** The same two checks for the thread in which Node runs hooks of imports. */
const THREAD = `
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { receiveMessageOnPort } from 'node:worker_threads';
let port;
let listed = new Map();
export function initialize(data) { port = data.port; }
function known() {
  for (let m = receiveMessageOnPort(port); m; m = receiveMessageOnPort(port))
    listed = new Map(Object.entries(m.message));
  return listed;
}
const pathOf = (url) => url?.startsWith('file:') ? fileURLToPath(url) : undefined;
export async function resolve(name, context, next) {
  const found = await next(name, context);
  const path = pathOf(found.url);
  if (path !== undefined && known().has(pathOf(context.parentURL)) && !listed.has(path))
    throw new Error(path + ${JSON.stringify(` ${UNLISTED}`)});
  return found;
}
export async function load(url, context, next) {
  const found = await next(url, context);
  const path = pathOf(url);
  const hash = path === undefined ? undefined : known().get(path);
  if (hash === undefined) return found;
  const content = found.source ?? readFileSync(path);
  if (createHash('sha256').update(content).digest('hex') !== hash)
    throw new Error(path + ${JSON.stringify(` ${CHANGED}`)});
  return found;
}
`;

function hookImports(): void {
  const { port1, port2 } = new MessageChannel();
  nodeModule.register(`data:text/javascript,${encodeURIComponent(THREAD)}`, {
    data: { port: port2 },
    transferList: [port2],
  });
  port1.unref();
  thread = port1;
}
