// The thread that answers questions which take their time: one after the other, each as a text that
// is sent as it is. It may be ended at any moment, and changes nothing.

import { parentPort, workerData } from 'node:worker_threads';
import { storeOf } from '../shell/captures.ts';
import { Fault, faultOf } from './fault.ts';
import { Params } from './params.ts';
import { activity } from './questions/activity.ts';
import { find } from './questions/find.ts';
import type { Question } from './questions/ground.ts';
import { health, storage } from './questions/health.ts';
import { check, lint, policy, whatif } from './questions/policy.ts';
import { search } from './questions/search.ts';
import { stats } from './questions/stats.ts';
import { trace, writes } from './questions/trace.ts';
import { proof, seal, verify } from './questions/verify.ts';
import type { Answer, Order, ThreadPlace } from './thread.ts';

const QUESTIONS: Readonly<Record<string, Question>> = {
  activity,
  check,
  find,
  health,
  lint,
  policy,
  proof,
  seal,
  search,
  stats,
  storage,
  trace,
  verify,
  whatif,
  writes,
};

const { env, cwd } = workerData as ThreadPlace;
const store = storeOf(env);

parentPort?.on('message', async (order: Order) => {
  parentPort?.postMessage(await answered(order));
});

async function answered({ number, name, id, query, body, journals }: Order): Promise<Answer> {
  try {
    const question = QUESTIONS[name];
    if (question === undefined) throw new Fault(404, 'There is no such question.');
    const params = new Params(new URLSearchParams(query), question.params, store.now());
    const value = await question.answer({ env, cwd, store, journals }, { id, params, body });
    return { number, text: JSON.stringify(value) };
  } catch (error) {
    const fault = faultOf(error);
    if (fault === undefined) throw error; // the thread ends, and the question fails
    const { status, code, message, hint } = fault;
    return { number, status, code, message, hint };
  }
}
