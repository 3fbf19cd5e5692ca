// Questions to the person at the client. An answer that comes sooner than a person can read the
// question was given by the client itself and does not count. In the 2025 protocol the server sends
// a request of its own and waits. In the 2026 protocol it answers the call with the question: the
// call stays here, without a request, until the client calls again with the answer or the time of
// the question is over.

import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { asObject, asString, type JsonObject } from '../text/json.ts';
import type { AskPerson, PersonAnswer, PersonQuestion } from '../types.ts';
import type { AskTerms, FaceCall, FaceResult } from './face.ts';

/** The one field of the form. */
const FIELD = 'answer';

/** Whether a client with these capabilities shows forms. A bare `{}` is how 2025-06-18 says so. */
export function showsForms(capabilities: unknown): boolean {
  const elicitation = asObject(asObject(capabilities)?.elicitation);
  if (elicitation === undefined) return false;
  return elicitation.form !== undefined || elicitation.url === undefined;
}

export type Form = {
  readonly mode: 'form';
  readonly message: string;
  readonly requestedSchema: {
    readonly type: 'object';
    readonly properties: Record<
      string,
      { type: 'string'; title: string; description: string; enum: string[] }
    >;
    readonly required: string[];
  };
};

export function formOf({ message, choices }: PersonQuestion): Form {
  const description = choices.map(({ value, title }) => `${value}: ${title}`).join('; ');
  const values = choices.map(({ value }) => value);
  const field = { type: 'string' as const, title: 'Answer', description, enum: values };
  return {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { [FIELD]: field }, required: [FIELD] },
  };
}

/** The answer of a client is checked here and nowhere else. */
export function personAnswer(given: unknown, { choices }: PersonQuestion): PersonAnswer {
  const result = asObject(given);
  if (result?.action === 'decline') return { kind: 'declined' };
  const value = asString(asObject(result?.content)?.[FIELD]);
  const known = choices.some((choice) => choice.value === value);
  if (result?.action !== 'accept' || value === undefined || !known) return NONE;
  return { kind: 'chosen', value };
}

const NONE: PersonAnswer = { kind: 'none' };
const UNSEEN: PersonAnswer = { kind: 'unseen' };

/** Asks with a request; a request that fails is no answer. */
export function askByRequest(
  send: (form: Form, waitMs: number) => Promise<unknown>,
  terms: AskTerms,
): AskPerson {
  return async (question) => {
    const judge = timed(terms);
    const given = await send(formOf(question), terms.waitMs).then(
      (result) => personAnswer(result, question),
      () => NONE, // too late, cancelled, hung up, or the client cannot after all
    );
    return judge(given);
  };
}

/** Starts the clock: an answer that comes too soon was not seen by a person. */
function timed({ minMs, now }: AskTerms): (answer: PersonAnswer) => PersonAnswer {
  const askedAt = now();
  return (answer) => (now() - askedAt < minMs() ? UNSEEN : answer);
}

/** A call is done, or it asks the person something. */
export type Turn =
  | { readonly kind: 'done'; readonly result: FaceResult }
  | { readonly kind: 'asks'; readonly question: PersonQuestion; readonly state: string };

type Open = Pick<FaceCall, 'name' | 'args' | 'signal' | 'progress'>;

/** Calls that wait for the answer to a question. */
export class WaitingCalls {
  readonly #waiting = new Map<string, WaitingCall>();
  readonly #terms: AskTerms;

  constructor(terms: AskTerms) {
    this.#terms = terms;
  }

  /** `state` and `answer` come from the client and may be anything. */
  async turn(
    call: Open,
    back: { readonly state: unknown; readonly answer: unknown },
    start: (around: Pick<FaceCall, 'signal' | 'progress' | 'ask'>) => Promise<FaceResult>,
  ): Promise<Turn> {
    const known = typeof back.state === 'string' ? this.#take(back.state, call) : undefined;
    const waiting = known ?? new WaitingCall(call, start, this.#terms);
    known?.answer(back.answer);
    const turn = await waiting.next(call);
    if (turn.kind === 'done') return turn;
    const state = randomUUID(); // cannot be guessed, and is good for one answer
    this.#waiting.set(state, waiting);
    void waiting.result.then(() => this.#waiting.delete(state));
    return { ...turn, state };
  }

  /** An answer to one call does not count for another. */
  #take(state: string, call: Open): WaitingCall | undefined {
    const found = this.#waiting.get(state);
    this.#waiting.delete(state);
    return found?.isFor(call) === true ? found : undefined;
  }
}

class WaitingCall {
  readonly result: Promise<FaceResult>;
  readonly #name: string;
  readonly #args: JsonObject;
  readonly #terms: AskTerms;
  readonly #abort = new AbortController();
  #progress: FaceCall['progress'];
  #question: { readonly asked: PersonQuestion; give(answer: unknown): void } | undefined;
  #asked: () => void = () => undefined;

  constructor(
    { name, args, progress }: Open,
    start: (around: Pick<FaceCall, 'signal' | 'progress' | 'ask'>) => Promise<FaceResult>,
    terms: AskTerms,
  ) {
    this.#terms = terms;
    this.#name = name;
    this.#args = args;
    this.#progress = progress;
    const { signal } = this.#abort;
    const report = (step: number, message: string): void => this.#progress?.(step, message);
    this.result = start({
      signal,
      ask: (question) => this.#ask(question),
      ...(progress && { progress: report }),
    });
  }

  isFor({ name, args }: Open): boolean {
    return name === this.#name && isDeepStrictEqual(args, this.#args);
  }

  answer(given: unknown): void {
    this.#question?.give(given);
  }

  /** Waits until the call is done or asks. The caller can cancel it meanwhile. */
  async next({
    signal,
    progress,
  }: Open): Promise<
    | { readonly kind: 'done'; readonly result: FaceResult }
    | { readonly kind: 'asks'; readonly question: PersonQuestion }
  > {
    this.#progress = progress;
    const abort = (): void => this.#abort.abort(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    const asks = new Promise<undefined>((resolve) => {
      this.#asked = () => resolve(undefined);
      if (this.#question !== undefined) resolve(undefined);
    });
    try {
      const result = await Promise.race([this.result, asks]);
      const question = this.#question?.asked;
      if (result !== undefined) return { kind: 'done', result };
      if (question !== undefined) return { kind: 'asks', question };
      return { kind: 'done', result: await this.result }; // its time was over at that moment
    } finally {
      this.#progress = undefined;
      signal.removeEventListener('abort', abort);
    }
  }

  #ask(asked: PersonQuestion): Promise<PersonAnswer> {
    return new Promise((resolve) => {
      const end = (answer: PersonAnswer): void => {
        clearTimeout(timer);
        this.#question = undefined;
        resolve(answer);
      };
      const timer = setTimeout(() => end(NONE), this.#terms.waitMs);
      this.#abort.signal.addEventListener('abort', () => end(NONE), { once: true });
      const judge = timed(this.#terms);
      this.#question = { asked, give: (given) => end(judge(personAnswer(given, asked))) };
      this.#asked();
    });
  }
}
