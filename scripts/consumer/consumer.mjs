// A stranger's program: imports the installed library and runs a command with it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createShell } from 'cuff';

const stateRoot = mkdtempSync(join(tmpdir(), 'cuff-consumer-'));
const shell = createShell({ stateRoot });
const run = shell.start('echo from the library; exit 3');
const { outcome } = await run.done;
assert.deepEqual(outcome, { kind: 'exited', code: 3 });
assert.equal(shell.view(run.id, { kind: 'raw' }).text, 'from the library\n');
assert.equal(shell.backend, process.platform === 'linux' ? 'native' : 'portable');
shell.close();
await run.closed;
rmSync(stateRoot, { recursive: true });
