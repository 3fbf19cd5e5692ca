// What Gemini CLI tells its model of a shell command, and Qwen Code with it: lines `Name: value`
// around the output. The output may hold such lines itself, so it is cut out first, by the copy of
// it that the transcript has for people.

import { type CallResult, codeOf } from './call.ts';

const CONTEXT = /^<untrusted_context>\n([\s\S]*?)\n?<\/untrusted_context>$/;
const EMPTY = '(empty)';

/** `shown`: the output as a person saw it. Undefined when the text is of another form. */
export function shellReport(text: string, shown: string | undefined): CallResult | undefined {
  const report = CONTEXT.exec(text.trim())?.[1] ?? text;
  const found = split(report, shown);
  if (found === undefined) return undefined;
  const { output, behind } = found;
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}: (.*)$`, 'm').exec(behind)?.[1]?.trim();
  const code = field('Exit Code');
  const trouble = [field('Signal'), field('Error')].some(
    (one) => one !== undefined && one !== '(none)',
  );
  // Without a line for it the command ended with 0; a background process has not ended.
  const running = field('Background PIDs') !== undefined && field('Background PIDs') !== '(none)';
  const silent = trouble || running ? null : 0;
  return {
    exitCode: code === undefined ? silent : codeOf(Number(code)),
    output,
    end: 'itself',
    truncated: /^Output too large\.|\[\d+ characters truncated\]/m.test(report),
  };
}

type Parts = { readonly output: string; readonly behind: string };

function split(report: string, shown: string | undefined): Parts | undefined {
  const head = /^(?:[\s\S]*?\n)?(?:Output|Stdout): /.exec(report);
  if (head === null) return undefined;
  const rest = report.slice(head[0].length);
  const known = shown === undefined || shown === '' ? EMPTY : shown;
  if (rest.startsWith(known)) {
    return { output: known === EMPTY ? '' : known, behind: rest.slice(known.length) };
  }
  // Of the lines at the end that look like ours, the last block is ours.
  const tail =
    /\n(?:(?:Stderr|Error|Exit Code|Signal|Background PIDs|Process Group PGID): .*\n?)+$/;
  const at = tail.exec(rest)?.index ?? rest.length;
  return { output: rest.slice(0, at), behind: rest.slice(at) };
}
