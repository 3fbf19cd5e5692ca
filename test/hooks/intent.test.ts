// Intents: what a hook leaves for the shell that runs the command right after it.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  claimIntent,
  claimNamedIntent,
  decodeIntent,
  encodeIntent,
  firstToEnd,
  type Intent,
  intentKey,
  intentName,
  intentsDir,
  sweepIntents,
  writeIntent,
} from '../../src/hooks/intent.ts';
import { AGENT_IDS } from '../../src/text/agents.ts';
import type { Env } from '../../src/types.ts';

const AT = 1_794_906_501_510;

const INTENT: Intent = {
  agent: 'claude',
  session: 's-1',
  tool_call: 'toolu_1',
  command: 'echo hi',
  description: 'says hi',
  cwd: '/srv/app',
  permission_mode: 'default',
  decision: { action: 'deny', rule: 'r', reason: 'no', approval_id: null, policy: 'abc' },
  at: AT,
};

function place(): { readonly CUFF_STATE_ROOT: string } {
  const root = fs.mkdtempSync(join(tmpdir(), 'cuff-intent-'));
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  return { CUFF_STATE_ROOT: join(root, 'state') };
}

function files(env: { readonly CUFF_STATE_ROOT: string }): string[] {
  return fs.readdirSync(intentsDir(env)).sort();
}

describe('an intent', () => {
  it('has the name that a shell computes without it', () => {
    // printf 'claude\0s-1\0/srv/app\0echo hi' | sha256sum; printf toolu_1 | sha256sum
    expect(intentName(INTENT)).toBe(
      '56453d8254bd482004cf2a5ee863e03adaf920f1-4838a0c252e24a61.intent',
    );
  });

  it('of a call that the client names ends once, however late another hook tells of it', () => {
    const [env, name] = [place(), intentName(INTENT)];
    const told = [0, 1_000, 60_000].map((later) => firstToEnd(env, name, AT + later, true));
    expect(told).toEqual([true, false, false]);
    const nameless = intentName({ ...INTENT, tool_call: null }, 0);
    const again = [0, 1_000, 60_000].map((later) => firstToEnd(env, nameless, AT + later, false));
    expect(again).toEqual([true, false, true]);
  });

  it('is found by an agent whose shells do not know the session', () => {
    const gemini = { ...INTENT, agent: 'gemini' } as const;
    expect(intentKey({ ...gemini, session: null })).toBe(intentKey(gemini));
    expect(intentKey({ ...INTENT, session: null })).not.toBe(intentKey(INTENT));
  });

  it('is named by the second where the agent names no call', () => {
    const nameless = { ...INTENT, tool_call: null };
    expect(intentName(nameless)).toBe(intentName({ ...nameless, at: AT + 400 }));
    expect(intentName(nameless)).not.toBe(intentName({ ...nameless, at: AT + 1000 }));
    expect(intentName({ ...nameless, at: AT + 1000 }, 1_794_906_501)).toBe(intentName(nameless));
  });

  it('lies in a private directory, in a private file of two lines', () => {
    const env = place();
    const name = writeIntent(env, INTENT);
    expect(files(env)).toEqual([name]);
    expect(fs.statSync(intentsDir(env)).mode & 0o777).toBe(0o700);
    const path = join(intentsDir(env), name);
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
    expect(fs.readFileSync(path, 'utf8')).toBe(
      'cuff-intent 2\n' +
        '{"agent":"claude","session":"s-1","tool_call":"toolu_1","command":"echo hi",' +
        '"description":"says hi","cwd":"/srv/app","permission_mode":"default","decision":' +
        '{"action":"deny","rule":"r","reason":"no","approval_id":null,"policy":"abc"},' +
        `"at":${AT}}\n`,
    );
  });

  it('is written once when two hooks tell of one event, and stays what the first said', () => {
    const env = place();
    writeIntent(env, INTENT);
    writeIntent(env, { ...INTENT, decision: null, at: AT + 50 });
    expect(files(env)).toHaveLength(1);
    expect(claimIntent(env, INTENT, { now: AT })?.intent).toEqual(INTENT);
    writeIntent(env, INTENT); // the second hook comes behind the claim
    expect(claimIntent(env, INTENT, { now: AT })).toBeUndefined();
  });

  it('is claimed once, the newest first', () => {
    const env = place();
    writeIntent(env, INTENT);
    writeIntent(env, { ...INTENT, tool_call: 'toolu_2', at: AT + 5 });
    const claims = [1, 2, 3].map(() => claimIntent(env, INTENT, { now: AT }));
    expect(claims.map((one) => one?.intent.tool_call)).toEqual(['toolu_2', 'toolu_1', undefined]);
    expect(files(env).every((name) => name.endsWith(`.intent.claimed-${process.pid}`))).toBe(true);
  });

  it('of a named call is claimed by that call alone', () => {
    const env = place();
    writeIntent(env, INTENT);
    expect(claimIntent(env, INTENT, { now: AT, toolCall: 'other' })).toBeUndefined();
    expect(claimIntent(env, INTENT, { now: AT, toolCall: 'toolu_1' })).toBeDefined();
  });

  it('is claimed by its name, once and while it is good', () => {
    const env = place();
    const name = writeIntent(env, INTENT);
    expect(claimNamedIntent(env, name, AT + 60_001)).toBeUndefined();
    expect(claimNamedIntent(env, `../intents/${name}`, AT)).toBeUndefined();
    expect(claimNamedIntent(env, name, AT)?.intent).toEqual(INTENT);
    expect(claimNamedIntent(env, name, AT)).toBeUndefined();
  });

  it.each([
    ['older than 60 seconds', AT + 60_001],
    ['from the future', AT - 5_001],
  ])('%s is not claimed', (_name, now) => {
    const env = place();
    writeIntent(env, INTENT);
    expect(claimIntent(env, INTENT, { now })).toBeUndefined();
    expect(files(env)).toHaveLength(1);
  });

  describe('of a question that the client asks its person', () => {
    const decision = { action: 'ask', rule: 'r', reason: 'look', approval_id: null, policy: 'p' };
    const asked = { ...INTENT, decision } as Intent;
    const late = AT + 10 * 60_000;
    const claim = (env: Env, now: number) => claimIntent(env, INTENT, { now });

    it('is good for ten minutes, and still once', () => {
      const env = place();
      writeIntent(env, asked);
      expect(claim(env, late + 1)).toBeUndefined();
      expect(claim(env, late)?.intent).toEqual(asked);
      expect(claim(env, AT)).toBeUndefined();
    });

    it.each([
      ['is a denial with an id', { decision: { ...decision, approval_id: 'abc' } }],
      ['is an allowance', { decision: { ...decision, action: 'allow' } }],
      ['is in a mode that was not proven', { permission_mode: 'auto' }],
      ['is of an agent that was not proven', { agent: 'gemini' }],
    ])('is good for a minute where it %s', (_, other) => {
      const env = place();
      const intent = { ...asked, ...other } as Intent;
      writeIntent(env, intent);
      expect(claimIntent(env, intent, { now: AT + 60_001 })).toBeUndefined();
      expect(claimIntent(env, intent, { now: AT + 60_000 })).toBeDefined();
    });

    it('ends with a later one about the same, which a person answered', () => {
      const env = place();
      writeIntent(env, asked);
      writeIntent(env, { ...asked, tool_call: 'toolu_2', at: AT + 120_000 });
      expect(claim(env, AT + 130_000)?.intent.tool_call).toBe('toolu_2');
      expect(claim(env, AT + 130_000)).toBeUndefined();
    });
  });

  it.each([
    ['another command', { command: 'echo ho' }],
    ['another directory', { cwd: '/srv' }],
    ['another session', { session: 's-2' }],
    ['another agent', { agent: 'codex' as const }],
  ])('is not claimed for %s', (_name, other) => {
    const env = place();
    writeIntent(env, INTENT);
    expect(claimIntent(env, { ...INTENT, ...other }, { now: AT })).toBeUndefined();
  });

  it('that is a link, open to others or damaged is none', () => {
    const env = place();
    const path = join(intentsDir(env), writeIntent(env, INTENT));
    const text = fs.readFileSync(path, 'utf8');
    const claim = () => claimIntent(env, INTENT, { now: AT });
    fs.chmodSync(path, 0o666);
    expect(claim()).toBeUndefined();
    fs.writeFileSync(path, text.replace('cuff-intent 2', 'cuff-intent 1'));
    fs.chmodSync(path, 0o600);
    expect(claim()).toBeUndefined();
    fs.writeFileSync(path, text.slice(0, 200));
    expect(claim()).toBeUndefined();
    fs.writeFileSync(`${path}.real`, text, { mode: 0o600 });
    fs.rmSync(path);
    fs.symlinkSync(`${path}.real`, path);
    expect(claim()).toBeUndefined();
    fs.rmSync(path);
    fs.renameSync(`${path}.real`, path);
    expect(claim()?.intent).toEqual(INTENT);
  });

  it('in a directory that others may enter is none', () => {
    const env = place();
    writeIntent(env, INTENT);
    fs.chmodSync(intentsDir(env), 0o755);
    expect(claimIntent(env, INTENT, { now: AT })).toBeUndefined();
  });

  it('is swept when no shell can use it any more, with drafts of killed hooks', () => {
    const env = place();
    const name = writeIntent(env, INTENT);
    const draft = join(intentsDir(env), `.${name}.1.x`);
    fs.writeFileSync(draft, 'cuff-');
    fs.writeFileSync(join(intentsDir(env), 'note'), 'another file');
    expect(sweepIntents(env)).toBe(0);
    expect(sweepIntents(env, Date.now() + 16 * 60_000)).toBe(2);
    expect(files(env)).toEqual(['note']);
    expect(sweepIntents(place())).toBe(0);
  });

  it('is read as it was written, whatever the command is', () => {
    const text = fc.string({ unit: 'grapheme' });
    const idOrNone = fc.option(text, { nil: null });
    const intents: fc.Arbitrary<Intent> = fc.record({
      agent: fc.constantFrom(...AGENT_IDS),
      session: idOrNone,
      tool_call: idOrNone,
      command: text,
      description: idOrNone,
      cwd: text,
      permission_mode: idOrNone,
      decision: fc.option(
        fc.record({
          action: fc.constantFrom('allow', 'deny', 'ask'),
          rule: idOrNone,
          reason: text,
          approval_id: idOrNone,
          policy: idOrNone,
        }),
        { nil: null },
      ),
      at: fc.nat(),
    });
    fc.assert(
      fc.property(intents, (intent) => {
        const encoded = encodeIntent(intent);
        expect(encoded.split('\n')).toHaveLength(3);
        expect(decodeIntent(encoded, 'n')).toEqual({ name: 'n', intent });
      }),
    );
  });
});
