// Calls that are over: their entries, where no shell of ours made one, and the files that agents'
// own tools write. Nothing of a prompt, an address or a token is kept.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimIntent } from '../../src/hooks/intent.ts';
import { lastSeen, sessionNotes } from '../../src/hooks/notes.ts';
import { DEFAULT_RECORDING } from '../../src/recorder/settings.ts';
import { openSingle } from '../../src/recorder/single.ts';
import { openStore } from '../../src/shell/store.ts';
import { lacking } from '../requirements.ts';
import { BEFORE, type HookedAgent, shellCall } from './payloads.ts';
import { HookPlace, NO_SAMPLES, reasonOf, samples } from './place.ts';

function over(payload: object, response: object) {
  return { ...payload, hook_event_name: 'PostToolUse', duration_ms: 40, ...response };
}

describe('the end of a command', () => {
  const response = { tool_response: { stdout: 'hi', stderr: '', interrupted: false } };

  it('becomes an entry that says where it is from', async () => {
    const place = new HookPlace();
    const payload = shellCall('claude', 'echo hi', { cwd: place.project });
    await place.hook(payload);
    await place.hook(over(payload, response));
    const [entry, ...more] = place.entries();
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      ...{ command: 'echo hi', description: 'd', working_directory: place.project },
      ...{ exit_code: 0, stdout: 'hi', end_reason: 'itself', duration_ms: 40, run_id: null },
      ...{ agent_id: 'claude', tool_call_id: 'toolu_1', source: 'hook', decision: null },
      timestamp: '2026-11-18T11:59:59.960000Z',
    });
    expect(entry?.conversation_id).toBe(payload.session_id);
  });

  it('told twice, at once or one after the other, is one entry', async () => {
    const place = new HookPlace();
    const end = over(shellCall('claude', 'echo hi', { cwd: place.project }), response);
    await Promise.all([place.hook(end), place.hook(end), place.hook(end)]);
    await place.hook(end);
    expect(place.entries()).toHaveLength(1);
  });

  it('of two calls with the same words are two entries', async () => {
    const place = new HookPlace();
    for (const id of ['a', 'b']) {
      await place.hook(over(shellCall('claude', 'ls', { cwd: place.project, id }), response));
    }
    for (const at of [place.now, place.now + 5_000]) {
      const before = shellCall('copilot', 'ls', { cwd: place.project, at });
      await place.hook({ ...before, toolResult: { textResultForLlm: 'x' } });
    }
    const ends = place.entries().map(({ agent_id, exit_code }) => [agent_id, exit_code]);
    expect(ends).toEqual([
      ['claude', 0],
      ['claude', 0],
      ['copilot', null],
      ['copilot', null],
    ]);
  });

  it('is left to the shell that claimed the call', async () => {
    const place = new HookPlace();
    const payload = shellCall('claude', 'echo hi', { cwd: place.project });
    await place.hook(payload);
    const [intent] = place.intents();
    expect(intent).toBeDefined();
    if (intent !== undefined) claimIntent(place.env, intent, { now: place.now });
    await place.hook(over(payload, response));
    expect(place.entries()).toEqual([]);
  });

  it.each([
    ['gemini', 1],
    ['qwen', 2],
  ] as const)('beside that of a shell of %s without a session: %i in all', async (agent, n) => {
    const place = new HookPlace();
    const request = { command: 'echo hi', cwd: place.project, shell: 'bash' };
    const shell = openSingle({
      store: { ...openStore(join(place.dir, 'state')), now: () => place.now },
      project: place.project,
      recording: { ...DEFAULT_RECORDING, directory: place.journal, trace: 'off' },
      request: { ...request, description: undefined, killAfterMs: undefined },
      context: { agentId: agent, conversationId: null, toolCallId: null, traceId: null },
      contextSource: 'environment',
      origin: { source: 'shell' },
      env: place.env,
    });
    await shell.deny();
    const payload = shellCall('gemini', 'echo hi', { cwd: place.project, at: place.now });
    await place.hook({ ...payload, hook_event_name: 'AfterTool', tool_response: {} });
    expect(place.entries()).toHaveLength(n);
  });

  it.each([true, false])(
    'of a rewritten command is that of its intent, claimed: %s',
    async (claims) => {
      const place = new HookPlace();
      const payload = shellCall('copilot', 'echo hi', { cwd: place.project });
      const answer = await place.hook(payload, { rewrite: true });
      const [intent] = place.intents();
      if (claims && intent !== undefined) claimIntent(place.env, intent, { now: place.now });
      const end = { toolArgs: answer?.modifiedArgs, toolResult: { textResultForLlm: 'hi' } };
      await place.hook({ ...payload, ...end });
      expect(place.entries().map(({ command }) => command)).toEqual(claims ? [] : ['echo hi']);
    },
  );

  it('says that the client cut the output, and has no code that the client hides', async () => {
    const place = new HookPlace();
    const cut = { tool_response: `a\n[120 lines truncated]\nb` };
    await place.hook(over(shellCall('codex', 'seq 200', { cwd: place.project }), cut));
    expect(place.entries()[0]).toMatchObject({ exit_code: null, output_truncated: true });
  });

  it('is not kept where the settings turn recording off, nor its output', async () => {
    const place = new HookPlace();
    const end = over(shellCall('claude', 'echo hi', { cwd: place.project }), response);
    const settings = (text: string) =>
      place.write(
        'config/cuff/settings.yml',
        [
          'plugins:',
          '  bash_recorder:',
          '    type: in_source',
          '    module: opencuff.plugins.builtin.bash_recorder',
          `    config: { recording: { ${text} } }`,
          '',
        ].join('\n'),
      );
    settings('capture_output: false');
    await place.hook(end);
    expect(place.entries()).toMatchObject([{ stdout: null }]);
    settings('enabled: false');
    await place.hook({ ...end, tool_use_id: 'other' });
    expect(place.entries()).toHaveLength(1);
  });

  const missing = lacking(NO_SAMPLES, 'the samples of agents are not beside this repository');

  it.skipIf(missing)('of every real payload is in the journal once', async () => {
    const place = new HookPlace();
    for (const kind of ['claude', 'codex', 'copilot', 'gemini', 'qwen', 'cline']) {
      for (const line of samples(`hook-stdin-${kind}.jsonl`)) {
        await Promise.all([place.hook(place.moved(line)), place.hook(place.moved(line))]);
      }
    }
    const ends = place.entries().map(({ agent_id, exit_code }) => `${agent_id} ${exit_code}`);
    expect(ends.sort()).toEqual([
      ...['claude 0', 'claude 3', 'claude null', 'cline 3', 'codex null', 'copilot 3'],
      ...['gemini 0', 'gemini 3', 'qwen 0', 'qwen 3'],
    ]);
    const agents = ['claude', 'cline', 'codex', 'copilot', 'gemini', 'qwen'];
    expect([...lastSeen(place.env).keys()].sort()).toEqual(agents);
    expect(
      sessionNotes(place.env)
        .map(({ agent }) => agent)
        .sort(),
    ).toEqual([...['claude', 'codex', 'copilot', 'gemini']]);
  });
});

describe('a file tool', () => {
  const RULES = 'default: ask\n';

  /** How each agent writes a file with its own tool. */
  const WRITES: Readonly<Record<HookedAgent, (path: string) => { tool: string; input: object }>> = {
    claude: (file_path) => ({ tool: 'Write', input: { file_path, content: 'x\n' } }),
    codex: (path) => ({
      tool: 'apply_patch',
      input: { command: `*** Begin Patch\n*** Update File: ${path}\n+x\n*** End Patch` },
    }),
    qwen: (file_path) => ({ tool: 'write_file', input: { file_path, content: 'x\n' } }),
    vscode: (filePath) => ({ tool: 'create_file', input: { filePath, content: 'x\n' } }),
    gemini: (file_path) => ({
      tool: 'replace',
      input: { file_path, old_string: 'a', new_string: 'x' },
    }),
    copilot: (path) => ({ tool: 'create', input: { path, file_text: 'x\n' } }),
    cursor: (path) => ({ tool: 'Write', input: { path, contents: 'x\n' } }),
    cline: (path) => ({ tool: 'write_to_file', input: { path, content: 'x\n' } }),
    opencode: (filePath) => ({ tool: 'edit', input: { filePath, oldString: 'a', newString: 'x' } }),
    pi: (path) => ({ tool: 'write', input: { path, content: 'x\n' } }),
  };

  const agents = Object.keys(WRITES) as HookedAgent[];

  it.each(agents)('of %s does not get at what is protected', async (agent) => {
    const place = new HookPlace(RULES);
    const { project: cwd } = place;
    const write = async (path: string) => {
      const { tool, input } = WRITES[agent](path);
      return reasonOf(await place.hook(BEFORE[agent]({ cwd, tool, input: { ...input } })));
    };
    expect(await write('CLAUDE.md')).toContain('cuff policy approve');
    expect(await write(join(cwd, 'CLAUDE.md'))).toContain('cuff policy approve');
    expect(await write('.github/workflows/ci.yml')).toContain('cuff policy approve');
    const words = 'is protected: it controls what programs or agents run, so agents may not write';
    expect(await write('.git/hooks/x')).toContain(words);
    expect(await write('src/../.cuff/policy.yml')).toContain(words);
    expect(await write(join(String(place.env.CUFF_STATE_ROOT), 'intents/x'))).toContain(words);
    expect(await write(join(place.dir, 'elsewhere'))).toContain(
      'is outside of what may be written',
    );
    expect(await write('src/main.ts')).toBe('');
  });

  it('that names several files is judged by all of them', async () => {
    const place = new HookPlace(RULES);
    const patch = (...files: string[]) => {
      const parts = files.map((file) => `*** Update File: ${file}\n@@\n-a\n+b\n`).join('');
      const input = { input: `*** Begin Patch\n${parts}*** End Patch\n` };
      return place.hook(BEFORE.codex({ cwd: place.project, tool: 'apply_patch', input }));
    };
    expect(await patch('a.ts', 'b.ts')).toBeUndefined();
    expect(reasonOf(await patch('a.ts', '.git/hooks/x', 'b.ts'))).toContain('.git/hooks/x');
    expect(reasonOf(await patch('a.ts\n*** Move to: .git/hooks/y'))).toContain('.git/hooks/y');
  });

  it('whose file is not in its arguments is asked about', async () => {
    const place = new HookPlace(RULES);
    const input = { unheard_of: 'x' };
    const answer = await place.hook(BEFORE.claude({ cwd: place.project, tool: 'Write', input }));
    expect(reasonOf(answer)).toContain('Which file `Write` means is not in its arguments.');
  });

  it('behind a link is judged by where it leads', async () => {
    const place = new HookPlace(RULES);
    fs.mkdirSync(join(place.project, '.git', 'hooks'), { recursive: true });
    fs.symlinkSync('.git/hooks', join(place.project, 'docs'));
    const input = { file_path: 'docs/x', content: '' };
    const answer = await place.hook(BEFORE.claude({ cwd: place.project, tool: 'Write', input }));
    expect(reasonOf(answer)).toContain('is protected');
  });

  it('leaves the fact in the journal, and no content', async () => {
    const place = new HookPlace(RULES);
    const path = place.write('project/src/a.ts', 'one\ntwo\n');
    const input = { file_path: 'src/a.ts', content: 'one\nthree\nfour\n' };
    const payload = BEFORE.claude({ cwd: place.project, tool: 'Write', input });
    expect(await place.hook(payload)).toBeUndefined();
    fs.writeFileSync(path, input.content);
    const end = over(payload, { tool_response: { filePath: path, success: true } });
    await Promise.all([place.hook(end), place.hook(end)]);
    const sha = (text: string) => expect.stringMatching(new RegExp(`^${text}`));
    expect(place.edits()).toEqual([
      {
        ...{ timestamp: '2026-11-18T12:00:00.000000Z', tool: 'Write', path },
        ...{ lines_added: 2, lines_removed: 1 },
        ...{ hash_before: sha('c3f9c8c2'), hash_after: sha('[0-9a-f]{64}'), failed: false },
        ...{ agent_id: 'claude', conversation_id: payload.session_id, tool_call_id: 'toolu_1' },
      },
    ]);
    const files = fs.readdirSync(join(place.journal, 'sessions')).sort();
    expect(files.map((name) => name.replace(/^[^.]+/, ''))).toEqual([
      ...['.edits.jsonl', '.jsonl', '.meta.json'],
    ]);
    fs.rmSync(path);
    expect(place.everything()).not.toContain('three');
  });
});

describe('what is stored', () => {
  it('has no prompt, no address and no token', async () => {
    const place = new HookPlace('default: ask\n');
    place.env.MY_API_TOKEN = 'tok-0123456789abcdef';
    const secret = 'tok-0123456789abcdef';
    const { project: cwd } = place;
    await place.hook({
      ...{ sessionId: 's', timestamp: place.now, cwd, source: 'new' },
      initialPrompt: 'delete PROMPT-TEXT',
    });
    await place.hook(shellCall('cursor', `curl -H 'X: ${secret}' x`, { cwd }));
    await place.hook({
      ...{ conversation_id: 'c', generation_id: 'g', cursor_version: '2', workspace_roots: [cwd] },
      ...{ hook_event_name: 'afterShellExecution', command: `echo ${secret}`, output: 'x', cwd },
      user_email: 'person@mail.example',
    });
    await place.hook({
      ...{ hook_event_name: 'UserPromptSubmit', session_id: 's', cwd, prompt: 'PROMPT-TEXT' },
    });
    expect(place.entries()).toHaveLength(2);
    const all = place.everything();
    expect(all).toContain('[REDACTED:MY_API_TOKEN]');
    expect(all).not.toMatch(/PROMPT-TEXT|person@mail|tok-0123/);
  });

  it('is for the user alone', async () => {
    const place = new HookPlace('default: ask\n');
    await place.hook(shellCall('claude', 'make', { cwd: place.project }));
    const root = String(place.env.CUFF_STATE_ROOT);
    const modes = fs
      .readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith('logs'))
      .map((name) => fs.statSync(join(root, name)).mode & 0o077);
    expect(modes.length).toBeGreaterThan(5);
    expect(new Set(modes)).toEqual(new Set([0]));
  });
});
