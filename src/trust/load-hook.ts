// Holds modules of a project to the files that a person trusted: whatever a listed file imports or
// requires has to be listed, too, and every listed file has to have the listed content. A file
// that no import names statically is not listed, so loading it fails. Node 22.15 has hooks for both
// kinds of modules in this thread; before that, imports are hooked in a thread of Node's and
// requires by the loaders of their file extensions.

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import Module, * as nodeModule from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort } from 'node:worker_threads';

type Hashes = Readonly<Record<string, string>>;

/** Our own program, which may be installed inside of the project. */
const OWN = dirname(fileURLToPath(import.meta.url)) + sep;

let listed: ReadonlyMap<string, string> = new Map();
let below = OWN; // the project
let thread: MessagePort | undefined;
let hooked = false;

/** From now on; a later list takes the place of the one before. `project` is a real path. */
export function guardModules(hashes: Hashes, project: string): void {
  listed = new Map(Object.entries(hashes));
  below = project + sep;
  if (!hooked) hook();
  hooked = true;
  // Posted before any import asks: the thread takes in what was posted before it answers.
  thread?.postMessage({ hashes, below });
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
      refuseUnlisted(pathOf(found.url), pathOf(context.parentURL), name);
      return found;
    },
    load(url, context, next) {
      const found = next(url, context);
      const path = pathOf(url);
      if (path !== undefined) refuseChanged(path, found.source ?? fs.readFileSync(path));
      return found;
    },
  });
}

/** Files that our own program loaded by their package's name, and what those loaded. */
const ours = new Set<string>();

/**
 * A listed file loads listed files. Nothing else in the project is loaded either, whatever a module
 * gives as the place that it loads from, and wherever the path of a plugin leads by now.
 */
function refuseUnlisted(path: string | undefined, parent: string | undefined, name: string): void {
  if (path === undefined || listed.has(path)) return;
  const foreign = parent !== undefined && listed.has(parent);
  if (!foreign && (!path.startsWith(below) || path.startsWith(OWN))) return;
  const own = parent !== undefined && (parent.startsWith(OWN) || ours.has(parent));
  if (foreign || !own || name.startsWith('file:')) throw new Error(`${path} ${UNLISTED}`);
  ours.add(path);
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
      const parent = module.parent?.filename ?? undefined;
      if (parent !== undefined) refuseUnlisted(filename, parent, '');
      else if (!listed.has(filename)) ours.add(filename); // the thread let it be imported
      if (listed.has(filename)) refuseChanged(filename, fs.readFileSync(filename));
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
let port, own, below;
let listed = new Map();
const ours = new Set();
export function initialize(data) { ({ port, own } = data); below = own; }
function known() {
  for (let m = receiveMessageOnPort(port); m; m = receiveMessageOnPort(port))
    [listed, below] = [new Map(Object.entries(m.message.hashes)), m.message.below];
  return listed;
}
const pathOf = (url) => url?.startsWith('file:') ? fileURLToPath(url) : undefined;
export async function resolve(name, context, next) {
  const found = await next(name, context);
  const [path, parent] = [pathOf(found.url), pathOf(context.parentURL)];
  if (path === undefined || known().has(path)) return found;
  const foreign = listed.has(parent);
  if (!foreign && (!path.startsWith(below) || path.startsWith(own))) return found;
  const fromOurs = parent !== undefined && (parent.startsWith(own) || ours.has(parent));
  if (foreign || !fromOurs || name.startsWith('file:'))
    throw new Error(path + ${JSON.stringify(` ${UNLISTED}`)});
  ours.add(path);
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
  // Otherwise Node would read the file once more, when it may be another one.
  return found.format === 'commonjs' ? { ...found, source: content } : found;
}
`;

function hookImports(): void {
  const { port1, port2 } = new MessageChannel();
  nodeModule.register(`data:text/javascript,${encodeURIComponent(THREAD)}`, {
    data: { port: port2, own: OWN },
    transferList: [port2],
  });
  port1.unref();
  thread = port1;
}
