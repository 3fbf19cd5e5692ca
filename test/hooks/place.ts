// A project with a policy and a user of its own, and hooks that are answered in this process.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import * as recording from '../../src/cli/hook-record.ts';
import { answerHook, type HookOptions } from '../../src/hooks/answer.ts';
import { type Intent, intentsDir } from '../../src/hooks/intent.ts';
import { readEdits } from '../../src/journal/edits.ts';
import { journalSessionIds, readSession } from '../../src/journal/reader.ts';
import type { JsonObject } from '../../src/text/json.ts';
import type { Entry } from '../../src/types.ts';

const SAMPLES = join(import.meta.dirname, '..', '..', '..', 'shared', 'agents-samples');

/** Real payloads, where they lie beside the repository. */
export const NO_SAMPLES = !fs.existsSync(SAMPLES);

export function samples(name: string): readonly string[] {
  return fs.readFileSync(join(SAMPLES, name), 'utf8').trim().split('\n');
}

export class HookPlace {
  readonly dir = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'cuff-hook-')));
  readonly project = join(this.dir, 'project');
  readonly env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: join(this.dir, 'home'),
    CUFF_STATE_ROOT: join(this.dir, 'state'),
    XDG_CONFIG_HOME: join(this.dir, 'config'),
  };
  now = Date.parse('2026-11-18T12:00:00.000Z');

  constructor(policy?: string) {
    for (const name of ['project', 'home']) fs.mkdirSync(join(this.dir, name));
    if (policy !== undefined) this.write('config/cuff/policy.yml', policy);
    onTestFinished(() => fs.rmSync(this.dir, { recursive: true, force: true }));
  }

  write(name: string, text: string): string {
    const path = join(this.dir, name);
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.writeFileSync(path, text);
    return path;
  }

  /** The answer; what is done afterwards is done. */
  async hook(
    payload: JsonObject,
    options: Partial<Pick<HookOptions, 'agent' | 'mode' | 'rewrite'>> = {},
  ): Promise<JsonObject | undefined> {
    const { answer, afterwards } = await answerHook(payload, {
      agent: undefined,
      mode: 'enforce',
      rewrite: false,
      env: this.env,
      now: () => this.now,
      systemFile: join(this.dir, 'none.yml'),
      recording: async () => recording,
      ...options,
    });
    await afterwards?.();
    return answer;
  }

  /** A sample, as if it had happened in this project. */
  moved(line: string): JsonObject {
    return JSON.parse(line.replaceAll('/tmp/x/t/proj', this.project));
  }

  intents(): readonly Intent[] {
    const directory = intentsDir(this.env);
    if (!fs.existsSync(directory)) return [];
    const names = fs.readdirSync(directory).filter((name) => name.endsWith('.intent'));
    return names.map((name) => {
      const [, json = ''] = fs.readFileSync(join(directory, name), 'utf8').split('\n');
      return JSON.parse(json);
    });
  }

  get journal(): string {
    return join(this.project, '.cuff', 'recordings');
  }

  entries(): readonly Entry[] {
    return journalSessionIds(this.journal).flatMap(
      (id) => readSession(this.journal, id)?.entries ?? [],
    );
  }

  edits() {
    return journalSessionIds(this.journal).flatMap((id) => readEdits(this.journal, id));
  }

  /** The text of every file that was made, for what must be in none of them. */
  everything(): string {
    return fs
      .readdirSync(this.dir, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => fs.readFileSync(join(file.parentPath ?? file.path, file.name), 'utf8'))
      .join('\n');
  }
}

/** The words of an answer, whatever form its agent has. */
export function reasonOf(answer: JsonObject | undefined): string {
  const text = JSON.stringify(answer ?? {});
  const found =
    /"(?:permissionDecisionReason|reason|agent_message|errorMessage)":"((?:[^"\\]|\\.)*)"/;
  return JSON.parse(`"${found.exec(text)?.[1] ?? ''}"`);
}
