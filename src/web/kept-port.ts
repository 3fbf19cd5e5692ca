// The port of the page, kept for the next time: a link that was saved, and what the browser keeps
// for this place, are then still good. A file of this user alone; a port that is taken is not
// waited for.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { makeDirectories } from '../directories.ts';
import { processAlive, thisProcess } from '../run/processes.ts';
import { asCount, parseObject } from '../text/json.ts';

const NAME = 'ui.json';
const PORT_MAX = 65_535;

export type KeptPort = {
  readonly port: number;
  /** The server that has it, if that is alive. */
  readonly pid: number | undefined;
};

/** Undefined where none was kept. Never throws. */
export function keptPort(stateRoot: string): KeptPort | undefined {
  const json = parseObject(textIn(join(stateRoot, NAME)));
  const port = asCount(json?.port);
  if (port === undefined || port === 0 || port > PORT_MAX) return undefined;
  const [pid, startTime] = [asCount(json?.pid), asCount(json?.start_time)];
  const known = pid !== undefined && pid > 0 && startTime !== undefined;
  return { port, pid: known && processAlive({ pid, startTime }) ? pid : undefined };
}

/** Never throws: a port that is not kept is another one the next time. */
export function keepPort(stateRoot: string, port: number): void {
  const { pid, startTime } = thisProcess();
  const text = `${JSON.stringify({ port, pid, start_time: startTime })}\n`;
  const path = join(stateRoot, NAME);
  const draft = `${path}.${pid}.tmp`;
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = fs.constants;
  try {
    makeDirectories(stateRoot, 0o700);
    fs.rmSync(draft, { force: true });
    const fd = fs.openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      fs.writeSync(fd, text);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(draft, path);
  } catch {
    // A state root that cannot be written: reading it is what the page is for.
  }
}

function textIn(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return ''; // there is none yet
  }
}
