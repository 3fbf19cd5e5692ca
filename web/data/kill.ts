// Ends a run, after the reader said so.
import type { KillAnswer } from '../../src/web/api.ts';
import { post, Refusal } from './client.ts';
import { say } from './view.ts';

export async function kill(id: string, then: () => void): Promise<void> {
  if (!confirm(`End the run ${id}? Its processes get TERM, and KILL some seconds later.`)) return;
  try {
    const { result } = await post<KillAnswer>('kill', { id });
    say(`${id}: ${result.replaceAll('_', ' ')}.`);
    then();
  } catch (error) {
    if (error instanceof Refusal) say(error.message);
  }
}
