// Asks a tool of `cuff_shell` about a conversation with many runs, and prints the milliseconds of
// each answer. The first answers, which read the captures, do not count.
import { createBashTools } from '../../dist/index.js';
import { interleave, timed } from '../measure.mjs';

const AT_ONCE = 8;
const WARM_UP = 3;

const { root, runs, tool, args, calls } = JSON.parse(process.argv[2]);
const made = createBashTools({
  dialect: 'cuff_shell',
  cwd: root,
  stateRoot: `${root}/state`,
  conversationId: 'bench',
});
const call = async (name, given) => {
  const { isError, text } = await made.find((one) => one.name === name).call(given);
  if (isError) throw new Error(text);
};
for (let done = 0; done < runs; done += AT_ONCE) {
  const commands = Array.from({ length: AT_ONCE }, (_, i) => `echo run ${done + i}; seq 50`);
  await Promise.all(commands.map((command) => call('shell_run', { command })));
}
const turns = { samples: () => timed(() => call(tool, args)) };
const { samples } = await interleave(calls, turns, { warmUp: WARM_UP });
await made[0].close();
console.log(JSON.stringify(samples));
