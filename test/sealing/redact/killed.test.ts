// A redaction that is killed at every one of its disk operations: no line is lost, nothing that a
// verifier calls wrong is left, and the same redaction, asked for again, finishes it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readSession } from '../../../src/journal/reader.ts';
import { redactCapture } from '../../../src/sealing/redact/capture.ts';
import { redactEntry } from '../../../src/sealing/redact/entry.ts';
import { WHOLE_CAPTURE } from '../../../src/sealing/redact/whole-capture.ts';
import { compile } from '../../capture/helper.ts';
import { RedactWorld } from './helper.ts';

/** Dies within operation N, counted over both redactions; prints how many it made. */
function program(): string {
  return compile(`
    import * as fs from 'node:fs';
    import { DISK } from '../../src/journal/files.ts';
    import { Ledger } from '../../src/sealing/ledger.ts';
    import { redactCapture } from '../../src/sealing/redact/capture.ts';
    import { redactEntry } from '../../src/sealing/redact/entry.ts';
    import { WHOLE_CAPTURE } from '../../src/sealing/redact/whole-capture.ts';
    import { processAlive, thisProcess } from '../../src/run/processes.ts';
    import { openStore } from '../../src/shell/store.ts';
    const [directory, stateRoot, session, run, killAt] = process.argv.slice(2);
    let count = 0;
    const counted = (disk) => {
      const all = { ...disk };
      for (const name of Object.keys(disk).filter((one) => /Sync$|^write$|^sync$/.test(one))) {
        if (typeof disk[name] !== 'function' || /stat|exists|read/i.test(name)) continue;
        all[name] = (...args) => {
          count += 1;
          if (count === Number(killAt)) process.kill(process.pid, 'SIGKILL');
          return disk[name](...args);
        };
      }
      return all;
    };
    const owner = thisProcess();
    const disk = counted(DISK);
    const ledger = new Ledger({ stateRoot, owner, alive: processAlive, now: Date.now, disk });
    const context = { ledger, store: openStore(stateRoot), owner, why: 'killed', disk };
    await redactEntry({ directory, session, sequence: 2, parts: ['stdout', 'text'] }, context);
    await redactCapture(run, WHOLE_CAPTURE, { ...context, files: counted({ ...fs }) });
    process.stdout.write(String(count));
  `);
}

it('leaves a record that is whole, and is finished by the next one', async () => {
  const file = program();
  let operations = Number.POSITIVE_INFINITY;
  for (let kill = 0; kill <= operations; kill += 1) {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const drafts = [{ command: 'a' }, { command: 'b', stdout: 'SECRET' }, { command: 'c' }];
    const session = await world.sessionOf(ledger, drafts);
    const { id } = await world.captureOf(ledger, { output: 'SECRET\n', command: 'x SECRET' });
    await ledger.close();
    const args = [file, world.journal, world.root, session, id, String(kill)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let printed = '';
    child.stdout.on('data', (piece) => {
      printed += piece;
    });
    await once(child, 'close');
    if (kill === 0) operations = Number(printed);

    const numbers = readSession(world.journal, session)?.entries.map((one) => one.sequence_number);
    expect([kill, numbers]).toEqual([kill, [1, 2, 3]]);
    const after = world.ledger();
    expect([kill, (await world.verified(after)).intact]).toEqual([kill, true]);
    const context = world.context(after, { why: 'killed' });
    const request = { directory: world.journal, session, sequence: 2 };
    await redactEntry({ ...request, parts: ['stdout', 'text'] }, context);
    await redactCapture(id, WHOLE_CAPTURE, context);
    expect([kill, world.filesWith('SECRET')]).toEqual([kill, []]);
    const { intact, words } = await world.verified(after);
    expect([kill, intact, words[0]]).toEqual([
      kill,
      true,
      '1 entry was redacted: text,stdout, "killed"',
    ]);
    expect(fs.existsSync(join(world.root, 'sessions', id, 'output.bin'))).toBe(true);
  }
  expect(operations).toBeGreaterThan(25);
}, 600_000);
