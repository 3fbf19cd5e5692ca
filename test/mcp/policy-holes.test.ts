// What an allowed program would do more than its rule means, tried on the built server: code in its
// input, files that lead git to programs, and repositories made of plain files. All of it would
// make the file `pwned`.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TestClient } from './clients.ts';
import { clientNamed, Guarded, run } from './policy-life.ts';

const CONFIG = `[core]
	repositoryformatversion = 0
	bare = false
	worktree = "."
	fsmonitor = "touch ../pwned; false"
`;

const ALLOWING = [
  ...['git status', 'git -C <path> status', 'cd <path>', 'npx', 'npx *', 'bash -e', 'node -i'],
  ...['node a.js', 'touch <path>', 'cp <path> <path>', 'rm -rf <path>', 'node a.js *', 'cat *'],
];

function allowing(patterns: readonly string[]): string {
  const commands = JSON.stringify(patterns.map((pattern) => ({ pattern })));
  return `default: ask\npolicies: [{ name: work, commands: ${commands} }]\n`;
}

async function served(policy: string): Promise<{ life: Guarded; client: TestClient }> {
  const life = new Guarded(policy);
  execFileSync('git', ['init', '-q', life.project]);
  writeFileSync(join(life.project, 'code'), 'touch pwned\n');
  writeFileSync(join(life.project, 'code.js'), "require('fs').writeFileSync('pwned', '')\n");
  writeFileSync(join(life.project, 'a.js'), '0\n');
  const client = await life.connect(clientNamed('by hand'), 'cuff', '--dialect', 'cuff_shell');
  return { life, client };
}

describe('under rules that allow its programs', () => {
  it('code in the input of a program does not run', async () => {
    const { life, client } = await served(allowing(ALLOWING));
    const tries = [
      ...['npx <<< "touch pwned"', 'npx < code', 'cat code | npx', 'bash -e < code'],
      ...['cat code | bash -e', 'node -i < code.js', 'node -r /dev/stdin a.js < code.js'],
    ];
    for (const command of tries) {
      expect([command, await run(client, command)]).toEqual([
        command,
        expect.objectContaining({ refused: true }),
      ]);
    }
    expect(life.made('pwned')).toBe(false);
  });

  it('what the shell itself would evaluate does not run', async () => {
    const { life, client } = await served(allowing(ALLOWING));
    writeFileSync(join(life.project, 'value'), 'a[$(touch pwned)]\n');
    const tries = [
      ...["RANDOM='a[$(touch pwned)]'; cat code", "OPTIND='a[$(touch pwned)]'"],
      ...["for SECONDS in 'a[$(touch pwned)]'; do cat code; done", 'read OPTIND < value'],
      ...[`cat \${RANDOM:='a[$(touch pwned)]'}`, 'while read -r RANDOM; do cat code; done < value'],
    ];
    for (const command of tries) {
      expect([command, await run(client, command)]).toEqual([
        command,
        expect.objectContaining({ refused: true }),
      ]);
    }
    expect(life.made('pwned')).toBe(false);
    // What is asked about is no idle fear.
    execFileSync('bash', ['-c', tries[0] ?? ''], { cwd: life.project });
    expect(life.made('pwned')).toBe(true);
  });

  it('nothing but git writes into its directory', async () => {
    const { client } = await served(allowing(ALLOWING));
    const tries = [
      ...['touch .git/commondir', 'cp code .git/config.worktree', 'rm -rf .git/refs'],
      ...['touch sub/.git', 'cd .git && touch commondir', 'node a.js --out=.git/hooks/x'],
    ];
    for (const command of tries) {
      expect([command, await run(client, command)]).toEqual([
        command,
        expect.objectContaining({ refused: true }),
      ]);
    }
    expect(await run(client, 'git status')).toMatchObject({ refused: false, isError: false });
  });

  it('a repository that is there under another name is not entered', async () => {
    const { life, client } = await served(allowing(ALLOWING));
    const made = join(life.project, 'made');
    for (const name of ['objects', 'refs']) mkdirSync(join(made, name), { recursive: true });
    writeFileSync(join(made, 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(made, 'config'), CONFIG);
    const tries = [
      ...['cd made && git status', 'git -C made status', 'cd made/refs && git status'],
      ...['git -C . -C made status', 'env -i git -C made status'],
    ];
    for (const command of tries) {
      expect([command, await run(client, command)]).toEqual([
        command,
        expect.objectContaining({ refused: true }),
      ]);
    }
    expect(life.made('pwned')).toBe(false);
  });
});

it('a repository that the command itself makes runs nothing under `default: allow`', async () => {
  const { life, client } = await served('default: allow\npolicies: [{ name: x, commands: [] }]\n');
  const command = [
    "mkdir -p made/objects made/refs; printf 'ref: refs/heads/main\\n' > made/HEAD",
    `cat > made/config <<'END'\n${CONFIG}END\ncd made && git status`,
  ].join('\n');
  const { text } = await run(client, command);
  expect(text).toContain('cannot use bare repository');
  expect(life.made('pwned')).toBe(false);
});
