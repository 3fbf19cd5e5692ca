// A person who is asked over MCP, in both protocols and over both wires.
import { describe, expect, it } from 'vitest';
import { until } from '../cli/helper.ts';
import { POLICY } from '../dialects/policy-helper.ts';
import { ASKED_CLIENTS, ASKED_HTTP_CLIENTS, type Person } from './policy-clients.ts';
import { type Fact, Guarded, run } from './policy-life.ts';

describe.each(Object.entries(ASKED_CLIENTS))('a person behind %s', (_, connect) => {
  it('says once, always, no and nothing', async () => {
    const life = new Guarded(POLICY);
    const shown: string[] = [];
    const replies: Awaited<ReturnType<Person>>[] = [];
    const person: Person = async (message, schema) => {
      shown.push(message);
      expect(schema).toMatchObject({
        type: 'object',
        properties: { answer: { type: 'string', enum: ['once', 'always', 'deny'] } },
        required: ['answer'],
      });
      return replies.shift() ?? { action: 'cancel' };
    };
    const client = await life.asked(connect, person);
    expect(await run(client, 'echo not asked')).toMatchObject({ isError: false });
    expect(shown).toEqual([]);

    replies.push({ action: 'accept', content: { answer: 'once' } });
    expect(await run(client, 'touch once')).toMatchObject({ isError: false });
    expect(life.made('once')).toBe(true);
    expect(shown[0]).toContain('touch once');

    const declined = [{ action: 'decline' }, { action: 'accept', content: { answer: 'deny' } }];
    for (const reply of declined) {
      replies.push(reply as (typeof replies)[number]);
      expect((await run(client, 'touch no')).text).toMatch(/said no\.$/);
    }
    for (const reply of [{ action: 'cancel' }, { action: 'accept', content: { answer: 'x' } }]) {
      replies.push(reply as (typeof replies)[number]);
      expect((await run(client, 'touch no')).text).toMatch(/cuff policy approve [a-z2-7]{8}$/);
    }
    expect(life.made('no')).toBe(false);

    replies.push({ action: 'accept', content: { answer: 'always' } });
    expect(await run(client, 'touch always')).toMatchObject({ isError: false });
    expect(shown).toHaveLength(6);
    expect(await run(client, 'touch always')).toMatchObject({ isError: false });
    expect(shown).toHaveLength(6);
    expect(life.policyText).toContain('pattern: touch always');
    const approved = (await life.entries()).map(({ decision }) => (decision as Fact).approved);
    const none = [null, null, null, null];
    expect(approved).toEqual([null, 'elicitation', ...none, 'elicitation', null]);
  });

  it('can take longer than the caller: what was cancelled does not run', async () => {
    const life = new Guarded(POLICY);
    let asked = false;
    let answer: () => void = () => undefined;
    const client = await life.asked(connect, async () => {
      asked = true;
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return { action: 'accept', content: { answer: 'once' } };
    });
    const controller = new AbortController();
    const call = client
      .call('shell_run', { command: 'touch late' }, controller.signal)
      .catch((error: unknown) => String(error));
    await until(() => asked, 'the question is there');
    controller.abort();
    answer();
    expect(await call).toEqual(expect.any(String));
    expect(await run(client, 'echo alive')).toMatchObject({ isError: false });
    expect(life.made('late')).toBe(false);
  });

  it.each(['cuff_shell', 'bash_recorder'])('goes in the middle of it: %s', async (dialect) => {
    const life = new Guarded(POLICY);
    let asked = false;
    const person: Person = async () => {
      asked = true;
      return new Promise(() => undefined);
    };
    const client = await life.asked(connect, person, dialect);
    const tool = dialect === 'cuff_shell' ? 'shell_run' : 'bash_recorder_execute';
    // In the 2026 protocol the client itself waits for its person, whoever else is gone.
    void client.call(tool, { command: 'touch gone' }).catch(() => undefined);
    await until(() => asked, 'the question is there');
    await client.close(); // the server ends with its client
    const facts = (await life.entries()).map(({ command, end_reason }) => [command, end_reason]);
    expect([facts, life.made('gone')]).toEqual([[['touch gone', 'denied']], false]);
  });
});

describe.each(Object.entries(ASKED_HTTP_CLIENTS))('a person behind %s over HTTP', (_, connect) => {
  it('is asked, and the call goes on with the answer', async () => {
    const life = new Guarded(POLICY);
    const { url, token } = await life.http();
    const shown: string[] = [];
    const client = await connect(url, token, async (message) => {
      shown.push(message);
      return { action: 'accept', content: { answer: 'once' } };
    });
    const both = await Promise.all([run(client, 'touch one'), run(client, 'touch two')]);
    expect(both.map(({ isError }) => isError)).toEqual([false, false]);
    expect(shown).toHaveLength(2);
    expect([life.made('one'), life.made('two')]).toEqual([true, true]);
    expect((await run(client, 'touch denied')).text).toContain('cuff policy: denied');
  });
});
