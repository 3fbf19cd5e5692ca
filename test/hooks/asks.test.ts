// A question of the policy becomes the client's own where that was proven to reach a person, and is
// a denial with an id in every other case.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROVEN_ASKS } from '../../src/text/agents.ts';
import type { JsonObject } from '../../src/text/json.ts';
import { BEFORE, shellCall } from './payloads.ts';
import { HookPlace, reasonOf } from './place.ts';

const APPROVE = /cuff policy approve [a-z2-7]{8}$/;

const HOOK = '{"hooks":{"PermissionRequest":[]}}';

/** A person sits at Claude Code, whose process is one that has no options. */
function attended(): HookPlace {
  const place = new HookPlace('default: ask\n');
  const { project } = place;
  Object.assign(place.env, {
    ...{ CLAUDE_CODE_SESSION_ATTENDED: '1', CLAUDE_CODE_ENTRYPOINT: 'cli' },
    ...{ CLAUDE_PID: String(process.pid), CLAUDE_PROJECT_DIR: project },
  });
  return place;
}

async function asked(place: HookPlace, more: JsonObject = {}) {
  const answer = await place.hook({ ...call(place), ...more });
  return answer?.hookSpecificOutput;
}

const call = (place: HookPlace) => shellCall('claude', 'make', { cwd: place.project });

async function expectId(place: HookPlace, more: JsonObject = {}): Promise<void> {
  const answer = await place.hook({ ...call(place), ...more });
  expect(answer).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  expect(reasonOf(answer)).toMatch(APPROVE);
  expect(place.intents().map(({ decision }) => decision?.approval_id)).not.toContain(null);
}

describe('a question at Claude Code with a person', () => {
  it.each(PROVEN_ASKS)('is its own in the mode $permissionMode', async ({ permissionMode }) => {
    const place = attended();
    const answer = await asked(place, { permission_mode: permissionMode });
    expect(answer).toEqual({
      hookEventName: 'PreToolUse',
      permissionDecision: 'ask',
      permissionDecisionReason: expect.stringMatching(/^cuff policy: needs approval \(default/),
    });
    expect(place.intents()).toMatchObject([{ decision: { action: 'ask', approval_id: null } }]);
  });

  it('leaves an entry that says so, where no shell of ours ran the command', async () => {
    const place = attended();
    await asked(place);
    const over = { hook_event_name: 'PostToolUse', tool_response: { stdout: '', stderr: '' } };
    await place.hook({ ...call(place), ...over });
    const decision = { verdict: 'ask', approved: 'elicitation' };
    expect(place.entries()).toMatchObject([{ command: 'make', decision }]);
  });

  it('is about files, too', async () => {
    const place = attended();
    const input = { file_path: join(place.project, 'CLAUDE.md'), content: '' };
    const answer = await place.hook(BEFORE.claude({ cwd: place.project, tool: 'Write', input }));
    expect(answer).toMatchObject({ hookSpecificOutput: { permissionDecision: 'ask' } });
  });

  it.each(['auto', 'unheardOf', null])('is a denial in the mode %s', async (permission_mode) => {
    await expectId(attended(), { permission_mode });
  });

  it.each([
    ['no person', { CLAUDE_CODE_SESSION_ATTENDED: '0' }],
    ['nothing said of a person', { CLAUDE_CODE_SESSION_ATTENDED: undefined }],
    ['an editor in front', { CLAUDE_CODE_ENTRYPOINT: 'claude-vscode' }],
    ['a process that is gone', { CLAUDE_PID: '4194305' }],
    ['no process named', { CLAUDE_PID: undefined }],
  ])('is a denial with %s', async (_, env) => {
    const place = attended();
    Object.assign(place.env, env);
    await expectId(place);
  });

  it.each([
    'home/.claude/settings.json',
    'home/.claude/skills/s/SKILL.md',
    'home/.claude/skills/s/hooks/hooks.json',
    'project/.claude/settings.json',
    'project/.claude/settings.local.json',
    'project/.claude/agents/a.md',
  ])('is a denial where %s has a hook that may answer it', async (name) => {
    const place = attended();
    place.write(name, HOOK);
    await expectId(place);
  });

  it.each([
    ['ask', '{"hooks":{"PreToolUse":[]}}'],
    ['deny', HOOK],
  ])('is answered by %s where a plugin has %s', async (permissionDecision, hooks) => {
    const place = attended();
    place.write('plugin/hooks/hooks.json', hooks);
    const plugins = { 'p@m': [{ scope: 'user', installPath: join(place.dir, 'plugin') }] };
    const list = JSON.stringify({ version: 2, plugins });
    place.write('home/.claude/plugins/installed_plugins.json', list);
    expect(await asked(place)).toMatchObject({ permissionDecision });
  });
});
