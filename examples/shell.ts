// Runs a command, shows its output while it comes, and how it ended.
import { createShell } from 'cuff';

const shell = createShell();
const run = shell.start('echo building; sleep 0.1; echo oops >&2; exit 3', {
  signal: AbortSignal.timeout(60_000), // aborting it ends the run
});

for await (const event of run) {
  if (event.type === 'output')
    process[event.channel === 'stderr' ? 'stderr' : 'stdout'].write(event.bytes);
  if (event.type === 'done') console.log(event.ended.outcome);
}

// The bytes stay: for this process, the next one, and `cuff cat`.
console.log(shell.view(run.id, { kind: 'tail', linesMax: 1 }).text);
shell.close();
