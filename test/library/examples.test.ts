// Every example of docs/library.md compiles against the real packages and runs.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Asked, ROOT, runExample, standIn } from './examples.ts';

const DOCUMENT = readFileSync(join(ROOT, 'docs/library.md'), 'utf8');
const EXAMPLES = readdirSync(join(ROOT, 'examples')).filter((name) => name.endsWith('.ts'));

describe('the examples', () => {
  it('are shown in the documentation as they are', () => {
    const shown = [...DOCUMENT.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
    const files = EXAMPLES.map((name) => readFileSync(join(ROOT, 'examples', name), 'utf8'));
    expect(shown.sort()).toEqual(files.sort());
  });

  it('compile against the packed types and those of the SDKs', () => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const made = spawnSync(process.execPath, [tsc, '-p', join(ROOT, 'examples')], {
      encoding: 'utf8',
    });
    expect(made.stdout).toBe('');
    expect(made.status).toBe(0);
  });

  it('shell: output while it comes, the end, and a view', async () => {
    const { code, out, err } = await runExample('shell');
    const end = "{ kind: 'exited', code: 3 }";
    expect({ code, out, err }).toEqual({
      code: 0,
      out: `building\n${end}\noops\n\n`,
      err: 'oops\n',
    });
  });
});

const COMMAND = 'echo "it $((40 + 2))"';

const message = (stop_reason: string, content: unknown) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'stand-in',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
});

const said = (text: string) => message('end_turn', [{ type: 'text', text, citations: null }]);

const called = (id: string, name: string, input: unknown) =>
  message('tool_use', [{ type: 'tool_use', id, name, input }]);

/** The result of a tool in the last message to the Messages API. */
function resultIn(body: Record<string, unknown>): Record<string, unknown> {
  const messages = body.messages as { content: Record<string, unknown>[] }[];
  return messages.at(-1)?.content[0] ?? {};
}

function listIn(asked: Asked | undefined, key: string): readonly unknown[] {
  const list = asked?.body[key];
  return Array.isArray(list) ? list : [];
}

describe("Anthropic's SDK", () => {
  it('runs the tools of a dialect with its tool runner', async () => {
    const { asked, env } = await standIn(
      () => called('toolu_1', 'bash_recorder_execute', { command: COMMAND }),
      ({ body }) => said(`I saw ${JSON.parse(String(resultIn(body).content)).stdout}`),
    );
    const { code, out, err } = await runExample('anthropic', env);
    expect({ code, out, err }).toEqual({ code: 0, out: 'I saw it 42\n\n', err: '' });
    const [first, second] = asked;
    expect(first?.body.tools).toMatchObject([
      { type: 'custom', name: 'bash_recorder_execute', input_schema: { required: ['command'] } },
      { type: 'custom', name: 'bash_recorder_session_info' },
      { type: 'custom', name: 'bash_recorder_list_recent' },
    ]);
    expect(resultIn(second?.body ?? {})).toMatchObject({ tool_use_id: 'toolu_1' });
  });

  it('is told of a refused call as an error', async () => {
    const { asked, env } = await standIn(
      () => called('toolu_1', 'bash_recorder_execute', {}),
      () => said('sorry'),
    );
    expect((await runExample('anthropic', env)).out).toBe('sorry\n');
    expect(resultIn(asked[1]?.body ?? {})).toMatchObject({
      content: 'Error: command is required: the bash command to execute.',
      is_error: true,
    });
  });

  it('has its own bash tool with a shell that persists', async () => {
    const { asked, env } = await standIn(
      () => called('toolu_1', 'bash', { command: 'mkdir sub; cd sub; x=42' }),
      () => called('toolu_2', 'bash', { command: 'basename "$PWD"; echo $x' }),
      () => called('toolu_3', 'other', {}),
      () => said('done'),
    );
    const { code, out, err } = await runExample('anthropic-bash', env);
    expect({ code, out, err }).toEqual({ code: 0, out: 'done\n', err: '' });
    expect(asked[0]?.body.tools).toEqual([{ type: 'bash_20250124', name: 'bash' }]);
    const results = asked.slice(1).map(({ body }) => resultIn(body));
    const type = 'tool_result';
    const unknown = "There is no tool 'other'; there are bash.";
    expect(results).toEqual([
      { type, tool_use_id: 'toolu_1', content: '[no output]', is_error: false },
      { type, tool_use_id: 'toolu_2', content: 'sub\n42\n', is_error: false },
      { type, tool_use_id: 'toolu_3', content: unknown, is_error: true },
    ]);
  });
});

const completion = (finish_reason: string, rest: Record<string, unknown>) => ({
  id: 'chat_1',
  object: 'chat.completion',
  created: 1,
  model: 'stand-in',
  choices: [
    {
      index: 0,
      finish_reason,
      logprobs: null,
      message: { role: 'assistant', content: null, refusal: null, ...rest },
    },
  ],
});

const toolCall = (name: string, input: string) => ({
  tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: input } }],
});

const response = (id: string, output: unknown[]) => ({
  id,
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'stand-in',
  output,
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
});

describe("OpenAI's SDK", () => {
  it('runs the tools of a dialect with runTools', async () => {
    const { asked, env } = await standIn(
      () => completion('tool_calls', toolCall('bash_recorder_execute', '{"command": ')),
      () =>
        completion(
          'tool_calls',
          toolCall('bash_recorder_execute', JSON.stringify({ command: COMMAND })),
        ),
      ({ body }) => {
        const last = (body.messages as { content: string }[]).at(-1);
        return completion('stop', { content: `I saw ${JSON.parse(last?.content ?? '').stdout}` });
      },
    );
    const { code, out, err } = await runExample('openai', env);
    expect({ code, out, err }).toEqual({ code: 0, out: 'I saw it 42\n\n', err: '' });
    expect(asked[0]?.body.tools).toMatchObject([
      { type: 'function', function: { name: 'bash_recorder_execute', parameters: {} } },
      { type: 'function', function: { name: 'bash_recorder_session_info' } },
      { type: 'function', function: { name: 'bash_recorder_list_recent' } },
    ]);
    expect(listIn(asked[1], 'messages').at(-1)).toMatchObject({
      role: 'tool',
      tool_call_id: 'call_1',
      content: expect.stringMatching(/^The arguments are no JSON: /),
    });
  });

  it('has its own shell tool, and functions, over the Responses API', async () => {
    const action = { commands: [COMMAND, 'echo err >&2; exit 3'], timeout_ms: 30_000 };
    const name = 'bash_recorder_execute';
    const { asked, env } = await standIn(
      () => response('resp_1', [{ type: 'shell_call', id: 'sh_1', call_id: 'call_1', action }]),
      () =>
        response('resp_2', [
          { type: 'function_call', call_id: 'call_2', name, arguments: '{"command":"echo f"}' },
        ]),
      () => {
        const content = [{ type: 'output_text', text: 'done', annotations: [] }];
        return response('resp_3', [{ type: 'message', role: 'assistant', id: 'm', content }]);
      },
    );
    const { code, out, err } = await runExample('openai-shell', env);
    expect({ code, out, err }).toEqual({ code: 0, out: 'done\n', err: '' });
    expect(listIn(asked[0], 'tools')[0]).toEqual({
      type: 'shell',
      environment: { type: 'local' },
    });
    expect(asked[1]?.body).toMatchObject({ previous_response_id: 'resp_1' });
    expect(asked[1]?.body.input).toEqual([
      {
        type: 'shell_call_output',
        call_id: 'call_1',
        output: [
          { stdout: 'it 42\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
          { stdout: '', stderr: 'err\n', outcome: { type: 'exit', exit_code: 3 } },
        ],
      },
    ]);
    const output = expect.stringContaining('"stdout": "f\\n"');
    expect(listIn(asked[2], 'input')).toEqual([
      { type: 'function_call_output', call_id: 'call_2', output },
    ]);
  });
});

describe('the AI SDK', () => {
  it('generates text with the tools of a dialect', async () => {
    const { code, out, err } = await runExample(
      'ai-sdk',
      { ASK_COMMAND: COMMAND },
      'ask-ai-sdk.mjs',
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { output, tools } = JSON.parse(out);
    expect(output.type).toBe('text');
    expect(JSON.parse(output.value)).toMatchObject({ stdout: 'it 42\n', exit_code: 0 });
    expect(tools[0]).toMatchObject({
      type: 'function',
      name: 'bash_recorder_execute',
      inputSchema: { type: 'object', required: ['command'] },
    });
  });

  it('is told of a refused call as an error', async () => {
    const { out } = await runExample('ai-sdk', { ASK_COMMAND: '' }, 'ask-ai-sdk.mjs');
    expect(JSON.parse(out).output).toEqual({
      type: 'error-text',
      value: 'command is required: the bash command to execute.',
    });
  });
});

describe('LangChain', () => {
  it('binds the tools of a dialect and calls them', async () => {
    const env = { ASK_COMMAND: COMMAND, ASK_TOOL: 'bash_recorder_execute' };
    const { code, out, err } = await runExample('langchain', env, 'ask-langchain.mjs');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { content, ...rest } = JSON.parse(out);
    expect(rest).toEqual({ tool_call_id: 'call-1', status: 'success' });
    expect(JSON.parse(content)).toMatchObject({ stdout: 'it 42\n', exit_code: 0 });
  });
});
