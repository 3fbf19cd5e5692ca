// The helper that stays, as tests see it: its process, its socket, and calls that it serves.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { until } from '../../cli/helper.ts';
import { type Outcome, SHAPES, World } from './world.ts';

const { pi } = SHAPES;

export class ResidentWorld extends World {
  get agentEnv(): Record<string, string> {
    return { ...this.env, ...pi.env };
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
    return { child, release };
  }

  /** The same, of a call that `pid` serves: on a busy machine a client starts a helper instead. */
  async heldBy(pid: number, cwd: string) {
    for (let before = 0; ; before += 1) {
      const one = await this.held(cwd, `held${before}`);
      if (this.helpers().length === 1) return { ...one, said: `held${before}\non\n`, before };
      await one.release();
      await this.left(pid);
    }
  }

  /** All helpers but this one have ended. */
  async left(pid: number): Promise<void> {
    await until(() => this.helpers().every((one) => one === pid), 'no other is left');
    if (this.helpers().length === 0) throw new Error('it has ended');
  }
}
