// A redaction of an encrypted capture that is killed at its disk operations.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { identityText } from '../../../src/age/x25519.ts';
import { redactCapture } from '../../../src/sealing/redact/capture.ts';
import { WHOLE_CAPTURE } from '../../../src/sealing/redact/whole-capture.ts';
import { compile } from '../../capture/helper.ts';
import { closedCapture, mine, secretIn } from './encrypted-world.ts';

/** Dies within operation N. */
function program(): string {
  return compile(`
    import * as fs from 'node:fs';
    import { Ledger } from '../../src/sealing/ledger.ts';
    import { redactCapture } from '../../src/sealing/redact/capture.ts';
    import { WHOLE_CAPTURE } from '../../src/sealing/redact/whole-capture.ts';
    import { processAlive, thisProcess } from '../../src/run/processes.ts';
    import { storeOf } from '../../src/shell/captures.ts';
    const [stateRoot, run, killAt] = process.argv.slice(2);
    let count = 0;
    const files = { ...fs };
    for (const name of ['openSync', 'writeSync', 'fsyncSync', 'renameSync', 'unlinkSync']) {
      files[name] = (...args) => {
        count += 1;
        if (count === Number(killAt)) process.kill(process.pid, 'SIGKILL');
        return fs[name](...args);
      };
    }
    const owner = thisProcess();
    const ledger = new Ledger({ stateRoot, owner, alive: processAlive, now: Date.now });
    const store = storeOf({ ...process.env, CUFF_STATE_ROOT: stateRoot });
    await redactCapture(run, WHOLE_CAPTURE, { ledger, store, owner, why: 'killed', files });
    await ledger.close();
    process.stdout.write(String(count));
  `);
}

it('killed anywhere, it leaves no plain byte, and is finished by the next one', async () => {
  const file = program();
  let operations = Number.POSITIVE_INFINITY;
  for (let kill = 0; kill <= operations; kill += 3) {
    const { world, ledger, id, dir } = await closedCapture();
    await ledger.close();
    const identity = join(world.dir, 'identity');
    fs.writeFileSync(identity, identityText(mine), { mode: 0o600 });
    const env = { ...process.env, CUFF_IDENTITY: identity };
    const args = [file, world.root, id, String(kill)];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let printed = '';
    child.stdout.on('data', (piece) => {
      printed += piece;
    });
    await once(child, 'close');
    if (kill === 0) operations = Number(printed);
    expect([kill, world.filesWith('SECRET-WORDS')]).toEqual([kill, []]);
    const after = world.ledger();
    expect([kill, (await world.verified(after)).intact]).toEqual([kill, true]);
    await redactCapture(id, WHOLE_CAPTURE, world.context(after));
    expect([kill, secretIn(dir), world.filesWith('SECRET-WORDS')]).toEqual([kill, [], []]);
    expect([kill, (await world.verified(after)).intact]).toEqual([kill, true]);
  }
  expect(operations).toBeGreaterThan(40);
}, 600_000);
