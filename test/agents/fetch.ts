// Brings every pinned program into the cache; `scripts/agents.mjs` calls it before the tests.
import { fetchProgram } from './cache.ts';
import { PROGRAMS } from './programs.ts';

export async function fetchPrograms(say: (line: string) => void): Promise<void> {
  await Promise.all(Object.values(PROGRAMS).map((program) => fetchProgram(program, { say })));
}
