// Hard cases: what shells do with processes and streams, and the names of streams as files.
import { type Case, forked, ran } from './case.ts';

const SAY = 'o hello e warn x 3';

export const SHELLS: readonly Case[] = [
  {
    name: 'shell: $(...), backquotes and nested shells',
    command:
      'x=$($B/say o inner x 3); echo "$x $?"; bash -c "echo deep; bash -c \'echo deeper; exit 4\'"',
    wrote: ['inner 3'],
    processes: [
      ran('$B/say o inner x 3', 3),
      ran(['bash', '-c', "echo deep; bash -c 'echo deeper; exit 4'"], 'becomes', ['deep']),
      ran(['bash', '-c', 'echo deeper; exit 4'], 4, ['deeper']),
    ],
    pty: true,
  },
  {
    name: 'shell: a pipeline whose stages fail',
    command: `$B/say o one x 3 | grep nothing | cat; echo "\${PIPESTATUS[@]}"
      $B/say e x y 1 |& tr x z`,
    wrote: ['3 1 0'],
    processes: [
      ran('$B/say o one x 3', 3),
      ran('grep nothing', 1),
      ran('cat', 0),
      ran('$B/say e x y 1', 95),
      ran('tr x z', 0, ['z']),
    ],
    pty: true,
  },
  {
    name: 'shell: coproc and process substitution',
    command: `coproc cat; echo over >&\${COPROC[1]}; read -r x <&\${COPROC[0]}; echo "got $x"
      eval "exec \${COPROC[1]}>&-"; wait; cat <($B/say o subst x 3); exit 0`,
    wrote: ['got over'],
    processes: [
      ran('cat', 0),
      ran('$B/say o subst x 3', 3),
      ran(/^cat \/dev\/fd\/\d+$/, 0, ['subst']),
    ],
    masks: [/\d+(?=\])/g],
    pty: true,
  },
  {
    name: 'shell: fd swaps',
    command: `$B/say ${SAY} 3>&1 1>&2 2>&3 3>&-; $B/odd swap
      exec 5>&1 1>&2 2>&5; $B/say o b e c; exit 0`,
    processes: [
      ran(`$B/say ${SAY}`, 3, ['hello', 'warn']),
      ran('$B/odd swap', 0, [/^swap: /]),
      ran('$B/say o b e c', 0, ['b', 'c']),
    ],
    pty: true,
  },
  {
    name: 'shell: streams that are closed',
    command: `$B/say o hello e warn x 3 >&-; echo "$?"; $B/say ${SAY} 2>&-
      $B/odd files <&-; exit 0`,
    wrote: ['3'],
    processes: [
      ran(`$B/say ${SAY}`, 3, ['warn']),
      ran(`$B/say ${SAY}`, 3, ['hello']),
      ran('$B/odd files', 0, [/^(fd|next) \d+$/]),
    ],
    pty: true,
  },
  {
    name: 'shell: subshells, background jobs and wait',
    command:
      '(echo one; exit 2); (echo two; exit 3) & wait $!; echo "$?"; { echo three; } ; exit 0',
    wrote: ['3', 'three'],
    processes: [forked(2, ['one']), forked(3, ['two'])],
    pty: true,
  },
  {
    name: 'shell: dash, exec and a trap',
    command: [
      'sh',
      '-c',
      "trap 'echo trapped' EXIT; $B/say o x x 3; (exec $B/say o y x 4); exit 6",
    ],
    wrote: ['trapped'],
    processes: [ran('$B/say o x x 3', 3, ['x']), ran('$B/say o y x 4', 4, ['y'])],
    pty: true,
  },
  {
    name: 'shell: xargs, find and nice',
    command: `seq 6 | xargs -n 2 $B/say o; find $W/a -type f -exec $B/say o {} \\;
      nice $B/say o n x 3; exit 0`,
    files: { 'a/b': '' },
    processes: [
      ran('seq 6', 0),
      ran('xargs -n 2 $B/say o', 0),
      ran('$B/say o 1 2', 0, ['1']),
      ran('$B/say o 3 4', 0, ['3']),
      ran('$B/say o 5 6', 0, ['5']),
      ran('$B/say o $W/a/b', 0, [/a\/b$/]),
      ran(['find', '$W/a', '-type', 'f', '-exec', '$B/say', 'o', '{}', ';'], 0),
      ran('nice $B/say o n x 3', 'becomes'),
      ran('$B/say o n x 3', 3, ['n']),
    ],
    pty: true,
  },
  {
    name: 'shell: /dev/stdout and /dev/stderr by name',
    command: `echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr
      echo d >> /dev/fd/1; $B/say P /dev/stdout o e x 3; $B/say P /proc/self/fd/2 o f
      cat $W/g > /proc/self/fd/1; exit 0`,
    files: { g: 'g\n' },
    wrote: ['a', 'b', 'd'],
    processes: [
      ran('tee /dev/stderr', 0, ['c']),
      ran('$B/say P /dev/stdout o e x 3', 3, ['reopened', 'e']),
      ran('$B/say P /proc/self/fd/2 o f', 0, ['reopened', 'f']),
      ran('cat $W/g', 0, ['g']),
    ],
    pty: true,
  },
  {
    name: 'shell: the names of streams in Python, Perl, awk, Node and dash',
    command: `python3 -c 'open("/dev/stdout","w").write("python\\n")
open("/dev/stderr","a").write("p\\n")'
      perl -e 'open(F, ">", "/dev/stdout"); print F "perl\\n"'
      awk 'BEGIN { print "awk" > "/dev/stderr"; print "out" > "/proc/self/fd/1" }'
      node -e 'require("fs").writeFileSync("/dev/stdout", "node\\n")'
      dash -c 'echo dash > /dev/stdout'; exit 0`,
    processes: [
      ran(/^python3 -c open/, 0, ['python', 'p']),
      ran(/^perl -e open/, 0, ['perl']),
      ran(/^awk BEGIN/, 0, ['awk', 'out']),
      ran(/^node -e require/, 0, ['node']),
      ran(['dash', '-c', 'echo dash > /dev/stdout'], 0, ['dash']),
    ],
    needs: ['python3', 'perl', 'node', 'dash'],
    pty: true,
  },
  {
    name: 'shell: eight equal writers at once',
    command: 'for i in 1 2 3 4 5 6 7 8; do bash $W/writer & done; wait; exit 0',
    files: {
      writer: 'for i in {1..40}; do echo "pid=$$ line $i"; echo "pid=$$ e" >&2; done\n',
    },
    processes: [ran('bash $W/writer', 0, [/^pid=\d+ /], { times: 8 })],
    masks: [/pid=\d+/g],
    unordered: true,
    pty: true,
  },
];
