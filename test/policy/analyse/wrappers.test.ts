// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the text of a shell, not of a template
// Wrappers are opened: what they run is a unit, and `via` says how it was reached.
import { describe, expect, it } from 'vitest';
import { openWrappers } from '../../../src/policy/analyse/index.ts';
import type { Arg } from '../../../src/policy/unit.ts';
import { codes, commands, read, shownArg } from './shown.ts';

const via = (text: string) =>
  read(text).units.map((unit) => `${unit.via.join(' > ')}: ${unit.argv.map(shownArg).join(' ')}`);

describe('opened', () => {
  it.each([
    ['timeout 5 rm x', 'timeout: rm x'],
    ['timeout -k 3 --signal=KILL 5 rm x', 'timeout: rm x'],
    ['/usr/bin/timeout 5 rm x', 'timeout: rm x'],
    ['env -i -u A B=1 rm x', 'env: rm x'],
    ["env -S 'A=1 rm -f' x", 'env: rm -f x'],
    ['nice -n 5 nohup rm x', 'nice > nohup: rm x'],
    ['nice -10 rm x', 'nice: rm x'],
    ['ionice -c2 -n 0 rm x', 'ionice: rm x'],
    ['stdbuf -oL -e 0 rm x', 'stdbuf: rm x'],
    ['setsid -w rm x', 'setsid: rm x'],
    ['chrt -b 0 rm x', 'chrt: rm x'],
    ['taskset -c 0,1 rm x', 'taskset: rm x'],
    ['command -p rm x', 'command: rm x'],
    ['builtin command rm x', 'builtin > command: rm x'],
    ['exec -a y rm x', 'exec: rm x'],
    ['time -p rm x', 'time: rm x'],
    ['chronic rm x', 'chronic: rm x'],
    ['busybox rm x', 'busybox: rm x'],
    ['xargs rm', 'xargs: rm <...>*'],
    ['xargs -0 -n 1 -P4 rm -f', 'xargs: rm -f <...>*'],
    ['xargs -I{} rm a/{}', 'xargs: rm <a/...>'],
    ['xargs', 'xargs: echo <...>*'],
    ["bash -c 'rm x'", 'bash -c: rm x'],
    ["bash -lc 'rm x'", 'bash -c: rm x'],
    ["bash + -c + 'rm x'", 'bash -c: rm x'],
    ["bash -euo pipefail -c 'rm x'", 'bash -c: rm x'],
    ['bash -c \'rm "$1"\' _ x', 'bash -c: rm x'],
    ["sh -c 'rm x'", 'sh -c: rm x'],
    ["bash <<'E'\nrm x\nE\n", 'bash: rm x'],
    ['bash <<E\nrm x\nE\n', 'bash: rm x'],
    ['bash -s <<< "rm x"', 'bash: rm x'],
    ['eval rm x', 'eval: rm x'],
    ['eval \'eval "rm x"\'', 'eval > eval: rm x'],
    ["timeout 5 bash -c 'env A=1 rm x'", 'timeout > bash -c > env: rm x'],
  ])('%j', (text, expected) => {
    expect(codes(text)).toEqual([]);
    expect(via(text)).toEqual([expected]);
  });

  it.each([
    ['find . -name x -exec rm {} \\;', [': find . -name x', 'find -exec: rm <....>']],
    ['find a b -exec rm {} +', [': find a b', 'find -exec: rm <...>*']],
    ['find . -{exec,x} \\;', [': find .', 'find -exec: -x']],
    ["find a -execdir sh -c 'rm x' \\; -print", [': find a -print', 'find -exec > sh -c: rm x']],
    ['fd -e ts -x rm', [': fd -e ts', 'fd --exec: rm <...>']],
    ["trap 'rm x' EXIT", [": trap 'rm x' EXIT", 'trap: rm x']],
  ])('%j, beside itself', (text, expected) => {
    expect(via(text)).toEqual(expected);
  });

  it('knows the variables of a shell only as far as they are exported', () => {
    expect(commands("x=rm; bash -c '$x y'")).toEqual(['<...>* y']);
    expect(commands("export x=rm; bash -c '$x y'")).toEqual(['export x=rm', 'rm y']);
    expect(commands("x=rm bash -c '$x y'")).toEqual(['rm y']);
    expect(commands("x=rm; eval '$x y'")).toEqual(['rm y']);
  });
});

describe('left as they are', () => {
  it.each([
    ['bash -c "$x"', ['bash -c <...>']],
    ['bash x.sh', ['bash x.sh']],
    ['a | bash', ['a', 'bash']],
    ['bash <<E\n$x\nE\n', ['bash']],
    ['eval "$x"', ['eval <...>']],
    ['timeout "$t" rm x', ['timeout <...> rm x']],
    ['timeout --strange 5 rm x', ['timeout --strange 5 rm x']],
    ['env $x rm y', ['env <...>* rm y']],
    ['env', ['env']],
    ['command -v rm', ['command -v rm']],
    ['./env rm x', ['./env rm x']],
    ['/tmp/timeout 5 rm x', ['/tmp/timeout 5 rm x']],
  ])('%j', (text, expected) => {
    expect(commands(text)).toEqual(expected);
  });

  it.each([
    ['sudo -u bob rm x', ['sudo -u bob rm x', 'rm x (behind sudo)']],
    ['sudo A=1 rm x', ['sudo A=1 rm x', 'rm x (behind sudo)']],
    ["su bob -c 'rm x'", ["su bob -c 'rm x'", 'rm x (behind su)']],
    ["su -lc 'rm x' root", ["su -lc 'rm x' root", 'rm x (behind su)']],
    ["su root --comm='rm x'", ["su root '--comm=rm x'", 'rm x (behind su)']],
    ['pkexec --user root rm x', ['pkexec --user root rm x', 'rm x (behind pkexec)']],
    ["flock /l -c 'rm x'", ["flock /l -c 'rm x'", 'rm x (behind flock)']],
    ['flock /l tar -fc x', ['flock /l tar -fc x', 'tar -fc x (behind flock)']],
    ["script -aefc 'rm x' o", ["script -aefc 'rm x' o", 'rm x (behind script)']],
    ["ssh host 'rm x'", ["ssh host 'rm x'", 'rm x (behind ssh)']],
    ['ssh -p 22 host rm x', ['ssh -p 22 host rm x', 'rm x (behind ssh)']],
    ['docker exec -it c rm x', ['docker exec -it c rm x', 'rm x (behind docker)']],
    ['kubectl exec p -- rm x', ['kubectl exec p -- rm x', 'rm x (behind kubectl)']],
    ['watch -n 1 rm x', ['watch -n 1 rm x', 'rm x (behind watch)']],
    ['parallel rm ::: x', ['parallel rm ::: x', 'rm ::: x (behind parallel)']],
    ['chroot /r rm x', ['chroot /r rm x', 'rm x (behind chroot)']],
    ['flock /l rm x', ['flock /l rm x', 'rm x (behind flock)']],
    ['strace -f -o o rm x', ['strace -f -o o rm x', 'rm x (behind strace)']],
    ['systemd-run --user rm x', ['systemd-run --user rm x', 'rm x (behind systemd-run)']],
    ["script -qc 'rm x' o", ["script -qc 'rm x' o", 'rm x (behind script)']],
    ["bash -ic 'rm x'", ["bash -ic 'rm x'", 'rm x (behind bash)']],
    ["zsh -c 'rm *(e:x:)'", expect.arrayContaining(["zsh -c 'rm *(e:x:)'"])],
    ["sh -c $'rm $\\'x\\''", ["sh -c 'rm $'x''", 'rm x (behind sh)']],
    ['. ./x', ['. ./x']],
  ])('%j shows what is behind it', (text, expected) => {
    expect(commands(text)).toEqual(expected);
  });
});

describe('openWrappers', () => {
  const args = (text: string) =>
    text
      .split(' ')
      .map((value): Arg => ({ kind: 'literal', value, source: value, span: undefined }));

  it('takes off what it understands', () => {
    const opened = openWrappers(args('timeout 5 env A=1 npm test'));
    expect(opened).toEqual({ via: ['timeout', 'env'], argv: args('npm test') });
    expect(openWrappers(args('npm test'))).toEqual({ via: [], argv: args('npm test') });
  });
});
