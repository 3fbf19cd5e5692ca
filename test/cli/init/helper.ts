// A project and a home of their own for `cuff init`, which runs as the real program.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { binary } from '../helper.ts';

export type Ran = { readonly code: number; readonly out: string; readonly err: string };

export class Place {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-init-')));
  readonly project = join(this.root, 'project');
  readonly home = join(this.root, 'home');

  constructor() {
    for (const folder of [this.project, this.home, join(this.root, 'bin')]) mkdirSync(folder);
    symlinkSync(binary('cuff'), join(this.root, 'bin', 'cuff'));
  }

  get env(): NodeJS.ProcessEnv {
    const { CUFF_SETTINGS: _, XDG_CONFIG_HOME: __, CODEX_HOME: ___, ...env } = process.env;
    const PATH = `${join(this.root, 'bin')}:${process.env.PATH}`;
    const own = { HOME: this.home, PATH, CUFF_STATE_ROOT: join(this.root, 'state') };
    // How soon a hook answers on a busy machine is not tested.
    return { ...env, ...own, CUFF_HOOK_DEADLINE_MS: '9000' };
  }

  /** Without a terminal. */
  async init(args = '', env: NodeJS.ProcessEnv = {}): Promise<Ran> {
    return this.cuff(`init ${args}`, env);
  }

  /** As a client calls it, with this document. */
  async hook(document: string, env: NodeJS.ProcessEnv = {}): Promise<Ran> {
    return this.cuff('hook', env, document);
  }

  async cuff(args: string, env: NodeJS.ProcessEnv = {}, input?: string): Promise<Ran> {
    const words = [binary('cuff'), ...args.split(' ').filter(Boolean)];
    const child = spawn(process.execPath, words, {
      cwd: this.project,
      env: { ...this.env, ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: true, // a session of its own has no terminal
    });
    let [out, err] = ['', ''];
    child.stdin?.end(input);
    child.stdout?.on('data', (piece) => {
      out += piece;
    });
    child.stderr?.on('data', (piece) => {
      err += piece;
    });
    const [code] = await once(child, 'close');
    return { code, out, err };
  }

  write(name: string, text: string): string {
    const path = join(this.project, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  read(name: string): string {
    return readFileSync(join(this.project, name), 'utf8');
  }

  has(name: string): boolean {
    return existsSync(join(this.project, name));
  }

  /** Every file of the project and the home, with its content. */
  files(): Record<string, string> {
    const names = readdirSync(this.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const own = names.filter((name) => !name.startsWith(join(this.root, 'state')));
    return Object.fromEntries(
      own.map((name) => [name.slice(this.root.length + 1), readFileSync(name, 'utf8')]),
    );
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
