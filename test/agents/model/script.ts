// What the scripted model says: for each prompt a list of turns, chosen by a mark in the prompt, so
// that a subagent, whose prompt the main agent writes, has turns of its own. Which turn is next is
// counted in the conversation that the client sends, never kept here: a client that asks twice gets
// the same answer twice.

/** A call of a tool. `name` is the tool's own name, or a pattern that one offered tool matches. */
export interface ScriptCall {
  readonly name: string | RegExp;
  /** What goes with it; where the client gave a name that it needs, made from the last result. */
  readonly input: Input | ((last: string) => Input);
}

type Input = Readonly<Record<string, unknown>>;

/** One answer of the model: calls, or the words that end its work. */
type Turn = ({ readonly calls: readonly ScriptCall[] } | { readonly text: string }) & {
  /** The answer is held back until then, and the agent with it. */
  readonly after?: Promise<unknown>;
};

/** Turns by the mark of their prompt; behind the last one the model says `done`. */
export type Script = Readonly<Record<string, readonly Turn[]>>;

/** What the client offers. A tool of a namespace is called with it. */
export interface OfferedTool {
  readonly name: string;
  readonly namespace?: string;
}

export interface ToolResult {
  readonly id: string;
  readonly text: string;
  readonly failed: boolean;
}

/** A client's request, whichever protocol it came in. */
export interface Conversation {
  readonly prompts: readonly string[];
  /** How often the model has answered in it. */
  readonly answers: number;
  readonly tools: readonly OfferedTool[];
  readonly results: readonly ToolResult[];
}

interface ModelCall extends OfferedTool {
  readonly id: string;
  readonly input: Input;
}

export interface Reply {
  readonly text: string;
  readonly calls: readonly ModelCall[];
}

/** In a prompt: `[[mark]]`. */
const MARK = /\[\[([\w-]+)\]\]/;

export function markOf({ prompts }: Conversation): string | undefined {
  return prompts.map((text) => MARK.exec(text)?.[1]).find((mark) => mark !== undefined);
}

/** The answer that the script has for this state of the conversation. */
export async function replyTo(conversation: Conversation, script: Script): Promise<Reply> {
  const mark = markOf(conversation);
  // A request without tools asks for a title or a summary, not for the next step.
  if (mark === undefined || conversation.tools.length === 0) return { text: 'done', calls: [] };
  const turn = script[mark]?.[conversation.answers];
  if (turn === undefined) return { text: 'done', calls: [] };
  await turn.after;
  if ('text' in turn) return { text: turn.text, calls: [] };
  const last = conversation.results.at(-1)?.text ?? '';
  const calls = turn.calls.map(({ name, input }, index) => ({
    ...offered(name, conversation.tools),
    id: `call_${mark}_${conversation.answers}_${index}`,
    input: typeof input === 'function' ? input(last) : input,
  }));
  return { text: '', calls };
}

/** A tool that is not offered is called all the same: the client then says so in its result. */
function offered(name: string | RegExp, tools: readonly OfferedTool[]): OfferedTool {
  if (typeof name === 'string') return tools.find((tool) => tool.name === name) ?? { name };
  return tools.find((tool) => name.test(fullName(tool))) ?? { name: `no-tool-like-${name.source}` };
}

export function fullName({ namespace = '', name }: OfferedTool): string {
  return namespace + name;
}
