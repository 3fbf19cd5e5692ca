// The command out of the text that an agent gives to its shell: every recorded call of Claude Code
// and Gemini CLI, and any command in a wrapper of their form.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { realCommand } from '../../../src/hooks/shell/real-command.ts';

function texts(name: string): string[] {
  const path = join(import.meta.dirname, 'examples', `${name}-shell-argv.jsonl`);
  const lines = readFileSync(path, 'utf8').split('\n');
  const calls = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as string[]);
  return calls.map((argv) => argv.at(-1) ?? '');
}

const SNAPSHOT = 'source /home/user/.claude/shell-snapshots/snapshot-bash-1-a.sh 2>/dev/null';
const CLAUDE = `${SNAPSHOT} || true && \\builtin shopt -u extglob 2>/dev/null || true && `;

/** As Claude Code quotes a command that is more than one plain word. */
function quoted(command: string): string {
  return `'${command.replaceAll("'", `'"'"'`)}'`;
}

describe('Claude Code', () => {
  it('gives the commands that were sent, whatever stands in them', () => {
    const [env, ...calls] = texts('claude');
    expect(realCommand(env ?? '', 'claude')).toEqual({ command: 'env', wrapper: 'unknown' });
    expect(calls.map((text) => realCommand(text, 'claude'))).toEqual(
      [
        "cat <<'EOF'\nline $x 'q'\nEOF",
        'sort < /etc/hostname',
        'echo a | cat | wc -l',
        'sleep 0.1 & echo bg',
        `x='it'"'"'s'; echo "$x"`,
        '# comment only\necho after',
        'for i in 1 2; do\n echo $i\ndone',
        'echo tail \\',
        'cd /tmp; pwd',
      ].map((command) => ({ command, wrapper: 'claude' })),
    );
  });

  it('is not misled by the text of CLAUDE_ENV_FILE', () => {
    expect(texts('claude-envfile').map((text) => realCommand(text, 'claude').command)).toEqual([
      'echo out; echo err >&2; exit 3',
      'cd sub; pwd',
      'pwd',
    ]);
  });

  it.each(['', ' < /dev/null'])('gives any command back exactly, with tail "%s"', (stdin) => {
    const tricky = fc.constantFrom(
      ...["'", '"', '\\', ' && eval ', " && eval 'x'", ' < /dev/null && pwd -P >| /tmp/x', '\n'],
      ...['$(', '`', "'\"'\"'", 'a', ' ', '#', '\t', '\u0000', 'ü', '\u{1f600}', '&& pwd -P >| f'],
    );
    const commands = fc.array(fc.oneof(tricky, fc.string()), { minLength: 1 });
    fc.assert(
      fc.property(commands, fc.constantFrom('', CLAUDE), (parts, front) => {
        const command = parts.join('');
        const text = `${front}eval ${quoted(command)}${stdin} && pwd -P >| /tmp/claude-1-cwd`;
        expect(realCommand(text, 'claude')).toEqual({ command, wrapper: 'claude' });
      }),
    );
  });

  it.each([
    `${CLAUDE}eval "$x" && pwd -P >| /tmp/c`,
    `${CLAUDE}eval 'a' 'b' && pwd -P >| /tmp/c`,
    `${CLAUDE}eval 'a'; pwd -P >| /tmp/c`,
    `${CLAUDE}eval 'a && pwd -P >| /tmp/c`,
    `${CLAUDE}eval \`x\` && pwd -P >| /tmp/c`,
    'npm test',
  ])('keeps a text of another form whole, and marks it: %s', (text) => {
    expect(realCommand(text, 'claude')).toEqual({ command: text, wrapper: 'unknown' });
  });
});

describe('Gemini CLI', () => {
  const HEAD = `shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=/tmp/g/b.tmp
(
  trap 'jobs -p > "$_bgpids_file"' EXIT
`;
  const TAIL = '\n)\n__code=$?\nexit $__code';

  it('gives the commands that were sent', () => {
    const [first, second] = texts('gemini').map((text) => realCommand(text, 'gemini'));
    expect(first).toEqual({ command: 'echo out; echo err >&2; exit 3', wrapper: 'gemini' });
    expect(second?.command).toMatch(/^ps -o pid,ppid.* \| head$/);
  });

  it('gives any command back exactly, also one that looks like the end of the wrapper', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constant(TAIL), fc.constant(HEAD), fc.string())),
        (parts) => {
          const command = parts.join('');
          const text = `${HEAD}${command}${TAIL}`;
          expect(realCommand(text, 'gemini')).toEqual({ command, wrapper: 'gemini' });
        },
      ),
    );
  });

  it('cuts nothing out of a head that would run something', () => {
    const text = `${HEAD.replace('/tmp/g/b.tmp', '$(rm<x)')}echo ok${TAIL}`;
    expect(realCommand(text, 'gemini')).toEqual({ command: text, wrapper: 'unknown' });
  });

  it('marks a text without its wrapper', () => {
    expect(realCommand('npm test', 'gemini')).toEqual({ command: 'npm test', wrapper: 'unknown' });
  });
});

it.each([
  'npm test',
  "rm x && eval 'echo ok' && pwd -P >| /tmp/c",
  'rm x\n# && eval true && pwd -P >| /tmp/c',
])('has nothing to cut out for the others, whose model wrote all of it: %s', (text) => {
  for (const agent of ['codex', 'opencode', 'pi', 'qwen', 'goose', 'aider'] as const) {
    expect(realCommand(text, agent)).toEqual({ command: text, wrapper: 'none' });
  }
});
