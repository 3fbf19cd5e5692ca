// Questions without a wire: a call that waits for a person while no request is open.

import { describe, expect, it, onTestFinished } from 'vitest';
import {
  askByRequest,
  formOf,
  personAnswer,
  showsForms,
  WaitingCalls,
} from '../../src/mcp/asking.ts';
import type { AskTerms, FaceCall } from '../../src/mcp/face.ts';
import { faceOf } from '../../src/mcp/server.ts';
import type { PersonAnswer, PersonQuestion } from '../../src/types.ts';
import { until } from '../cli/helper.ts';
import { closeHosts, hostOf } from '../host/helper.ts';
import { Project } from '../host/settings-helper.ts';

const CHOICES = [
  { value: 'once', title: 'One time' },
  { value: 'deny', title: 'Never' },
];
const QUESTION: PersonQuestion = { message: 'May I?', choices: CHOICES };

/** A clock that stands still, and a limit of 1 s below which no person answers. */
class Clock {
  ms = 0;
  readonly now = (): number => this.ms;

  terms(waitMs = 10_000): AskTerms {
    return { waitMs, minMs: () => 1_000, now: this.now };
  }
}

/** Every answer counts. */
const ANY: AskTerms = { waitMs: 10_000, minMs: () => 0, now: () => 0 };

function open(args: Readonly<Record<string, unknown>> = { command: 'x' }) {
  const controller = new AbortController();
  return { call: { name: 'run', args, signal: controller.signal }, controller };
}

type Around = Pick<FaceCall, 'signal' | 'progress' | 'ask'>;

/** A tool that asks before it answers with what it heard. */
class Tool {
  started = 0;
  readonly heard: PersonAnswer[] = [];

  readonly start = async ({ ask }: Around) => {
    this.started += 1;
    const answer = await ask?.(QUESTION);
    if (answer !== undefined) this.heard.push(answer);
    return { text: answer?.kind ?? '', isError: false };
  };
}

const ONCE = { action: 'accept', content: { answer: 'once' } };
const NOTHING = { state: undefined, answer: undefined };

describe('a call that asks', () => {
  it('gives the question and goes on with the answer that the next call brings', async () => {
    const [waiting, tool] = [new WaitingCalls(ANY), new Tool()];
    const first = await waiting.turn(open().call, NOTHING, tool.start);
    expect(first).toMatchObject({ kind: 'asks', question: { message: 'May I?' } });
    if (first.kind !== 'asks') throw new Error('it does not ask');
    const back = { state: first.state, answer: ONCE };
    const second = await waiting.turn(open().call, back, tool.start);
    expect(second).toEqual({ kind: 'done', result: { text: 'chosen', isError: false } });
    expect(tool).toMatchObject({ started: 1, heard: [{ kind: 'chosen', value: 'once' }] });
    // The same answer is not good for another call.
    expect(await waiting.turn(open().call, back, tool.start)).toMatchObject({ kind: 'asks' });
    expect(tool.started).toBe(2);
  });

  it('begins anew for other arguments, and for a state that nobody gave', async () => {
    const [waiting, tool] = [new WaitingCalls(ANY), new Tool()];
    const first = await waiting.turn(open().call, NOTHING, tool.start);
    if (first.kind !== 'asks') throw new Error('it does not ask');
    const other = open({ command: 'y' }).call;
    for (const state of [first.state, 'guessed', { an: 'object' }]) {
      const turn = await waiting.turn(other, { state, answer: ONCE }, tool.start);
      expect(turn.kind).toBe('asks');
    }
    expect(tool).toMatchObject({ started: 4, heard: [] });
  });

  it('is over when its time is, with nobody to ask for it', async () => {
    const [waiting, tool] = [new WaitingCalls({ ...ANY, waitMs: 30 }), new Tool()];
    const first = await waiting.turn(open().call, NOTHING, tool.start);
    if (first.kind !== 'asks') throw new Error('it does not ask');
    await until(() => tool.heard.length > 0, 'its time is over');
    expect(tool.heard).toEqual([{ kind: 'none' }]);
    const late = await waiting.turn(open().call, { state: first.state, answer: ONCE }, tool.start);
    expect(late.kind).toBe('asks');
    expect(tool.started).toBe(2);
  });

  it('can be cancelled by the call that is open, and by none that was answered', async () => {
    const waiting = new WaitingCalls(ANY);
    const signals: AbortSignal[] = [];
    const start = async ({ ask, signal }: Around) => {
      signals.push(signal);
      await ask?.(QUESTION);
      await until(() => signal.aborted, 'the call is cancelled');
      return { text: 'cancelled', isError: true };
    };
    const one = open();
    const first = await waiting.turn(one.call, NOTHING, start);
    one.controller.abort();
    expect(signals[0]?.aborted).toBe(false);
    if (first.kind !== 'asks') throw new Error('it does not ask');
    const two = open();
    const second = waiting.turn(two.call, { state: first.state, answer: ONCE }, start);
    two.controller.abort();
    expect(await second).toMatchObject({ kind: 'done', result: { text: 'cancelled' } });
  });
});

describe('a question by a request', () => {
  it('is answered by its result, and by nothing when that does not come', async () => {
    const waits: number[] = [];
    const ask = askByRequest(async (form, waitMs) => {
      waits.push(waitMs);
      return form.message === 'May I?' ? ONCE : undefined;
    }, ANY);
    expect(await ask(QUESTION)).toEqual({ kind: 'chosen', value: 'once' });
    expect(await ask({ ...QUESTION, message: 'And now?' })).toEqual({ kind: 'none' });
    expect(waits).toEqual([10_000, 10_000]);
    const late = askByRequest(() => Promise.reject(new Error('Request timed out')), ANY);
    expect(await late(QUESTION)).toEqual({ kind: 'none' });
  });
});

describe('an answer that no person can have given', () => {
  const replies = [ONCE, { action: 'decline' }, { action: 'cancel' }, new Error('not here')];

  it.each(replies)('is none after 999 ms, whatever it is: %j', async (reply) => {
    const clock = new Clock();
    const answered = (tookMs: number) =>
      askByRequest(async () => {
        clock.ms += tookMs;
        if (reply instanceof Error) throw reply;
        return reply;
      }, clock.terms())(QUESTION);
    expect(await answered(0)).toEqual({ kind: 'unseen' });
    expect(await answered(999)).toEqual({ kind: 'unseen' });
    expect((await answered(1_000)).kind).not.toBe('unseen');
  });

  it('is none within a second of a server whose settings do not say otherwise', async () => {
    const project = new Project();
    onTestFinished(() => project.close());
    onTestFinished(closeHosts);
    const host = await hostOf({}, { settings: await project.load('plugins: {}\n') });
    const { asking } = faceOf(host, { name: 'cuff', version: '1', onerror: () => undefined });
    const clock = new Clock();
    const answered = (tookMs: number) =>
      askByRequest(
        async () => {
          clock.ms += tookMs;
          return ONCE;
        },
        { ...asking, now: clock.now },
      )(QUESTION);
    expect(await answered(999)).toEqual({ kind: 'unseen' });
    expect(await answered(1_000)).toEqual({ kind: 'chosen', value: 'once' });
  });

  it('is none, too, where the next call brings it', async () => {
    const clock = new Clock();
    const [waiting, tool] = [new WaitingCalls(clock.terms()), new Tool()];
    for (const tookMs of [999, 1_000]) {
      const turn = await waiting.turn(open().call, NOTHING, tool.start);
      if (turn.kind !== 'asks') throw new Error('it does not ask');
      clock.ms += tookMs;
      await waiting.turn(open().call, { state: turn.state, answer: ONCE }, tool.start);
    }
    expect(tool.heard).toEqual([{ kind: 'unseen' }, { kind: 'chosen', value: 'once' }]);
  });
});

describe('an answer', () => {
  it.each([
    [ONCE, { kind: 'chosen', value: 'once' }],
    [{ action: 'decline' }, { kind: 'declined' }],
    [{ action: 'cancel' }, { kind: 'none' }],
    [{ action: 'accept' }, { kind: 'none' }],
    [{ action: 'accept', content: { answer: 'always' } }, { kind: 'none' }],
    [{ action: 'accept', content: { answer: ['once'] } }, { kind: 'none' }],
    [{ content: { answer: 'once' } }, { kind: 'none' }],
    [null, { kind: 'none' }],
    ['once', { kind: 'none' }],
  ])('%j is taken for %j', (given, meant) => {
    expect(personAnswer(given, QUESTION)).toEqual(meant);
  });

  it('is one of the words of the form', () => {
    expect(formOf(QUESTION).requestedSchema.properties.answer).toEqual({
      type: 'string',
      title: 'Answer',
      description: 'once: One time; deny: Never',
      enum: ['once', 'deny'],
    });
  });
});

it.each([
  [undefined, false],
  [{}, false],
  [{ elicitation: {} }, true],
  [{ elicitation: { form: {} } }, true],
  [{ elicitation: { form: {}, url: {} } }, true],
  [{ elicitation: { url: {} } }, false],
])('a client with %j shows forms: %s', (capabilities, shows) => {
  expect(showsForms(capabilities)).toBe(shows);
});
