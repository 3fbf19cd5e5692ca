// Real runs at a gate: what a command's text could not tell is refused when it is about to begin,
// and everything else is as it would be without anybody watching.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Gate } from '../../src/guard/gate.ts';
import { traceCheck } from '../../src/shell/trace-check.ts';
import { decodeTrace } from '../../src/trace/decode/decode.ts';
import { lacking } from '../requirements.ts';
import { untraceable } from '../tracing/helper.ts';
import { DENIED, gateWith, judged, noRm, place, root } from './gate-helper.ts';

const noTrace = lacking(untraceable, 'runs cannot be traced here');
const check = traceCheck(process.env);
const noFollowing = lacking(!check.ok || !check.follows, 'the runner may not follow programs here');
const noStrace = lacking(
  untraceable || spawnSync('sh', ['-c', 'command -v strace']).status !== 0,
  'there is no strace here, or no tracing',
);

let gate: Gate;

const C_PROGRAM = `#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "exec") == 0) {
    execv(argv[2], argv + 2);
    perror("exec");
    return 1;
  }
  if (argc > 1 && strcmp(argv[1], "spawn") == 0) {
    pid_t pid = 0;
    int status = 0, error = posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ);
    if (error != 0) return printf("spawn %d\\n", error), 1;
    waitpid(pid, &status, 0);
    return printf("status %d\\n", WEXITSTATUS(status)), 0;
  }
  puts("began");
  return 0;
}
`;

/** The same program three times: `rm` and `starts` without a loader, `starts-dynamic` with one. */
function buildPrograms(): void {
  const source = join(root, 'program.c');
  writeFileSync(source, C_PROGRAM);
  const names = { rm: ['-static'], starts: ['-static'], 'starts-dynamic': [] };
  for (const [name, flags] of Object.entries(names)) {
    const made = spawnSync('cc', ['-O1', ...flags, source, '-o', join(root, name)]);
    if (made.status !== 0) throw new Error(made.stderr.toString());
  }
}

beforeAll(async () => {
  buildPrograms();
  gate = await gateWith(noRm);
});

describe.skipIf(noTrace)('a program that is denied does not begin', () => {
  test.each([
    ['by a variable', 'x=rm; $x -rf v'],
    ['by base64', 'echo cm0gLXJmIHY= | base64 -d | sh'],
    ['by os.system', `python3 -c 'import os; os.system("rm -rf v")'`],
    ['by subprocess', `python3 -c 'import subprocess; subprocess.run(["rm", "-rf", "v"])'`],
    ['by os.popen', `python3 -c 'import os; print(os.popen("rm -rf v 2>&1").read())'`],
    ['with an empty environment', 'env -i /bin/rm -rf v'],
    ['by perl', `perl -e 'system("rm", "-rf", "v")'`],
    ['by exec of perl', `perl -e 'exec "rm -rf v"'`],
    ['by node', `node -e 'require("child_process").execSync("rm -rf v", {stdio: "inherit"})'`],
    [
      'by spawn of node',
      `node -e 'require("child_process").spawnSync("rm",["-rf","v"],{stdio:[0,1,2]})'`,
    ],
    ['by find', 'find v -maxdepth 0 -exec rm -rf {} +'],
    ['by xargs', 'echo v | xargs rm -rf'],
    ['by eval', 'eval "$(printf "%s" "r" "m -rf v")"'],
    ['by a glob', '/bin/r[m] -rf v'],
    ['by a script', 'printf "#!/bin/sh\\nrm -rf v\\n" > s; chmod +x s; ./s'],
    ['by make', 'printf "all:\\n\\trm -rf v\\n" > Makefile; make'],
    ['in the background', 'rm -rf v & wait'],
    ['in a session of its own', 'setsid -w rm -rf v'],
    ['under another name', 'exec -a ls rm -rf v'],
    ['through a link', 'ln -s /bin/rm other; ./other -rf v'],
    ['by the loader', '/lib64/ld-linux-x86-64.so.2 /bin/rm -rf v'],
    ['without LD_PRELOAD', 'env -u LD_PRELOAD rm -rf v'],
    ['with few descriptors', 'ulimit -n 4; rm -rf v'],
    ['with little memory', 'ulimit -v 60000; rm -rf v'],
    ['with a trace of its own', 'CUFF_TRACE=/nonexistent rm -rf v'],
    ['with closed streams', 'rm -rf v <&- >&-'],
  ])('%s', async (_, text) => {
    const { cwd, output } = await judged(text, { gate });
    expect(existsSync(join(cwd, 'v'))).toBe(true);
    expect(output).toContain(DENIED);
  });

  test('and ends with 126, which the trace tells', async () => {
    const { code, output, dir } = await judged('rm -rf v', { gate });
    expect([code, output]).toEqual([126, DENIED]);
    const { frames } = decodeTrace(readFileSync(join(dir, 'trace.bin')));
    const ends = frames.flatMap((frame) => (frame.type === 'exit' ? [frame.code] : []));
    expect(ends).toEqual([126]);
  });

  test('even where its stderr is closed, or nobody reads it', async () => {
    for (const text of [
      'rm -rf v 2>&-; echo $?',
      'exec 4> >(true); wait $!; rm -rf v 2>&4; echo $?',
    ]) {
      const { cwd, output } = await judged(text, { gate });
      expect([existsSync(join(cwd, 'v')), output]).toEqual([true, '126\n']);
    }
  });

  test('where there is a secret in the text, and nothing is written down', async () => {
    const { code, cwd, output, dir } = await judged('x=rm; $x -rf v # s3cr3t', {
      gate,
      shown: 'x=rm; $x -rf v # [SECRET]',
    });
    expect([code, existsSync(join(cwd, 'v')), output]).toEqual([126, true, DENIED]);
    expect(statSync(join(dir, 'trace.bin')).size).toBe(4096);
    expect(readFileSync(join(dir, 'meta.json'), 'utf8')).toContain('"enabled":false');
  });

  test('where nobody asked for a trace', async () => {
    const { code, output, dir } = await judged('x=rm; $x -rf v', { gate, trace: 'off' });
    expect([code, output]).toEqual([126, DENIED]);
    expect(readFileSync(join(dir, 'meta.json'), 'utf8')).not.toContain('"trace"');
  });
});

describe.skipIf(noTrace)('a program without a loader', () => {
  test('is refused at the call that would start it', async () => {
    const { code, output, cwd } = await judged(`exec ${root}/rm`, { gate });
    expect(code).toBe(126);
    expect(output).toContain(DENIED);
    expect(output).toContain('Permission denied');
    expect(output).not.toContain('began');
    expect(existsSync(join(cwd, 'v'))).toBe(true);
  });

  test('is refused to posix_spawn', async () => {
    const { output } = await judged(`${root}/starts-dynamic spawn ${root}/rm`, { gate });
    expect(output).toBe(`${DENIED}spawn 13\n`);
  });

  test('begins where it may', async () => {
    const { output } = await judged(`${root}/starts; ${root}/starts-dynamic spawn ${root}/starts`, {
      gate,
    });
    expect(output).toBe('began\nbegan\nstatus 0\n');
  });

  test.skipIf(noFollowing)('is refused to another one, by the runner', async () => {
    const { output } = await judged(`${root}/starts spawn ${root}/rm`, { gate });
    expect(output).toBe(`${DENIED}status 126\n`);
    const command = { kind: 'argv', argv: [`${root}/rm`] } as const;
    expect(await judged(command, { gate })).toMatchObject({ code: 126, output: DENIED });
  });

  test.skipIf(noFollowing)('starts others, which ask for themselves', async () => {
    const { output, cwd } = await judged(`${root}/starts exec /bin/rm -rf v`, { gate });
    expect([output, existsSync(join(cwd, 'v'))]).toEqual([DENIED, true]);
  });
});

describe.skipIf(noTrace)('at a gate', () => {
  test('what is no rm is none: find -delete, a copy', async () => {
    const { code, cwd } = await judged('find v -delete', { gate });
    expect([code, existsSync(join(cwd, 'v'))]).toEqual([0, false]);
    const copied = await judged('cp /bin/rm mine; ./mine -rf v', { gate });
    expect([copied.code, existsSync(join(copied.cwd, 'v'))]).toEqual([0, false]);
  });

  test('a command prints and ends as it does without one', async () => {
    const text = `env | sort | grep -v ^_=; ls -l /proc/self/fd | wc -l; python3 -c '
import errno, os, signal
print(sorted(os.listdir("/proc/self/fd")), signal.pthread_sigmask(signal.SIG_BLOCK, []))
print(os.environ.get("LD_PRELOAD"), os.environ.get("CUFF_TRACE"))'
cat < /dev/null; (exit 3); echo "$?"; sleep 0.01 & wait $!; yes | head -1; exit 5`;
    const cwd = place();
    const [with_, without] = [await judged(text, { gate, cwd }), await judged(text, { cwd })];
    expect([with_.code, with_.output]).toEqual([5, without.output]);
  });

  test('many ask at once, and all are answered', async () => {
    const { output, code } = await judged(
      'for i in {1..200}; do /bin/true & done; wait; for i in {1..50}; do rm x & done; wait; :',
      { gate },
    );
    expect([code, output]).toEqual([0, DENIED.repeat(50)]);
  });

  test('long words are judged whole, and longer ones by their beginning', async () => {
    const text = 'x=$(printf %0100000d 1); /bin/true $x; rm $x; rm $x $x; /bin/true $x $x; echo $?';
    const { output } = await judged(text, { gate });
    expect(output).toBe(`${DENIED}${DENIED}0\n`);
  });

  test('longer ones do not begin where the run must not go on unjudged', async () => {
    const text = 'x=$(printf %0100000d 1); /bin/true $x; echo $?; /bin/true $x $x; echo $?';
    const { output } = await judged(text, { gate: { path: gate.path, strict: true } });
    expect(output).toBe(`0\n${TOO_LONG}126\n`);
  });

  test.skipIf(noFollowing)('nor where the runner asks, however the words are cut', async () => {
    const started = `${root}/starts`;
    const fills = (128 << 10) - started.length - 2; // with it exactly as much as is sent
    const text = (bytes: number, more: string): string =>
      `x=$(printf %0100d 1); y=$(printf %0${bytes}d 1); ${started} spawn ${started} $y ${more}`;
    const strict = { path: gate.path, strict: true };
    expect((await judged(text(1_000, ''), { gate: strict })).output).toBe('began\nstatus 0\n');
    for (const bytes of [fills, fills - 10]) {
      const { output } = await judged(text(bytes, '$x'), { gate: strict });
      expect(output).toContain(TOO_LONG);
      expect(output).not.toContain('began');
    }
  });
});

const TOO_LONG =
  'cuff: policy: not started: its arguments are too long to be judged ' +
  '(its command may run only judged)\n';

test.skipIf(noStrace)('without a gate no process makes a call more', async () => {
  const calls = async (options: Parameters<typeof judged>[1]): Promise<string> => {
    const text = `strace -f -qq -o calls /bin/true; sed -E 's/^[0-9]+ +//; s/\\(.*//' calls`;
    return (await judged(text, options)).output;
  };
  const SOCKET = /^(socket|connect|sendmsg|ppoll)$/m;
  expect(await calls({})).not.toMatch(SOCKET);
  expect(await calls({ gate })).toMatch(SOCKET);
});
