// What the tests know of an agent program: what makes it talk to the scripted model, how it is
// started without a person, and what its tools are called.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ScriptCall } from '../model/script.ts';
import type { AgentName } from '../programs.ts';

/** Where a case lives. */
export interface Places {
  readonly home: string;
  readonly project: string;
}

/** One start of the program with a prompt. */
export interface Start {
  readonly prompt: string;
  /** All tools without a question, or as the client's own rules say. */
  readonly permissions: 'all' | 'rules';
  readonly args: readonly string[];
}

export interface AgentClient {
  readonly name: AgentName;
  /** Its name for `cuff init`. */
  readonly init: string;
  /** Adds `cuff mcp` where `cuff init` does not know the program. */
  addMcp?(places: Places): void;
  /** Configuration that makes the program work alone, with the model at `url`. */
  prepare(places: Places, url: string): void;
  env(places: Places, url: string): Readonly<Record<string, string>>;
  args(start: Start): readonly string[];
  /** How a person starts it in a terminal, with settings that spare its first questions. */
  readonly window?: {
    prepare(places: Places): void;
    args(start: Start): readonly string[];
  };
  /** The call of its own shell tool. */
  shell(command: string): ScriptCall;
  /** The call of the shell tool that `cuff mcp` gives it; undefined where that is not tried. */
  readonly mcp: ((command: string) => ScriptCall) | undefined;
  /** Whether its shell can be replaced. */
  readonly hasShell: boolean;
  /** The call that ends its work, where words alone do not. */
  readonly end?: ScriptCall;
}

/** Text, or what becomes JSON. */
export function writeConfig(path: string, content: string | object): void {
  mkdirSync(dirname(path), { recursive: true });
  const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`;
  writeFileSync(path, text);
}
