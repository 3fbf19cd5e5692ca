// The helper that stays, as tests see it: its process, its socket, and calls that it serves.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { until } from '../../cli/helper.ts';
import { FACT_MS_MAX } from '../../pace.ts';
import { type Outcome, SHAPES, World, type WorldOptions } from './world.ts';

const { pi } = SHAPES;

/** Of a machine that is ever so slow. */
const PATIENT = { 'helper-ms': FACT_MS_MAX, 'hello-ms': FACT_MS_MAX, 'idle-ms': 10 * FACT_MS_MAX };

/** Its clients wait for the helper that stays, so that it serves each call that it could serve. */
export class ResidentWorld extends World {
  constructor(options: WorldOptions = {}) {
    super({ waits: PATIENT, ...options });
  }

  /** From here on they leave it for one of their own as soon as those of a user do. */
  hurry(): void {
    this.#edit(/^hello-ms .*\n/m, '');
  }

  get agentEnv(): Record<string, string> {
    return { ...this.env, ...pi.env };
  }

  /** From here on helpers wait for the word that begins so many of them. */
  delayHelpers(): (count: number) => void {
    const gate = join(this.base, 'gate');
    execFileSync('mkfifo', [gate]);
    const node = join(this.base, 'node');
    const text = `#!/bin/sh\nread word < ${gate}\nexec ${process.execPath} "$@"\n`;
    fs.writeFileSync(node, text, { mode: 0o700 });
    this.#edit(/^node .*/m, `node ${node}`);
    const opened = fs.openSync(gate, 'r+');
    return (count) => {
      fs.writeSync(opened, 'on\n'.repeat(count));
    };
  }

  #edit(line: RegExp, by: string): void {
    const client = join(this.files.shells, 'client');
    fs.writeFileSync(client, fs.readFileSync(client, 'utf8').replace(line, by));
  }

  record(command: string, cwd: string): Promise<Outcome> {
    return this.call(pi, command, cwd);
  }

  commands(cwd: string): string[] {
    return this.entries(cwd).map(({ command }) => command);
  }

  /** The pid of the one that stays, once it is ready for the next call. */
  async resident(): Promise<number> {
    await this.record('true', this.project());
    const ready = () => this.sockets().length === 1 && this.helpers().length === 1;
    await until(ready, 'a helper stays');
    return this.helpers()[0] ?? 0;
  }

  sockets(): string[] {
    const directory = join(this.root, 'helpers');
    if (!fs.existsSync(directory)) return [];
    return fs.readdirSync(directory).filter((name) => !name.startsWith('.'));
  }

  socketPath(): string {
    return join(this.root, 'helpers', this.sockets()[0] ?? '');
  }

  /** A call whose command is running, and waits for its release. */
  async held(cwd: string, name = 'held') {
    const fifo = join(cwd, name);
    execFileSync('mkfifo', [fifo]);
    const argv = [this.files.bash, '-c', `echo ${name}; read x < ${name}; echo $x`];
    const { child, outcome } = this.run({ cwd, argv, env: this.agentEnv });
    await once(child.stdout ?? child, 'data');
    const release = () => {
      fs.writeFileSync(fifo, 'on\n');
      return outcome;
    };
    return { child, release, said: `${name}\non\n` };
  }

  /** The same, of a call that this one serves, and no other lives. */
  async heldBy(pid: number, cwd: string) {
    const one = await this.held(cwd);
    const all = this.helpers();
    if (all.length !== 1 || all[0] !== pid) throw new Error(`helpers ${all}, and not ${pid}`);
    return one;
  }

  /** All helpers but this one have ended. */
  async left(pid: number): Promise<void> {
    await until(() => this.helpers().every((one) => one === pid), 'no other is left');
    if (this.helpers().length === 0) throw new Error('it has ended');
  }
}
