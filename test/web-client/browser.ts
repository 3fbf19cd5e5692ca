// Debian's Chromium on a `cuff ui` over a store of real commands. Every page that a test opens is
// watched: what the browser complains about (errors, the policy of the page) fails the test.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { browserPath, launch, startUi, type Ui, watched } from '../../scripts/ui-browser.mjs';
import { type FilledStore, fillStore, type Store, storeAt } from '../../scripts/ui-store.mjs';

export const noBrowser = browserPath() === undefined;

const WAIT_MS = Number(process.env.CUFF_UI_WAIT ?? 120_000); // ends what would never come

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;
export type Visit = { readonly page: Page; readonly context: BrowserContext };

/** One store, one browser and one server for a file of tests. */
export class Desk {
  readonly root = mkdtempSync(join(tmpdir(), 'cuff-ui-'));
  readonly #flags: readonly string[];
  #browser: Browser | undefined;
  #ui: Ui | undefined;
  #known: StorageState | undefined;
  #complaints: string[][] = [];
  #contexts: BrowserContext[] = [];

  constructor(flags: readonly string[] = []) {
    this.#flags = flags;
  }

  async start(store: Store): Promise<void> {
    this.#browser = await launch();
    this.#ui = await startUi(store, this.#flags);
  }

  get ui(): Ui {
    if (this.#ui === undefined) throw new Error('the server is not started');
    return this.#ui;
  }

  async restart(store: Store, terminal = false): Promise<Ui> {
    this.#known = undefined;
    this.#ui = await startUi(store, this.#flags, { terminal });
    return this.#ui;
  }

  /** The first one trades the code of the server's link; the others know its token. */
  async visit(size = { width: 1200, height: 800 }): Promise<Visit> {
    if (this.#browser === undefined) throw new Error('the browser is not started');
    const options = { viewport: size, reducedMotion: 'reduce' } as const;
    const known = this.#known === undefined ? {} : { storageState: this.#known };
    const context = await this.#browser.newContext({ ...options, ...known });
    this.#contexts.push(context);
    const page = await this.open(context, this.#known === undefined ? this.ui.url : this.ui.origin);
    await page.waitForSelector('main > *');
    this.#known = await context.storageState();
    return { page, context };
  }

  async open(context: BrowserContext, url: string): Promise<Page> {
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    this.#complaints.push(await watched(page));
    await page.goto(url);
    return page;
  }

  /** Nothing was complained of until now: what a test itself puts into a page comes after. */
  silent(): void {
    expect(this.#complaints.flat()).toEqual([]);
  }

  async closePages(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
    const complaints = this.#complaints.splice(0).flat();
    expect(complaints).toEqual([]);
  }

  async end(): Promise<void> {
    await this.#browser?.close();
    await this.#ui?.stop();
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Of a file: a desk with what `scripts/ui-store.mjs` fills. */
export function filledDesk(lines: number): {
  readonly desk: Desk;
  readonly store: () => FilledStore;
} {
  const desk = new Desk();
  let store: FilledStore | undefined;
  useDesk(desk, async () => {
    store = await fillStore(desk.root, { lines });
    return store;
  });
  return {
    desk,
    store: () => {
      if (store === undefined) throw new Error('the store is not filled');
      return store;
    },
  };
}

/** Of a file: a desk on a store where nothing is recorded. */
export function emptyDesk(flags: readonly string[] = []): {
  readonly desk: Desk;
  readonly store: Store;
} {
  const desk = new Desk(flags);
  const store = storeAt(desk.root);
  useDesk(desk, () => Promise.resolve(store));
  return { desk, store };
}

function useDesk(desk: Desk, make: () => Promise<Store>): void {
  beforeAll(async () => {
    if (!noBrowser) await desk.start(await make());
  });
  afterEach(() => desk.closePages());
  afterAll(() => desk.end());
}

/** To another view, as a link of the page would. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

/** Waits for a link. By its address: the policy of the page forbids to evaluate text in it. */
export function at(page: Page, hash: RegExp): Promise<void> {
  return page.waitForURL((url) => hash.test(url.hash));
}
