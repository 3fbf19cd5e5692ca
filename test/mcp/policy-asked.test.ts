// A person who is asked over MCP, in both protocols and over both wires.
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { until } from '../cli/helper.ts';
import { POLICY } from '../dialects/policy-helper.ts';
import { ASKED_CLIENTS, ASKED_HTTP_CLIENTS, type Person } from './policy-clients.ts';
import { type Fact, Guarded, run } from './policy-life.ts';

describe.each(Object.entries(ASKED_CLIENTS))('a person behind %s', (_, connect) => {
  it('says once, always, no and nothing', async () => {
    const life = new Guarded(POLICY);
    life.askMinMs(0);
    const shown: string[] = [];
    const replies: Awaited<ReturnType<Person>>[] = [];
    const person: Person = async (message, schema) => {
      shown.push(message);
      expect(schema).toMatchObject({
        type: 'object',
        properties: {
          answer: {
            type: 'string',
            enum: ['deny', 'once', 'hour', 'conversation', 'always', 'pattern'],
          },
        },
        required: ['answer'],
      });
      return replies.shift() ?? { action: 'cancel' };
    };
    const client = await life.asked(connect, person);
    expect(await run(client, 'echo not asked')).toMatchObject({ isError: false, refused: false });
    expect(shown).toEqual([]);

    replies.push({ action: 'accept', content: { answer: 'once' } });
    expect(await run(client, 'touch once')).toMatchObject({ isError: false, refused: false });
    expect(life.made('once')).toBe(true);
    expect(shown[0]).toContain('touch once');

    replies.push({ action: 'decline' });
    expect((await run(client, 'touch no')).text).toMatch(/said no\.$/);
    expect((await run(client, 'touch no')).text).toMatch(/not asked again for five minutes\.$/);
    expect(shown).toHaveLength(2);
    replies.push({ action: 'accept', content: { answer: 'deny' } });
    expect((await run(client, 'touch no2')).text).toMatch(/said no\.$/);
    for (const reply of [{ action: 'cancel' }, { action: 'accept', content: { answer: 'x' } }]) {
      replies.push(reply as (typeof replies)[number]);
      expect((await run(client, 'touch none')).text).toMatch(/cuff policy approve [a-z2-7]{8}$/);
    }
    expect(['no', 'no2', 'none'].some((name) => life.made(name))).toBe(false);

    replies.push({ action: 'accept', content: { answer: 'always' } });
    expect(await run(client, 'touch always')).toMatchObject({ isError: false, refused: false });
    expect(shown).toHaveLength(6);
    expect(await run(client, 'touch always')).toMatchObject({ isError: false, refused: false });
    expect(shown).toHaveLength(6);
    expect(life.policyText).toContain('pattern: touch always');
    const approved = (await life.entries()).map(({ decision }) => (decision as Fact).approved);
    const none = [null, null, null, null, null];
    expect(approved).toEqual([null, 'elicitation', ...none, 'elicitation', null]);
  });

  it('is not spoken for by a client that answers at once', async () => {
    const life = new Guarded(POLICY);
    life.askMinMs(30_000); // at once, also on a machine that is busy
    let asked = 0;
    const replies = [
      { action: 'decline' },
      { action: 'accept', content: { answer: 'once' } },
      { action: 'cancel' },
    ] as const;
    const client = await life.asked(connect, async () => replies[asked++] ?? { action: 'cancel' });
    const ids = new Set<string>();
    for (const [turn] of replies.entries()) {
      const { text } = await run(client, 'touch quick');
      const words =
        /^cuff policy: needs approval .*\nThe client answered without showing it: .*\n/s;
      expect([turn, text]).toEqual([turn, expect.stringMatching(words)]);
      expect(text).not.toMatch(/person was asked|said no/);
      ids.add(/cuff policy approve ([a-z2-7]{8})$/.exec(text)?.[1] ?? 'no id');
    }
    expect([asked, life.made('quick')]).toEqual([3, false]);
    const [id = '', ...others] = ids;
    expect([id, others]).toEqual([expect.stringMatching(/^[a-z2-7]{8}$/), []]);
    expect((await life.cuff('policy', 'approve', id)).code).toBe(0);
    expect(await run(client, 'touch quick')).toMatchObject({ isError: false, refused: false });
    expect([asked, life.made('quick')]).toEqual([3, true]);
  });

  it('is heard after a second, where no settings say otherwise', async () => {
    const life = new Guarded(POLICY);
    const client = await life.asked(connect, async () => {
      await setTimeout(1_050); // by the clock of the server it is no less
      return { action: 'accept', content: { answer: 'once' } };
    });
    expect(await run(client, 'touch heard')).toMatchObject({ isError: false, refused: false });
    expect(life.made('heard')).toBe(true);
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
    expect(await run(client, 'echo alive')).toMatchObject({ isError: false, refused: false });
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

it('a person has as long as `--ask-timeout` says', async () => {
  const life = new Guarded(POLICY);
  life.askMinMs(0);
  const command = life.command('cuff', '--dialect', 'cuff_shell', '--ask-timeout', '1');
  const connect = ASKED_CLIENTS['SDK v1'];
  if (connect === undefined) throw new Error('no client');
  const client = await connect(command, life.env, () => new Promise(() => undefined));
  const { text } = await run(client, 'touch silent');
  expect(text).toMatch(/person was asked and gave no answer\.\n.*cuff policy approve [a-z2-7]{8}$/);
  expect(life.made('silent')).toBe(false);
});

describe.each(Object.entries(ASKED_HTTP_CLIENTS))('a person behind %s over HTTP', (_, connect) => {
  it('is asked, and the call goes on with the answer', async () => {
    const life = new Guarded(POLICY);
    life.askMinMs(0);
    const { url, token } = await life.http();
    const shown: string[] = [];
    const client = await connect(url, token, async (message) => {
      shown.push(message);
      return { action: 'accept', content: { answer: 'once' } };
    });
    const both = await Promise.all([run(client, 'touch one'), run(client, 'touch two')]);
    expect(both.map(({ refused }) => refused)).toEqual([false, false]);
    expect(shown).toHaveLength(2);
    expect([life.made('one'), life.made('two')]).toEqual([true, true]);
    expect((await run(client, 'touch denied')).text).toContain('cuff policy: denied');
  });
});
