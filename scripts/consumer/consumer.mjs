// A stranger's program: imports the installed library and runs a command with it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBashTool, createShell } from 'cuff';

const stateRoot = mkdtempSync(join(tmpdir(), 'cuff-consumer-'));
const shell = createShell({ stateRoot });
const run = shell.start('echo from the library; exit 3');
const { outcome } = await run.done;
assert.deepEqual(outcome, { kind: 'exited', code: 3 });
assert.equal(shell.view(run.id, { kind: 'raw' }).text, 'from the library\n');
assert.equal(shell.backend, process.platform === 'linux' ? 'native' : 'portable');
shell.close();
await run.closed;
const tool = createBashTool({ dialect: 'bash_recorder', stateRoot, cwd: stateRoot });
assert.match(await tool.execute({ command: 'echo from a tool' }), /from a tool/);
await tool.close();
rmSync(stateRoot, { recursive: true });
