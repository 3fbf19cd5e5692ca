// The command out of the text that an agent gives to its shell: every recorded call of Claude Code
// and Gemini CLI, and any command in a wrapper of their form.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { realCommand as cut } from '../../../src/hooks/shell/real-command.ts';
import type { AgentId } from '../../../src/text/agents.ts';
import type { Env } from '../../../src/types.ts';

const ENV = { HOME: '/home/user', PATH: '/opt/codex/codex-path:/usr/bin:/bin' };
const realCommand = (text: string, agent: AgentId, env: Env = ENV, real = '/bin/bash') =>
  cut(text, agent, { env, real });

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

describe('Codex', () => {
  const [text = ''] = texts('codex');
  const END = `'echo err >&2; exit 4'`;
  const sent = { command: 'echo err >&2; exit 4', wrapper: 'codex' };

  it('gives the command that was sent', () => {
    expect(realCommand(text, 'codex')).toEqual(sent);
    const elsewhere = { ...ENV, HOME: '/', CODEX_HOME: '/home/user/.codex' };
    expect(realCommand(text, 'codex', elsewhere)).toEqual(sent);
    const own = text.replace(`'/bin/bash'`, `'/opt/bash'`);
    expect(realCommand(own, 'codex', ENV, '/opt/bash')).toEqual(sent);
  });

  it('gives any command back exactly', () => {
    const tricky = fc.constantFrom("'", `'"'"'`, '"', '\\', '\n\nexec ', END, '$(', '\n');
    fc.assert(
      fc.property(fc.array(fc.oneof(tricky, fc.string())), (parts) => {
        const command = parts.join('');
        const whole = text.replace(END, () => quoted(command));
        expect(realCommand(whole, 'codex')).toEqual({ command, wrapper: 'codex' });
      }),
    );
  });

  it('knows the form of earlier versions', () => {
    const [set, value] = ['__CODEX_SNAPSHOT_OVERRIDE_SET_0', '__CODEX_SNAPSHOT_OVERRIDE_0'];
    const earlier = `${set}="\${A+x}"
${value}="\${A-}"

if . '/home/user/.codex/shell_snapshots/s.sh' >/dev/null 2>&1; then :; fi

if [ -n "\${${set}}" ]; then export A="\${${value}}"; else unset A; fi

exec '/bin/bash' -c 'ls'`;
    expect(realCommand(earlier, 'codex')).toEqual({ command: 'ls', wrapper: 'codex' });
  });

  const snapshot = /'\/home\/user\/\.codex\/shell_snapshots\/[^']*'/;
  it.each([
    ['a command in front', `__CODEX_SNAPSHOT_1=x; rm x\n${text}`],
    ['a command behind the variables', text.replace('\n\n', '\nrm x\n\n')],
    ['a command behind the snapshot', text.replace('fi\n\nif', 'fi\nrm x\n\nif')],
    ['a command in front of the shell', text.replace('\n\nexec', '\nrm x\n\nexec')],
    ['a command behind the shell', `${text}; rm x`],
    ['a word behind the command', `${text} 'rm'`],
    ['an expansion in the command', text.replace(END, '"$(rm x)"')],
    ['a value that runs something', text.replace('{CODEX_VERSION-}', '(rm x)')],
    ['another snapshot', text.replace(snapshot, `'/tmp/s.sh'`)],
    ['a snapshot above', text.replace('/shell_snapshots/', '/shell_snapshots/../')],
    ['another search path', text.replaceAll('/opt/codex/codex-path', '/tmp/bin')],
    ['another shell', text.replace(`'/bin/bash'`, `'/tmp/bash'`)],
    ['an option for the shell', text.replace(`'/bin/bash' -c`, `'/bin/bash' -ic`)],
    ['a variable taken away', text.replace('builtin unset CODEX_VERSION', 'unset BASH_ENV')],
    ['a variable that gets a value', text.replace('export CODEX_VERSION=', 'export BASH_ENV=')],
    ['the same number twice', text.replaceAll('OVERRIDE_1', 'OVERRIDE_0')],
    ['no shell', text.replace(/\n\nexec[\s\S]*/, '')],
  ])('keeps a text with %s whole, and marks it', (_, changed) => {
    expect(changed).not.toBe(text);
    expect(realCommand(changed, 'codex')).toEqual({ command: changed, wrapper: 'unknown' });
  });

  it('is the wrapper of Codex alone', () => {
    expect(realCommand(text, 'qwen')).toEqual({ command: text, wrapper: 'none' });
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
