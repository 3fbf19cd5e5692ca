// Runs one command again and again, by the tool of a dialect or with the bare library, and prints
// the milliseconds of each.
import { createBashTool, createShell } from '../../dist/index.js';
import { interleave, timed } from '../measure.mjs';

const question = JSON.parse(process.argv[2]);
const { side, dialect, root, command, rounds, recording = true, view = true, trace } = question;
const { one, close } = side === 'dialect' ? tool() : library();
const warmUp = rounds > 10 ? 20 : 1;
const { samples } = await interleave(rounds, { samples: () => timed(one) }, { warmUp });
await close();
console.log(JSON.stringify(samples));

function tool() {
  const made = createBashTool({ dialect, cwd: root, stateRoot: `${root}/state`, recording });
  const args = dialect === 'codex' ? { cmd: command, login: false } : { command };
  return {
    async one() {
      const { isError, text } = await made.call(args);
      if (isError) throw new Error(text);
    },
    close: () => made.close(),
  };
}

function library() {
  const shell = createShell({ cwd: root, stateRoot: `${root}/state` });
  return {
    async one() {
      const run = shell.start(command, { trace });
      const { outcome } = await run.done;
      if (outcome.kind !== 'exited') throw new Error(JSON.stringify(outcome));
      if (view) shell.view(run.id, { kind: 'tail', bytesMax: 51_200 });
    },
    close: async () => shell.close(),
  };
}
