// Odd calls: an agent's shell that is started with closed streams, other files, limits, signals,
// words and directories than usual. Whatever it is, the agent gets what the bare shell gives it.
import { afterAll, describe, expect, it } from 'vitest';
import { SHAPES, World } from './world.ts';

const world = new World();
afterAll(() => world.close());

const py = (before: string): string =>
  `python3 -c 'import os,sys,signal\n${before}\nos.execv(sys.argv[1],sys.argv[1:])' "$0"`;

const VARIABLES = 'env | grep -a -v -e ^_= -e ^PWD= | sort';

const STOPPED = 'until grep -q "^State:.T" /proc/$!/status; do :; done;';

/** `$0` is the shell. */
const ODD: readonly string[] = [
  // streams
  `"$0" -c 'read x; echo $?; cat; echo $?' <&-`,
  `"$0" -c 'echo x; echo $? >&2' >&-`,
  `"$0" -c 'echo x; echo y >&2; echo $?' 2>&-`,
  `"$0" -c 'ls /proc/self/fd > f; echo $? >> f' <&- >&- 2>&-; cat f`,
  `"$0" -c 'ls /proc/self/fd'`,
  `printf '1\\n2\\n3\\n' > f; { read a; "$0" -c 'read b; echo "b $b"'; read c; echo "c $c"; } < f`,
  `printf '1\\n2\\n3\\n' | { "$0" -c 'read b; echo "b $b"'; cat; }`,
  `"$0" -c 'cat; echo $?' < /`,
  `{ echo a; "$0" -c 'echo b; echo c >&2'; echo d; } > f 2>&1; cat f`,
  `echo given > f; "$0" -c 'cat <&3' 3<f; echo $?`,
  `echo given > f; exec 3<f; "$0" -c 'read x <&3; ls /proc/self/fd'; cat <&3`,
  `printf '1\\n2\\n' > f; exec 4<f; exec 3<&4; "$0" -c 'read x <&3; read y <&4; echo $x $y'`,
  `mkfifo f; cat f & exec 3>f; "$0" -c 'exec 3>&-; echo closed' 3>&3; exec 3>&-; wait`,
  `echo given > f; exec 5<f 9>g; "$0" -c 'cat <&5; echo nine >&9'; cat g`,
  `"$0" -c 'while echo y; do :; done; echo $? >&2' | head -1; echo $PIPESTATUS`,
  `trap '' PIPE; "$0" -c 'while echo y; do :; done 2>&-; echo $? >&2' | head -1; echo $PIPESTATUS`,
  `"$0" -c 'exec 1>&2; echo moved; exec 2>/dev/null; echo hidden >&2'`,
  `"$0" -c 'echo a; exec >&- 2>&-; sleep 0.05; exit 5'; echo $?`,
  `"$0" -c 'mkfifo f; ( read x < f; echo late ) & exit 4'; echo $?; echo > f`,
  `"$0" -c 'head -c 5000000 /dev/zero | tr "\\0" z; echo; echo e >&2' | md5sum`,
  `"$0" -c 'for i in {0..255}; do printf "\\\\x$(printf %x $i)"; done' | od -c`,
  `"$0" -c 'printf "\\xe2\\x82"; sleep 0.05; printf "\\xac\\n"'`,
  `"$0" -c 'cat <(echo sub) <(echo two); echo here <<<x; cat <<<str'`,
  // limits and marks of a process
  `umask 027; "$0" -c 'umask; touch f; stat -c %a f'`,
  `ulimit -S -n 77 -c 0 -t 1000 -s 4096; "$0" -c 'ulimit -a; ulimit -H -a'`,
  `ulimit -f 1; "$0" -c 'head -c 5000 /dev/zero > f; echo $?; stat -c %s f'`,
  `nice -n 5 "$0" -c nice`,
  `echo 300 > /proc/self/oom_score_adj; "$0" -c 'cat /proc/self/oom_score_adj'`,
  `taskset 1 "$0" -c 'taskset -p $$ | cut -d: -f2'`,
  `setarch -R "$0" -c 'cat /proc/self/personality'`,
  `"$0" -c 'cd /proc/$$; cat comm; tr "\\0" "|" < cmdline; readlink exe'`,
  `"$0" -c 'set -- $(cut -d" " -f1,5,6,7,8 /proc/$$/stat); echo $(($2==$3)) $4 $5'`,
  `"$0" -c 'grep -e ^NoNewPrivs -e ^Seccomp: -e ^Cap /proc/$$/status'`,
  // signals
  ...['INT', 'TERM', 'HUP', 'QUIT', 'USR1', 'CHLD', 'TSTP', 'TTOU'].map(
    (name) =>
      `trap '' ${name}; "$0" -c 'trap; kill -${name} $$; grep -E ^Sig[IB] /proc/self/status'`,
  ),
  `${py('signal.pthread_sigmask(0,[2,10,15,40])')} -c 'grep ^SigBlk /proc/self/status'`,
  `${py('signal.signal(13,signal.SIG_IGN)')} -c 'grep ^SigIgn /proc/self/status'`,
  `${py('signal.setitimer(0,0.3)')} -c 'exec sleep 1000'`,
  ...['SEGV', 'ABRT', 'PIPE', 'HUP', 'ALRM', 'USR1', 'QUIT', 'INT', 'SYS', 'XCPU', 'STKFLT'].map(
    (name) => `ulimit -c 0; "$0" -c 'kill -${name} $$'`,
  ),
  `exec "$0" -c 'kill -RTMIN+3 $$'`,
  `exec "$0" -c 'kill -64 $$'`,
  `exec "$0" -c 'kill -SEGV $$'`,
  `exec "$0" -c 'kill -PIPE $$'`,
  `exec "$0" -c 'trap "exit 9" TERM; kill -TERM $$; sleep 1'`,
  `exec "$0" -c 'trap "echo bye" EXIT; exit 7'`,
  `exec "$0" -c 'trap "echo err" ERR; false; echo on'`,
  `exec "$0" -c 'bash -c "kill -9 \\$\\$"; echo $?; (exit 130); exit'`,
  ...[0, 1, 126, 127, 128, 129, 130, 137, 143, 255, 256, -1].map((n) => `"$0" -c 'exit -- ${n}'`),
  // words
  `"$0" -c 'echo "$0|$1|$#"' zero one ''`,
  `"$0" -c 'echo "$0"'`,
  `"$0" -c -- 'echo "$0|$*"' a b`,
  `"$0" -ec 'false; echo no'`,
  `"$0" -xc 'echo a'`,
  `"$0" -uc 'echo "$unset"'`,
  `"$0" -fc 'echo *'`,
  `"$0" -nc 'echo no'`,
  `"$0" -vc 'echo a'`,
  `"$0" -rc 'cd /'`,
  `"$0" -pc 'echo $-'`,
  `"$0" -lc 'shopt login_shell; echo $-'`,
  `"$0" -c -l 'shopt login_shell'`,
  `"$0" +B -c 'echo {a,b}'`,
  `"$0" -o pipefail -c 'false | true'; echo $?`,
  `"$0" -O extglob -c 'shopt extglob; echo $-'`,
  `"$0" +O sourcepath -c 'shopt sourcepath'`,
  `"$0" --norc --noprofile -c 'echo $-'`,
  `"$0" --posix -c 'echo $POSIXLY_CORRECT $-'`,
  `"$0" --rcfile /dev/null -c 'echo $-'`,
  `"$0" -c`,
  `"$0" -o nonsense -c 'echo x'`,
  `"$0" --nonsense -c 'echo x'`,
  `"$0" -c ''`,
  `"$0" -c ' # nothing'`,
  `"$0" -c $'\\n\\necho $LINENO\\n'`,
  `"$0" -c $'echo a\\r\\necho b'`,
  `"$0" -c $'printf "%s" "\\xff\\xfe" | od -c'`,
  `"$0" -c $'touch "\\xff"; ls | od -c' $'\\xfe'`,
  `"$0" -c "echo $(printf %0120000d 7)" | md5sum`,
  `for i in {1..14}; do export V$i=$(printf %0100000d 7); done; "$0" -c '${VARIABLES} | cksum'`,
  `exec -a other "$0" -c 'echo $0 $BASH'`,
  `exec -a -bash "$0" -c 'echo $0; shopt login_shell'`,
  // environment and directory
  `export BAD=$'\\xff\\xfe' EMPTY= NL=$'a\\nb'; "$0" -c '${VARIABLES} | od -c'`,
  `env 'a.b=c' 'BASH_FUNC_f%%=() { echo function; }' "$0" -c 'f; env | grep -c ^a.b=c'`,
  `env SHELLOPTS=xtrace "$0" -c 'echo a'`,
  `env POSIXLY_CORRECT=1 "$0" -c 'echo $-; set -o | grep posix'`,
  `env -i PI_SESSION_ID=p "$0" -c 'env | sort | grep -v ^SHLVL'`,
  `env TZ=Asia/Tokyo LC_ALL=C "$0" -c 'date -d @0; printf "\\u00e9"'`,
  `"$0" -c 'echo $_ $OLDPWD $PWD $SHLVL $OPTIND $EUID'`,
  `mkdir d; ln -s d l; cd l; "$0" -c 'pwd; pwd -P; cd ..; pwd; echo $OLDPWD'`,
  `mkdir gone; cd gone; rmdir ../gone; "$0" -c 'echo $PWD; ls -a; cd ..; pwd'`,
  `mkdir x; cd x; chmod 0 .; "$0" -c 'pwd; stat -c %a .'; chmod 700 .`,
  // jobs
  `"$0" -c 'set -m; sleep 0.01 & wait %1; echo $?; jobs'`,
  `"$0" -c 'set -m; sh -c "kill -STOP \\$\\$; echo on; exit 4" & ${STOPPED} jobs; fg; echo $?'`,
  `"$0" -c 'sleep 100 & kill $!; wait $!; echo $?' 2>&1 | sed 's/[0-9]\\{4,\\}/N/g'`,
  `"$0" -c 'mkfifo f; ( trap "" HUP; read x < f; echo late ) & disown; exit 3'; echo $?; echo > f`,
  `"$0" -c 'coproc cat; echo through >&\${COPROC[1]}; read x <&\${COPROC[0]}; echo $x'`,
  `"$0" -c 'sleep 0.01 & sleep 0.02 & wait -n; echo $?; wait; echo $?'`,
  `"$0" -c 'setsid sh -c "sleep 0.05; echo apart" & wait; echo $?'`,
  `set -m; "$0" -c 'kill -STOP $$; echo on' & ${STOPPED} fg; echo $?`,
];

describe('an odd call', () => {
  it.each(ODD)('%s', async (around) => {
    const [bare, ours] = await Promise.all([called('/bin/bash'), called(world.files.bash)]);
    expect(ours).toEqual(bare);

    async function called(shell: string) {
      const cwd = world.project();
      const env = { ...world.env, ...SHAPES.pi.env };
      const argv = ['/bin/bash', '-c', around, shell];
      const { code, signal, out, err } = await world.run({ cwd, argv, env }).outcome;
      const same = (text: string): string =>
        text
          .replaceAll(cwd, 'CWD')
          .replaceAll('/bin/bash', 'SHELL')
          .replaceAll(shell, 'SHELL')
          .replaceAll(/line (\d+): +\d+ /g, 'line $1: PID ');
      return { code, signal, out: same(out), err: same(err) };
    }
  });
});
