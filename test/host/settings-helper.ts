// Settings files in a directory of their own, and what loading one says.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Builtins } from '../../src/host/modules.ts';
import type { ConfigProblem, JsonSchema } from '../../src/host/plugin.ts';
import { loadSettings, type Settings } from '../../src/host/settings.ts';
import { fixture } from './fixture.ts';

export class Project {
  readonly directory = mkdtempSync(join(tmpdir(), 'cuff-settings-'));
  env: Record<string, string> = { HOME: this.path('home') };

  path(...names: string[]): string {
    return join(this.directory, ...names);
  }

  write(name: string, text: string | Uint8Array): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  load(text?: string | Uint8Array): Promise<Settings> {
    if (text !== undefined) this.write('settings.yml', text);
    const { directory: cwd, env } = this;
    return loadSettings({ cwd, env, builtins: BUILTINS, trusted: true });
  }

  /** The problems of a settings file, each without the file in front. */
  async problems(text: string | Uint8Array): Promise<string[]> {
    const error = await this.load(text).then(
      () => undefined,
      (reason: Error & { code: string }) => reason,
    );
    if (error === undefined) return [];
    if (error.code !== 'settings_invalid') throw error;
    const lines = error.message.split('\n');
    const file = `${this.path('settings.yml')}:`;
    return lines.map((line) => (line.startsWith(file) ? line.slice(file.length) : `?? ${line}`));
  }

  close(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const shellSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    recording: {
      type: 'object',
      additionalProperties: false,
      properties: { enabled: { type: 'boolean' }, directory: { type: 'string' } },
    },
    token: { type: 'string' },
  },
};

function shellProblems(config: unknown): ConfigProblem[] {
  const { recording, ...others } = config as Record<string, Record<string, unknown>>;
  return [
    ...Object.keys(others)
      .filter((key) => key !== 'token')
      .map((key) => ({ path: [key], message: 'unknown key' })),
    ...Object.entries(recording ?? {}).flatMap(([key, value]) => {
      const path = ['recording', key];
      if (key === 'directory' && typeof value !== 'string') {
        return [{ path, message: `expected text, found ${value}` }];
      }
      if (key === 'enabled' && typeof value !== 'boolean') {
        return [{ path, message: `expected a boolean, found ${value}` }];
      }
      return ['directory', 'enabled'].includes(key) ? [] : [{ path, message: 'unknown key' }];
    }),
  ];
}

export const BUILTINS: Builtins = {
  bash_recorder: fixture({ checkConfig: shellProblems, configSchema: shellSchema }),
  derun: fixture({}),
};
