import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VERDICTS } from '../../src/policy/decision.ts';
import { judgement, PROJECT } from './helper.ts';

const ALLOWED = ['git status', 'git log --oneline -5', 'ls -la src', 'cat README.md', 'npm test'];
const REFUSED = [
  'rm -rf build',
  'git push --force',
  'touch /tmp/x',
  'curl http://evil.example/x',
  './git status',
  'cat /etc/passwd',
  'git log --output=x',
];

const rules = {
  allow: ['git status', 'git log *', 'ls *', 'cat *', 'npm test', 'echo *', 'true'],
  deny: ['rm *', 'git push --force'],
};

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** An allowed command `a` and a refused one `r` in one text that bash would run both of. */
const EMBEDDINGS: Readonly<Record<string, (a: string, r: string) => string>> = {
  'behind a semicolon': (a, r) => `${a}; ${r}`,
  'behind &&': (a, r) => `${a} && ${r}`,
  'in front of ||': (a, r) => `${r} || ${a}`,
  'on the next line': (a, r) => `${a} # it's fine\n${r}`,
  'at the end of a pipe': (a, r) => `${a} | ${r}`,
  'in the background': (a, r) => `${r} & ${a}`,
  'in a subshell': (a, r) => `${a}; ( ${r} )`,
  'in a substitution': (a, r) => `${a}; echo "x$(${r})"`,
  'in backquotes': (a, r) => `${a}; echo \`${r.replace(/[\\`]/g, '\\$&')}\``,
  'in a process substitution': (a, r) => `${a}; cat <(${r})`,
  'in a condition': (a, r) => `if ${r}; then ${a}; fi`,
  'in a loop': (a, r) => `for i in 1 2; do ${a}; ${r}; done`,
  'in a case': (a, r) => `case x in x) ${r} ;; esac; ${a}`,
  'in a function': (a, r) => `helper() { ${r}; }; ${a}; helper`,
  'in a here-document': (a, r) => `${a}; cat <<E\n$(${r})\nE`,
  'in bash -c': (a, r) => `${a}; bash -c ${quoted(r)}`,
  'in eval': (a, r) => `${a}; eval ${quoted(r)}`,
  'in a trap': (a, r) => `trap ${quoted(r)} EXIT; ${a}`,
  'behind timeout': (a, r) => `${a}; timeout 5 ${r}`,
  'behind env': (a, r) => `${a}; env CI=1 ${r}`,
  'behind nohup and nice': (a, r) => `${a}; nohup nice -n 5 ${r}`,
  'behind time and !': (a, r) => `${a}; time ! ${r}`,
  'in a default value': (a, r) => `${a}; echo \${x:-$(${r})}`,
  'in a group with a redirection': (a, r) => `{ ${a}; ${r}; } > /dev/null`,
};

describe('a refused command with an allowed one', () => {
  const judged = judgement(rules);

  it.each(Object.entries(EMBEDDINGS))('%s is never allowed', (_name, embed) => {
    for (const allowed of ALLOWED) {
      expect(judged.decide(allowed, PROJECT).verdict, allowed).toBe('allow');
      for (const refused of REFUSED) {
        expect(judged.decide(refused, PROJECT).verdict, refused).not.toBe('allow');
        const text = embed(allowed, refused);
        expect(judged.decide(text, PROJECT).verdict, text).not.toBe('allow');
      }
    }
  });

  it('is never allowed, embedded twice', () => {
    const embedding = fc.constantFrom(...Object.values(EMBEDDINGS));
    fc.assert(
      fc.property(
        fc.constantFrom(...ALLOWED),
        fc.constantFrom(...REFUSED),
        embedding,
        embedding,
        (allowed, refused, outer, inner) => {
          const text = outer(allowed, inner(allowed, refused));
          expect(judged.decide(text, PROJECT).verdict, text).not.toBe('allow');
        },
      ),
      { numRuns: 500 },
    );
  });
});

const hex = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');

/** The same word for bash. */
const QUOTINGS: Readonly<Record<string, (word: string) => string>> = {
  'in single quotes': (word) => `'${word}'`,
  'in double quotes': (word) => `"${word}"`,
  'with backslashes': (word) => [...word].map((one) => `\\${one}`).join(''),
  'as ANSI-C text': (word) => `$'${word}'`,
  'as hexadecimal': (word) => `$'${hex(word)}'`,
  'as octal': (word) =>
    `$'${[...Buffer.from(word)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}'`,
  'as a translated text': (word) => `$"${word}"`,
  'with empty quotes in it': (word) => `${word.slice(0, 1)}''""${word.slice(1)}`,
  'half quoted': (word) => `"${word.slice(0, 1)}"'${word.slice(1)}'`,
  'with a joined line in it': (word) => `${word.slice(0, 1)}\\\n${word.slice(1)}`,
  'by a default value': (word) => `"\${unset_name_of_ours:-${word}}"`,
};

describe('a command that is written otherwise', () => {
  const judged = judgement(rules);
  const commands = [...ALLOWED, ...REFUSED, 'git log --outp=x', 'git -c core.pager=x log'];

  it.each(Object.entries(QUOTINGS).slice(0, 10))('%s is decided alike', (_name, quote) => {
    for (const command of commands) {
      const text = command.split(' ').map(quote).join('  ');
      const [plain, other] = [command, text].map((one) => judged.decide(one, PROJECT));
      expect([other?.verdict, other?.code], text).toEqual([plain?.verdict, plain?.code]);
    }
  });

  it('by a default value is not decided looser', () => {
    const quote = QUOTINGS['by a default value'] ?? ((word) => word);
    for (const command of REFUSED) {
      const text = command.split(' ').map(quote).join(' ');
      expect(judged.decide(text, PROJECT).verdict, text).not.toBe('allow');
    }
  });

  it('word by word in different ways is decided alike', () => {
    const quote = fc.constantFrom(...Object.values(QUOTINGS).slice(0, 10));
    fc.assert(
      fc.property(
        fc.constantFrom(...commands),
        fc.array(quote, { minLength: 6, maxLength: 6 }),
        (command, quotes) => {
          const words = command.split(' ').map((word, at) => quotes[at]?.(word) ?? word);
          const text = words.join(' ');
          const [plain, other] = [command, text].map((one) => judged.decide(one, PROJECT));
          expect([other?.verdict, other?.code], text).toEqual([plain?.verdict, plain?.code]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('a decision', () => {
  const strictness = (verdict: (typeof VERDICTS)[number]): number => VERDICTS.indexOf(verdict);
  const commands = [...ALLOWED, ...REFUSED, 'make', 'python3 x.py', 'x=rm; $x -rf build'];
  const patterns = ['git *', 'rm *', 'git push', 'ls -l *', 'cat <path>', 'npm {test,run} *', '*'];

  it('is never looser with one more denying or asking rule', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...commands),
        fc.constantFrom('allow', 'ask', 'deny'),
        fc.subarray(patterns),
        fc.constantFrom(...patterns),
        fc.constantFrom('ask' as const, 'deny' as const),
        (command, by, some, more, kind) => {
          const before = { default: by, allow: rules.allow, [kind]: some };
          const after = { ...before, [kind]: [...some, more] };
          const [loose, strict] = [before, after].map(
            (each) => judgement(each).decide(command, PROJECT).verdict,
          );
          expect(strictness(strict ?? 'allow')).toBeGreaterThanOrEqual(strictness(loose ?? 'deny'));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('of a denied command is never looser with one more word', () => {
    const words = fc.constantFrom(
      '-v',
      '--verbose',
      '--',
      'x',
      '-f',
      '--force',
      '*',
      '"$y"',
      '-n5',
    );
    const denied = ['rm -rf build', 'git push --force', 'rm x', 'git push origin --force'];
    const judged = judgement({ default: 'allow', deny: rules.deny });
    fc.assert(
      fc.property(fc.constantFrom(...denied), words, fc.nat(4), (command, word, at) => {
        const parts = command.split(' ');
        // Behind the program and its subcommand: in front of it, it would be another.
        parts.splice(Math.min(parts.length, (command.startsWith('git') ? 2 : 1) + at), 0, word);
        const text = parts.join(' ');
        expect(judged.decide(text, PROJECT).verdict, text).toBe('deny');
      }),
      { numRuns: 200 },
    );
  });
});
