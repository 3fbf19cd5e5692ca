// Clients behind which somebody sits who can be asked: each of them answers questions as the test
// says, over the same wires as the others.
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';

type Reply = {
  action: 'accept' | 'decline' | 'cancel';
  content?: { answer: string };
};

/** What is shown to the person, and what the person does. */
export type Person = (message: string, schema: unknown) => Promise<Reply>;

export type Said = { readonly isError: boolean; readonly text: string };

export type AskedClient = {
  call(name: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Said>;
  close(): Promise<void>;
};

export type AskedConnect = (
  command: readonly [string, readonly string[]],
  env: Readonly<Record<string, string>>,
  person: Person,
) => Promise<AskedClient>;

const SELF = { name: 'cuff-test', version: '1.2.3' };

export const ASKED_CLIENTS: Readonly<Record<string, AskedConnect>> = {
  'SDK v1': async ([command, args], env, person) => {
    const client = new ClientV1(SELF, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) =>
      person(params.message, 'requestedSchema' in params ? params.requestedSchema : undefined),
    );
    const transport = new StdioV1({ command, args: [...args], env, stderr: 'ignore' });
    await client.connect(transport as Parameters<ClientV1['connect']>[0]);
    onTestFinished(() => client.close());
    return {
      call: async (name, args, signal) =>
        saidOf(await client.callTool({ name, arguments: { ...args } }, undefined, options(signal))),
      close: () => client.close(),
    };
  },
  'SDK v2, 2025': v2('legacy'),
  'SDK v2, 2026': v2({ pin: '2026-07-28' }),
};

function v2(mode: V2Mode): AskedConnect {
  return ([command, args], env, person) =>
    clientV2(mode, new StdioV2({ command, args: [...args], env, stderr: 'ignore' }), person);
}

/** The same over HTTP, where the 2026 protocol has no connection at all. */
export const ASKED_HTTP_CLIENTS: Readonly<
  Record<string, (url: string, token: string, person: Person) => Promise<AskedClient>>
> = {
  'SDK v2, 2025': (url, token, person) => clientV2('legacy', httpV2(url, token), person),
  'SDK v2, 2026': (url, token, person) =>
    clientV2({ pin: '2026-07-28' }, httpV2(url, token), person),
};

type V2Mode = 'legacy' | { readonly pin: string };

function httpV2(url: string, token: string): HttpV2 {
  const headers = { authorization: `Bearer ${token}` };
  return new HttpV2(new URL(url), { requestInit: { headers } });
}

async function clientV2(
  mode: V2Mode,
  transport: Parameters<ClientV2['connect']>[0],
  person: Person,
): Promise<AskedClient> {
  const capabilities = { elicitation: { form: {} } };
  const client = new ClientV2(SELF, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', ({ params }) =>
    person(params.message, 'requestedSchema' in params ? params.requestedSchema : undefined),
  );
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    call: async (name, args, signal) =>
      saidOf(await client.callTool({ name, arguments: { ...args } }, options(signal))),
    close: () => client.close(),
  };
}

function options(signal: AbortSignal | undefined) {
  return { timeout: 60_000, ...(signal && { signal }) };
}

function saidOf(result: unknown): Said {
  const { content, isError } = result as {
    content: readonly { text?: string }[];
    isError?: boolean;
  };
  return { isError: isError === true, text: content.map((one) => one.text ?? '').join('') };
}
