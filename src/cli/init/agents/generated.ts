// The files that are all ours: a plugin for OpenCode, an extension for pi, a program for Cline.
// Each hands the call to `cuff hook` and does what that answers. They must work without this
// package beside them, so each is one file that imports nothing but Node.

import { MARK } from '../edits.ts';

/** A Cline hook is a program that is called by its name. */
export function clineHook(line: string): string {
  return `#!/bin/sh\n# ${MARK}\nexec ${line}\n`;
}

/** What both modules share: one call of `cuff hook`, its answer or nothing. */
function asking(cuff: string, agent: string): string {
  return `// ${MARK}
import { spawn } from "node:child_process";

const CUFF = ${JSON.stringify(cuff)};
const DEADLINE_MS = 10000;

/** The answer of \`cuff hook\`, or nothing: where it fails, the shell of cuff still decides. */
function ask(event) {
  return new Promise((resolve) => {
    const child = spawn(CUFF, ["hook", "--agent", "${agent}"], {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: DEADLINE_MS,
    });
    let text = "";
    child.on("error", () => resolve(undefined));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (piece) => {
      text += piece;
    });
    child.on("close", () => {
      try {
        resolve(JSON.parse(text));
      } catch {
        resolve(undefined);
      }
    });
    child.stdin.end(JSON.stringify(event));
  });
}
`;
}

export function openCodePlugin(cuff: string): string {
  return `${asking(cuff, 'opencode')}
export const Cuff = async ({ directory: cwd }) => ({
  "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
    const answer = await ask({ before: { tool, sessionID, callID }, args, cwd });
    if (answer?.block === true) throw new Error(answer.reason);
  },
  "tool.execute.after": async ({ tool, sessionID, callID, args }, { output, metadata }) => {
    await ask({ after: { tool, sessionID, callID, args }, out: { output, metadata }, cwd });
  },
});
`;
}

export function piExtension(cuff: string): string {
  return `${asking(cuff, 'pi')}
export default function (pi) {
  // Its commands get the session as PI_SESSION_ID; pi itself does not have that variable.
  const facts = ({ toolName, toolCallId, input }, context) => ({
    toolName,
    toolCallId,
    input,
    cwd: process.cwd(),
    session: context?.sessionManager?.getSessionId?.(),
  });
  pi.on("tool_call", async (event, context) => {
    const answer = await ask(facts(event, context));
    if (answer?.block === true) return { block: true, reason: answer.reason };
  });
  pi.on("tool_result", async (event, context) => {
    await ask({ ...facts(event, context), content: event.content, isError: event.isError });
  });
}
`;
}
