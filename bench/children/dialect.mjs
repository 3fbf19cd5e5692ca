// Runs one command again and again, by the tool of a dialect or with the bare library, and prints
// the milliseconds of each. What a large output left is removed before the next.
import { rmSync } from 'node:fs';
import { createBashTool, createShell } from '../../dist/index.js';
import { interleave, timed } from '../measure.mjs';

const WARM_UP = 20; // as many commands as a server has answered soon

const question = JSON.parse(process.argv[2]);
const { side, dialect, root, command, rounds, recording = true, view = true, trace } = question;
const { first = command, large = false } = question;
const { one, close } = side === 'dialect' ? tool() : library();
for (let i = 0; i < WARM_UP; i += 1) await one(first);
const { samples } = await interleave(rounds, { samples: sample });
await close();
console.log(JSON.stringify(samples));

async function sample() {
  const ms = await timed(() => one(command));
  if (large) rmSync(`${root}/state/sessions`, { recursive: true, force: true });
  return ms;
}

function tool() {
  const made = createBashTool({ dialect, cwd: root, stateRoot: `${root}/state`, recording });
  return {
    async one(command) {
      const args = dialect === 'codex' ? { cmd: command, login: false } : { command };
      const { isError, text } = await made.call(args);
      if (isError) throw new Error(text);
    },
    close: () => made.close(),
  };
}

function library() {
  const shell = createShell({ cwd: root, stateRoot: `${root}/state` });
  return {
    async one(command) {
      const run = shell.start(command, { trace });
      const { outcome } = await run.done;
      if (outcome.kind !== 'exited') throw new Error(JSON.stringify(outcome));
      if (view) shell.view(run.id, { kind: 'tail', bytesMax: 51_200 });
    },
    close: async () => shell.close(),
  };
}
