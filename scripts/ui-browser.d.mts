import type { Browser, Page } from 'playwright-core';
import type { Store } from './ui-store.mjs';

export type Ui = {
  readonly url: string;
  readonly origin: string;
  readonly pid: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
};

export function browserPath(): string | undefined;
export function launch(): Promise<Browser>;
export function startUi(
  store: Store,
  flags?: readonly string[],
  how?: { readonly terminal?: boolean },
): Promise<Ui>;
export function watched(page: Page): Promise<string[]>;
