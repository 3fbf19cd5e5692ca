// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the text of a shell, not of a template
// Every simple command that bash could execute is a unit, with its words, files and directory.
import { describe, expect, it } from 'vitest';
import { analyse } from '../../../src/policy/analyse/index.ts';
import { codes, commands, read, shownArg } from './shown.ts';

describe('every command is a unit', () => {
  it.each([
    ['git status; touch x', ['git status', 'touch x']],
    ['a && b || c', ['a', 'b', 'c']],
    ['a | b |& c', ['a', 'b', 'c']],
    ['a & b', ['a', 'b']],
    ['! a', ['a']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['while a; do b; done; until c; do d; done', ['a', 'b', 'c', 'd']],
    ['(a; b); { c; }', ['a', 'b', 'c']],
    ['case $(a) in $(b)) c;; *) d;& e) f;; esac', ['a', 'b', 'c', 'd', 'f']],
    ['for i in $(a); do b; done', ['a', 'b']],
    ['select i in a; do b; done', ['b']],
    ['f() { a; }; function g { b; }; f', ['a', 'b', 'f']],
    ['coproc a', ['a']],
    ['[[ $(a) == $(b) ]] && [[ -n `c` ]]', ['a', 'b', 'c']],
    ['echo $(a $(b)) `c -e "\\."`', ['b', 'a <...>*', "c -e '\\.'", 'echo <...>* <...>*']],
    ['a <(b) >(c)', ['b', 'c', 'a <...> <...>']],
    ['cat <<E\n$(a) `b` ${x:-$(c)}\nE\n', ['a', 'b', 'c', 'cat']],
    ["cat <<'E'\n$(a) `b`\nE\n", ['cat']],
    ['cat <<< "$(a)"', ['a', 'cat']],
    ['x=$(a) y=`b`', ['a', 'b']],
    ['x=($(a) b); x+=("$(c)")', ['a', 'c']],
    ['echo > "$(a)"', ['a', 'echo']],
    ['echo ${x:-$(a)} ${x/$(b)/$(c)} ${x#`d`}', ['a', 'b', 'c', 'd', 'echo <...>* <...>* <...>*']],
    ['{ a; } > "$(b)"', ['b', 'a']],
    ['a # $(b)\nc', ['a', 'c']],
    ["echo 'x $(a)' \\$b", ["echo 'x $(a)' '$b'"]],
    ['git status\r\ntouch x', ["git 'status\r'", 'touch x']],
    ['a\u00a0b c', ["'a\u00a0b' c"]],
  ])('%j', (text, expected) => {
    expect(codes(text)).toEqual([]);
    expect(commands(text)).toEqual(expected);
  });

  it('says where it stands in the text', () => {
    const text = 'cd x && echo "$(git log)" >y';
    const { units } = read(text);
    expect(units.map(({ span }) => text.slice(span?.from, span?.to))).toEqual([
      'cd x',
      'git log',
      'echo "$(git log)" >y',
    ]);
    expect(units[2]?.argv.map(({ source }) => source)).toEqual(['echo', '"$(git log)"']);
  });

  it('names the functions that are defined', () => {
    expect(read('f() { a; }\nfunction g { b; }').functions.map(({ name }) => name)).toEqual([
      'f',
      'g',
    ]);
  });
});

describe('redirections', () => {
  const effects = (text: string) =>
    read(text).units.map(({ redirects }) =>
      redirects.map(({ effect, target }) => (target ? `${effect} ${shownArg(target)}` : effect)),
    );

  it.each([
    ['a > b', [['write b']]],
    ['a >> b', [['append b']]],
    ['a >| b', [['write b']]],
    ['a &> b', [['write b']]],
    ['a &>> b', [['append b']]],
    ['a >& b', [['write b']]],
    ['a >& "$x"', [['write <...>']]],
    ['a <> b', [['readwrite b']]],
    ['a < b', [['read b']]],
    ['a {fd}> b', [['write b']]],
    ['a 2>&1 >&- <&3', [['dup', 'dup', 'dup']]],
    ['a <<< b', [['text']]],
    ['> ~/.bashrc', [['write /h/.bashrc']]],
    ['{ a; b; } > c', [['write c'], ['write c']]],
    ['f() { a; } > c', [['write c']]],
    ['(a > b) > c', [['write b', 'write c']]],
    ['[[ -n x ]] > c', [['write c']]],
    ['a > b*', [['write glob(b*)']]],
  ])('%j', (text, expected) => {
    expect(effects(text)).toEqual(expected);
  });

  it.each([
    ['a', ['inherited']],
    ['a | b', ['inherited', 'pipe']],
    ['a | (b; c)', ['inherited', 'pipe', 'pipe']],
    ['a < f', ['file']],
    ['a <<< f', ['text']],
    ['a <&-', ['closed']],
    ['a | b < f', ['inherited', 'file']],
    ['exec < f; a', ['file', 'file']],
  ])('input of %j', (text, expected) => {
    expect(read(text).units.map(({ stdin }) => stdin)).toEqual(expected);
  });
});

describe('the directory is followed', () => {
  const last = (text: string) => read(text).units.at(-1)?.cwds?.toSorted();

  it.each([
    ['cd x && a', ['/p/x']],
    ['cd x; a', ['/p', '/p/x']],
    ['cd x || a', ['/p']],
    ['cd x || exit 1; a', ['/p/x']],
    ['cd x || exit 1 2; a', ['/p', '/p/x']],
    ['(cd x); a', ['/p']],
    ['cd x | b; a', ['/p']],
    ['cd x & a', ['/p']],
    ['cd && a', ['/h']],
    ['cd ~/y && a', ['/h/y']],
    ['cd .. && a', ['/']],
    ['if cd x; then a; fi', ['/p/x']],
    ['cd x && cd y && a', ['/p/x/y']],
    ['env -C /q a', ['/q']],
    ['cd "$d" && a', undefined],
    ['cd - && a', undefined],
    ['pushd x; a', undefined],
    ['. ./x; a', undefined],
    ['CDPATH=/q; cd x && a', undefined],
    ['for d in x y; do cd $d; a; done', undefined],
    ['cd() { :; }; cd x && a', undefined],
    ['f() { cd /; }; f; a', undefined],
    ['d=x; cd $d && a', ['/p/x']],
    ['HOME=/q cd && a', undefined],
  ])('%j', (text, expected) => {
    expect(last(text)).toEqual(expected);
  });
});

describe('variables', () => {
  it.each([
    ['x=rm; $x -rf v', ['rm -rf v']],
    ['a=r b=m; $a$b v', ['rm v']],
    ['x=\'a b\'; c $x "$x"', ["c a b 'a b'"]],
    ['x=; $x a', ['a']],
    ['for f in a b; do cat $f; done', ['cat a', 'cat b']],
    ['for f in a b; do x=$f; done; cat $x', ['cat <...>*']],
    ['x=a; if t; then x=b; fi; c $x', ['t', 'c b', 'c a']],
    ['x=a; t && x=b; c $x', ['t', 'c b', 'c a']],
    ['x=a; (x=b); c $x', ['c a']],
    ['x=a; while t; do c $x; x=b; done', ['t', 'c <...>*']],
    ['x=a; read x; c $x', ['read x', 'c <...>*']],
    ['x=a; . f; c $x', ['. f', 'c <...>*']],
    ['x=a; eval "$y"; c $x', ['eval <...>', 'c <...>*']],
    ['x=a; f() { x=b; }; f; c $x', ['f', 'c <...>*']],
    ["x=a; trap 'x=b' USR1; c $x", ['trap x=b USR1', 'c <...>*']],
    ['IFS=:; x=a:b; c $x', ['c <...>*']],
    ['x=a c $x', ['c <...>*']],
    ['readonly x=a; x=b; c $x', ['readonly x=a', 'c <...>*']],
    ['x=a; x+=b; c $x', ['c ab']],
    ['c "$@" "$1" $# "${a[@]}"', ['c <...>* <...> <...> <...>*']],
    ['c $HOME "$PWD"/y ~ ~/x ~+ ~bob', ['c /h /p/y /h /h/x /p <...>']],
    ['HOME=/q; c ~', ['c /q']],
    ['c pre$x"mid"', ['c <pre...>*']],
    ['c "pre$x"', ['c <pre...>']],
    ['x=rm; $x{1,2} y', ['<...>* <...>* y']],
    ['c "$(pwd)"', ['pwd', 'c /p']],
    ['m="$(cat <<\'E\'\nit\'s $(x)\n\nE\n)"; c "$m"', ['cat', "c 'it's $(x)'"]],
    ['c -m "$(cat <<\'E\'\na\nb\nE\n)"', ['cat', "c -m 'a\nb'"]],
  ])('%j', (text, expected) => {
    expect(codes(text)).toEqual([]);
    expect(commands(text)).toEqual(expected);
  });

  const assigned = (text: string) =>
    read(text).units.flatMap((unit) => unit.assigned.map((a) => `${a.how} ${a.name}=${a.value}`));

  it.each([
    ['A=1', ['shell A=1']],
    ['A=1 c', ['prefix A=1']],
    ['export A=1', ['export A=1']],
    ['declare -x A=1', ['export A=1']],
    ['declare A=1', ['shell A=1']],
    ['A=1; export A', ['shell A=1', 'export A=1']],
    ['set -a; A=1', ['export A=1']],
    ['export A; A=2', ['export A=undefined', 'export A=2']],
    ['env A=1 B=2 c', ['prefix A=1', 'prefix B=2']],
    ["A=1 bash -c 'c'", ['prefix A=1']],
    ['for PATH in x; do :; done', ['shell PATH=x']],
    ['read PATH', ['shell PATH=undefined']],
    ['printf -v PATH x', ['shell PATH=undefined']],
    ['mapfile -t PATH < x', ['shell PATH=undefined']],
    [
      'getopts ab PATH',
      ['shell PATH=undefined', 'shell OPTARG=undefined', 'shell OPTIND=undefined'],
    ],
    [': ${PATH:=x}', ['shell PATH=undefined']],
    ['((n = 1))', ['shell n=undefined']],
    ['exec {PATH}> x', ['shell PATH=undefined']],
    ['coproc PATH { a; }', ['shell PATH=undefined']],
  ])('assignments of %j', (text, expected) => {
    expect(codes(text)).toEqual([]);
    expect(assigned(text)).toEqual(expected);
  });
});

describe('a loop over files', () => {
  it.each([
    ['for f in src/*.ts; do wc -l "$f"; done', ['wc -l glob(src/*.ts)']],
    ['for f in a* b; do cat "$f" "${f}.x"; done', ['cat glob(a*) glob(a*.x)', 'cat b b.x']],
    ['for d in a*/; do cat "$d"x.ts; done', ['cat glob(a*/x.ts)']],
    ['for d in a*/; do cat "$d"*.ts; done', ['cat <a...>*']],
    ['for d in a*; do cd /; cat "$d"x; done', ['cd /', 'cat <...>']],
    ['for f in a*; do cat $f; done', ['cat <...>*']],
    ['for f in a*; do f=x; cat "$f"; done; cat "$f"', ['cat x', 'cat <...>']],
    ['for f in a*; do cd /; cat "$f"; done', ['cd /', 'cat <...>']],
    ['for d in a*/; do (cd "$d" && cat "$d"); done', ['cd glob(a*/)', 'cat <...>']],
  ])('%j', (text, expected) => {
    expect(commands(text)).toEqual(expected);
  });
});

describe('a file that is opened in another directory than the command runs in', () => {
  it.each([
    ['env -C src ls > ../out', '/w/out'],
    ['(cd src && ls) > out', '/w/p/out'],
    ['{ cd src; ls; } > /o', '/o'],
  ])('%j is %j', (text, file) => {
    const { units } = analyse(text, { cwd: '/w/p', home: '/h' });
    const targets = units.flatMap(({ redirects }) => redirects.map(({ target }) => target));
    expect(targets.length).toBeGreaterThan(0);
    for (const target of targets) expect(target).toMatchObject({ kind: 'literal', value: file });
  });
});
