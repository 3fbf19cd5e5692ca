// Brings the programs of this run into the cache; `scripts/agents.mjs` calls it before the tests.
import { fetchProgram } from './cache.ts';
import { PROGRAMS, programsOfThisRun } from './programs.ts';

export async function fetchPrograms(say: (line: string) => void): Promise<void> {
  const wanted = programsOfThisRun().map((name) => PROGRAMS[name]);
  const others = wanted.flatMap(({ runtime, modules = {} }) => [
    ...(runtime === undefined ? [] : [runtime]),
    ...Object.values(modules),
  ]);
  const all = new Set([...wanted, ...others]);
  await Promise.all([...all].map((program) => fetchProgram(program, { say })));
}
