// Questions without a wire: a call that waits for a person while no request is open.
import { describe, expect, it } from 'vitest';
import {
  askByRequest,
  formOf,
  personAnswer,
  showsForms,
  WaitingCalls,
} from '../../src/mcp/asking.ts';
import type { FaceCall } from '../../src/mcp/face.ts';
import type { PersonAnswer, PersonQuestion } from '../../src/plugin.ts';
import { until } from '../cli/helper.ts';

const CHOICES = [
  { value: 'once', title: 'One time' },
  { value: 'deny', title: 'Never' },
];
const question = (waitMs = 10_000): PersonQuestion => ({
  message: 'May I?',
  choices: CHOICES,
  waitMs,
});

function open(args: Readonly<Record<string, unknown>> = { command: 'x' }) {
  const controller = new AbortController();
  return { call: { name: 'run', args, signal: controller.signal }, controller };
}

type Around = Pick<FaceCall, 'signal' | 'progress' | 'ask'>;

/** A tool that asks before it answers with what it heard. */
class Tool {
  started = 0;
  readonly heard: PersonAnswer[] = [];
  readonly waitMs: number;

  constructor(waitMs = 10_000) {
    this.waitMs = waitMs;
  }

  readonly start = async ({ ask }: Around) => {
    this.started += 1;
    const answer = await ask?.(question(this.waitMs));
    if (answer !== undefined) this.heard.push(answer);
    return { text: answer?.kind ?? '', isError: false };
  };
}

const ONCE = { action: 'accept', content: { answer: 'once' } };
const NOTHING = { state: undefined, answer: undefined };

describe('a call that asks', () => {
  it('gives the question and goes on with the answer that the next call brings', async () => {
    const [waiting, tool] = [new WaitingCalls(), new Tool()];
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
    const [waiting, tool] = [new WaitingCalls(), new Tool()];
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
    const [waiting, tool] = [new WaitingCalls(), new Tool(30)];
    const first = await waiting.turn(open().call, NOTHING, tool.start);
    if (first.kind !== 'asks') throw new Error('it does not ask');
    await until(() => tool.heard.length > 0, 'its time is over');
    expect(tool.heard).toEqual([{ kind: 'none' }]);
    const late = await waiting.turn(open().call, { state: first.state, answer: ONCE }, tool.start);
    expect(late.kind).toBe('asks');
    expect(tool.started).toBe(2);
  });

  it('can be cancelled by the call that is open, and by none that was answered', async () => {
    const waiting = new WaitingCalls();
    const signals: AbortSignal[] = [];
    const start = async ({ ask, signal }: Around) => {
      signals.push(signal);
      await ask?.(question());
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
    });
    expect(await ask(question(7))).toEqual({ kind: 'chosen', value: 'once' });
    expect(await ask({ ...question(), message: 'And now?' })).toEqual({ kind: 'none' });
    expect(waits).toEqual([7, 10_000]);
    const late = askByRequest(() => Promise.reject(new Error('Request timed out')));
    expect(await late(question())).toEqual({ kind: 'none' });
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
    expect(personAnswer(given, question())).toEqual(meant);
  });

  it('is one of the words of the form', () => {
    expect(formOf(question()).requestedSchema.properties.answer).toEqual({
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
