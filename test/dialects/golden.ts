// Golden answers: what the tools of a dialect said, held against files that a person has read. The
// cases are one table, `cases/`; this is what a row can say and how it is played. What is different
// each time (paths, ids, pids, times) is made equal first. `UPDATE_GOLDEN=1` writes the files.
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { CallContext, Plugin, PluginClass, ToolResult } from '../../src/host/plugin.ts';
import { withTime } from '../pace.ts';
import { call, World } from '../recorder/helper.ts';

export type Replacement = readonly [RegExp, string];
type Args = Readonly<Record<string, unknown>>;

/** What all cases of a dialect have in common. */
export type GoldenDialect = {
  readonly name: string;
  readonly plugin: PluginClass;
  readonly world?: () => World;
  /** What is made equal, in this order. */
  readonly masked: readonly Replacement[];
  /** Stands between the texts of one file. */
  readonly between?: string;
  readonly extension?: string;
  /** What of an answer the file has: its text, unless this says otherwise. */
  readonly shown?: (answer: ToolResult) => string;
  readonly cases: readonly GoldenCase[];
};

/** One story: a plugin with a world of its own, calls in order, and the files they fill. */
export type GoldenCase = {
  /** Given the time in milliseconds that calls have, see `firstMs`. */
  readonly config?: Args | ((ms: number) => Args);
  /**
   * The time that calls have at first. While a text has not what its step says is `printed`, the
   * story is played again with more: how fast a machine is is not what is tested.
   */
  readonly firstMs?: number;
  readonly steps: readonly Step[];
  /** What must be true besides the texts, when all is over. */
  readonly facts?: (stage: Stage) => void;
};

/** A step whose text goes into the golden files that it names. */
type Shown = { readonly golden?: string | readonly string[]; readonly printed?: RegExp };

export type Step = Shown &
  (
    | {
        readonly tool: string;
        readonly args?: Args | ((stage: Stage) => Args);
        readonly about?: Partial<CallContext>;
        readonly success?: boolean;
        /** The call stands above its answer. */
        readonly withCall?: true;
      }
    /** The definitions of all tools. */
    | { readonly tools: true }
    /** A text that is not the answer of a call, or only something to do or to wait for. */
    | { readonly text: (stage: Stage) => Promise<string> | string }
    | { readonly after: (stage: Stage) => Promise<void> | void }
  );

/** A story while it is played. */
export class Stage {
  readonly world: World;
  readonly plugin: Plugin;
  readonly ms: number;
  /** Of all calls until now. */
  readonly texts: string[] = [];
  readonly files = new Map<string, string[]>();
  /** The text that had not what its step says is printed; the story ended there. */
  tooEarly: string | undefined;

  constructor(world: World, plugin: Plugin, ms: number) {
    this.world = world;
    this.plugin = plugin;
    this.ms = ms;
  }

  /** The first group of a pattern in the newest text that has it. */
  found(pattern: RegExp): string {
    const matches = this.texts.map((text) => pattern.exec(text)?.[1]);
    return matches.findLast((match) => match !== undefined) ?? '';
  }

  /** A file in the project. */
  write(name: string, content: string | Uint8Array = ''): void {
    fs.writeFileSync(join(this.world.project, name), content);
  }
}

const FIRST_MS = 1_000;

/** One time of any length is as good as another. */
export const ALWAYS: readonly Replacement[] = [
  [/\b\d{8}-\d{6}-[0-9a-f]{8}\b/g, 'RUN'],
  [/\b(pids?|PID|process(?: group)?|PGID)([:= ]+|="|": )-?\d+\b/gi, '$1$21234'],
  [/(kill(?: -\w+)? -?)\d{2,}\b/g, '$11234'],
  [/\b\d+m \d+(?:\.\d+)?s\b/g, '0m 0.0s'],
  [/\b\d+(?:\.\d+)? ?(ms|seconds?|minutes?)\b/g, '0 $1'],
  [/\b\d+(?:\.\d+)? ?s\b/g, '0 s'],
  [/("\w*(?:_ms|_seconds|At|_at)": )\d+(?:\.\d+)?/g, '$10'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '2026-01-18T14:30:52Z'],
];

/** The files that a case fills, by their names. */
export function filesOf({ steps }: GoldenCase): string[] {
  return [...new Set(steps.flatMap(goldenOf))];
}

function goldenOf({ golden = [] }: Step): readonly string[] {
  return typeof golden === 'string' ? [golden] : golden;
}

/** Plays a case, and compares every file that it fills. */
export async function expectGolden(dialect: GoldenDialect, one: GoldenCase): Promise<void> {
  const attempt = (ms: number) => play(dialect, one, ms);
  const whole = ({ tooEarly }: Stage) => tooEarly === undefined;
  const stage = await withTime(one.firstMs ?? FIRST_MS, attempt, whole);
  expect(stage.tooEarly, 'what should be printed is not in it').toBeUndefined();
  const { between = '\n---\n', extension = 'txt' } = dialect;
  for (const [name, texts] of stage.files) {
    const path = goldenPath(dialect.name, `${name}.${extension}`);
    const now = `${steady(texts.join(between), stage.world, dialect.masked)}\n`;
    if (process.env.UPDATE_GOLDEN === '1') write(path, now);
    expect(read(path, now), `${dialect.name}/${name}`).toEqual(read(path));
  }
  one.facts?.(stage);
}

async function play(dialect: GoldenDialect, one: GoldenCase, ms: number): Promise<Stage> {
  const world = dialect.world?.() ?? new World();
  const config = typeof one.config === 'function' ? one.config(ms) : one.config;
  const stage = new Stage(world, await world.open(dialect.plugin, config), ms);
  for (const step of one.steps) {
    const text = await textOf(step, stage, dialect);
    if (step.printed?.test(text) === false) {
      stage.tooEarly = text;
      return stage;
    }
    for (const name of goldenOf(step)) {
      stage.files.set(name, [...(stage.files.get(name) ?? []), text]);
    }
  }
  return stage;
}

async function textOf(step: Step, stage: Stage, dialect: GoldenDialect): Promise<string> {
  if ('tools' in step) return JSON.stringify(stage.plugin.getTools(), null, 2);
  if ('text' in step) return step.text(stage);
  if ('after' in step) {
    await step.after(stage);
    return '';
  }
  const args = typeof step.args === 'function' ? step.args(stage) : (step.args ?? {});
  const answer = await call(stage.plugin, step.tool, args, step.about);
  stage.texts.push(answer.text);
  if (step.success !== undefined) expect(answer.success, answer.text).toBe(step.success);
  const text = dialect.shown?.(answer) ?? answer.text;
  return step.withCall === true ? `${step.tool} ${JSON.stringify(args)}\n${text}` : text;
}

/** Text to the byte. How a JSON file is laid out is the formatter's business. */
function read(path: string, text = fs.readFileSync(path, 'utf8')): unknown {
  return path.endsWith('.json') ? JSON.parse(text) : text;
}

function write(path: string, text: string): void {
  fs.mkdirSync(dirname(path), { recursive: true });
  if (!fs.existsSync(path) || !isDeepStrictEqual(read(path), read(path, text))) {
    fs.writeFileSync(path, text);
  }
}

function steady(text: string, { dir }: World, masked: readonly Replacement[]): string {
  return masked.reduce((all, [found, by]) => all.replace(found, by), text.replaceAll(dir, ''));
}

/** What a golden file says, for documents that show the same answers. */
export function goldenText(dialect: string, file: string): string {
  return fs.readFileSync(goldenPath(dialect, file), 'utf8').replace(/\n$/, '');
}

/** Every golden file there is, as `dialect/name.txt`. */
export function goldenFiles(): string[] {
  const root = goldenPath('', '');
  return fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.includes('/'))
    .sort();
}

function goldenPath(dialect: string, file: string): string {
  return join(import.meta.dirname, 'golden', dialect, file);
}
