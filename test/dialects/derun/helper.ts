// The derun dialect over a state root of its own, without a server in between.
import { expect } from 'vitest';
import { DerunPlugin } from '../../../src/dialects/derun/dialect.ts';
import type { ToolResult } from '../../../src/host/plugin.ts';
import { NOW, type TestStore, testStore } from '../../capture/helper.ts';

type Shape = Readonly<Record<string, unknown>>;

export type Derun = {
  readonly store: TestStore;
  readonly plugin: DerunPlugin;
  call(name: string, args?: Shape, signal?: AbortSignal): Promise<ToolResult>;
  /** What a call that must work has to say. */
  ask(name: string, args?: Shape): Promise<Shape>;
  /** The one line of a call that must not work. */
  refused(name: string, args?: Shape): Promise<string>;
};

export function derun(now: () => number = () => NOW): Derun {
  const store = testStore();
  const plugin = new DerunPlugin({}, { stateRoot: store.root, now });
  const call: Derun['call'] = (name, args = {}, signal = new AbortController().signal) =>
    plugin.callTool(name, args, { meta: {}, client: undefined, signal });
  return {
    store,
    plugin,
    call,
    async ask(name, args) {
      const { success, text, structured } = await call(name, args);
      if (!success || structured === undefined) throw new Error(text);
      return structured;
    },
    async refused(name, args) {
      const { success, text, structured } = await call(name, args);
      if (success) throw new Error(`it worked: ${text}`);
      expect(structured).toEqual({ schema_version: 'v1alpha1', error: text });
      return text;
    },
  };
}

export type ChunkShape = {
  readonly channel: string;
  readonly offset: number;
  readonly length: number;
  readonly timestamp: string | null;
  readonly data?: string;
  readonly text?: string;
};

export function chunksOf(answer: Shape): readonly ChunkShape[] {
  return answer.chunks as readonly ChunkShape[];
}

/** The bytes of an answer, or its text. */
export function outputOf(answer: Shape): string {
  return chunksOf(answer)
    .map(({ data, text }) => text ?? Buffer.from(data ?? '', 'base64').toString())
    .join('');
}
