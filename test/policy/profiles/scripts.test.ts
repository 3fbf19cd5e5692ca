// Program texts in languages of their own: what sed, awk and the shells of databases would do.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { awkParts } from '../../../src/policy/profiles/awk.ts';
import { sedParts } from '../../../src/policy/profiles/sed.ts';
import { sqlParts } from '../../../src/policy/profiles/sql.ts';
import { workOf } from '../../pace.ts';

const effectsOf = (read: { found: readonly { effect: string }[] }) =>
  [...new Set(read.found.map((found) => found.effect))].sort();

describe('sed', () => {
  test.each([
    ['1,120p'],
    ['$p'],
    ['1~2p'],
    ['0,/x/d'],
    ['/a/,/b/p'],
    ['/a/I,+3p'],
    ['2,~4d'],
    ['s/a/b/g'],
    ['s#a/b#c#gi'],
    ['s/[[:space:]]*$//'],
    ['s|\\||x|2p'],
    ['y/abc/xyz/'],
    ['/x/{s/a/b/;p}'],
    ['/x/{\n  n\n  d\n}'],
    [':a;N;$!ba;s/\\n/ /g'],
    ['$!N;P;D'],
    ['\\,/etc,d'],
    ['a hello w world'],
    ['1i\\\nfirst line\nd'],
    ['c\\\none\\\ntwo'],
    ['5q;l 20'],
    ['# comment w x\np'],
    ['1!G;h;$!d'],
    ['=;F;z;x'],
    ['s/w/e/'],
    ['/we/d'],
  ])('%j only edits', (script) => {
    expect(sedParts(script)).toEqual({ found: [], files: [] });
  });

  test.each([
    ['w /tmp/x', ['write']],
    ['1w/tmp/x', ['write']],
    ['/a/W x', ['write']],
    ['s/x/y/w /tmp/x', ['write']],
    ['s/x/y/gw out', ['write']],
    ['s,x,y,pw out', ['write']],
    ['e touch x', ['exec']],
    ['1e', ['exec']],
    ['s/x/touch y/e', ['exec']],
    ['s/x/y/ge', ['exec']],
    ['$!{e id\n}', ['exec']],
    ['/x/!e id', ['exec']],
    ['p;p;w x', ['write']],
    ['{p};e id', ['exec']],
    ['a text\ne id', ['exec']],
    ['# comment\nw x', ['write']],
    ['\\cxcw y', ['write']],
    ['y/a/b/;e id', ['exec']],
    ['v 4.2', ['unknown']],
    ['s/a/b', ['unknown']],
    ['s/[/]/x/', ['unknown']],
    ['s/a/b/k', ['unknown']],
    ['Z', ['unknown']],
    ['1,p', ['unknown']],
    ['p x', ['unknown']],
  ])('%j has effects', (script, expected) => {
    expect(effectsOf(sedParts(script))).toEqual(expected);
  });

  test('files that are read are named', () => {
    expect(sedParts('/x/r /etc/passwd\n$R b').files).toEqual(['/etc/passwd', 'b']);
  });

  test('a command that runs something is seen wherever it stands', () => {
    const inert = fc.constantFrom('p', '1d', 's/a/b/g', '/x/n', 'y/a/b/', '$!N', ':a', '/x/{p}');
    const separator = fc.constantFrom(';', '\n', ' ; ', '\n\n');
    fc.assert(
      fc.property(fc.array(inert), separator, fc.array(inert), (before, mark, after) => {
        const script = [...before, 'e id'].join(mark);
        expect(effectsOf(sedParts([script, ...after].join('\n')))).toContain('exec');
      }),
    );
  });
});

describe('awk', () => {
  test.each([
    ['{print $1}'],
    ['BEGIN{FS=","} {print $2, $3}'],
    ['$3 > 100 {print $1}'],
    ['{ if ($1 > 5) print; else print "a|b" }'],
    ['/a|b/ {n++} END {print n}'],
    ['{print ($1 > 2)}'],
    ['NR==1 || NR==3'],
    ['{s+=$1} END {printf "%d\\n", s/NR}'],
    ['!/x/ && /y/'],
    ['{gsub(/system/, "x"); print length($0)}'],
    ['{a[$1]++} END {for (k in a) print k, a[k]}'],
    ['# print > x\n{print}'],
    ['{print "a > b | system(1)"}'],
  ])('%j only prints', (program) => {
    expect(awkParts(program)).toEqual({ found: [], files: [] });
  });

  test.each([
    ['BEGIN{system("id")}', ['exec']],
    ['BEGIN{print "x" | "sh"}', ['exec']],
    ['BEGIN{"id"|getline}', ['exec', 'unknown']],
    ['BEGIN{"id" |& getline x}', ['exec', 'unknown']],
    ['{print > "/tmp/x"}', ['write']],
    ['{print $1 >> "x"}', ['write']],
    ['{printf("%s", $1) > "x"}', ['write']],
    ['{print $1,\n $2 > "x"}', ['write']],
    ['{print $1 \\\n > "x"}', ['write']],
    ['BEGIN{f="system"; @f("id")}', ['exec']],
    ['@load "x"', ['exec']],
    ['@include "x"', ['exec']],
    ['{getline < "/etc/passwd"; print}', ['unknown']],
    ['BEGIN{ARGV[1]="/etc/passwd";ARGC=2}', ['unknown']],
    ['BEGIN{SYMTAB["ARGV"][1]="/etc/passwd"}', ['unknown']],
    ['BEGIN{for (f in FUNCTAB) print f}', ['unknown']],
    ['BEGIN{print ENVIRON["HOME"]}', ['secret']],
    ['BEGIN{i++ / system("id") / 2}', ['unknown']],
    ['{print /[/]/ > "x"}', ['unknown']],
    ['{print "a', ['unknown']],
  ])('%j has effects', (program, expected) => {
    expect(effectsOf(awkParts(program))).toEqual(expected);
  });
});

describe('the shells of databases', () => {
  test.each([
    ['select * from users limit 5'],
    ['.tables'],
    ['.schema users\nselect 1;'],
    ['\\dt'],
    ['\\d+ users'],
    ['pragma table_info(users)'],
    ["select count(*) from t where a = 'b'"],
  ])('%j only asks', (text) => {
    expect(sqlParts(text)).toEqual({ found: [], files: [] });
  });

  test.each([
    ['.shell touch x', 'exec'],
    ['.sh touch x', 'exec'],
    ['  .system id', 'exec'],
    ['select 1;\n.output x', 'exec'],
    ['.import a b', 'exec'],
    ['.once |sh', 'exec'],
    ["select load_extension('x')", 'exec'],
    ["ATTACH 'x' as y", 'exec'],
    ["select writefile('x', 'y')", 'write'],
    ['drop table users', 'write'],
    ['DeLeTe from users', 'write'],
    ['pragma journal_mode=off', 'write'],
    ['\\! touch x', 'exec'],
    ['\\dt\\! touch x', 'exec'],
    ['\\copy t to x', 'exec'],
    ['\\d `id`', 'exec'],
    ["copy t to program 'id'", 'exec'],
    ['copy/**/t from stdin', 'exec'],
    ['select 1 \\g |sh', 'exec'],
  ])('%j has effects', (text, effect) => {
    expect(effectsOf(sqlParts(text))).toContain(effect);
  });
});

test('no text makes the readers fail, nor a long one slow', () => {
  const signs = fc.string({
    unit: fc.constantFrom(...'sywerap{};/\\|[]"\'\n>$1,!~.@() '),
    maxLength: 80,
  });
  fc.assert(
    fc.property(fc.oneof(signs, fc.string()), (text) => {
      for (const read of [sedParts, awkParts, sqlParts]) expect(read(text).files).toBeDefined();
    }),
    { numRuns: 1_500 },
  );
  for (const piece of ['[', '/*', 'print ', 's/[/', 'select ', '\\', 'v@', '"/', '{', 'a b ']) {
    const text = piece.repeat(8_192 / piece.length);
    const work = workOf(() => {
      for (const read of [sedParts, awkParts, sqlParts]) read(text);
    });
    expect(work, piece).toBeLessThan(150);
  }
});
