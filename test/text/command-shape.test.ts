// How commands are grouped for counting: literals for what people see, properties for the rest.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalForm } from '../../src/text/command-shape.ts';

describe('the normal form of a command', () => {
  it('groups the commands of the sample as the sample does', () => {
    const forms = [
      'git status',
      'npm test',
      'ls -la',
      'cat package.json',
      'cat /etc/hosts',
      'git diff',
    ];
    expect(forms.map(normalForm)).toEqual([
      'git status',
      'npm test',
      'ls -la',
      'cat <file>',
      'cat <file>',
      'git diff',
    ]);
  });

  it.each([
    ['  git   status\n', 'git status'],
    ['./run.sh a/b ../c . ~/d *.ts', './run.sh <file> <file> <file> <file> <file>'],
    ['/usr/bin/git log', '/usr/bin/git log'],
    ['curl -s https://example.org/x?y=1', 'curl -s <url>'],
    ['tsc --project=src/tsconfig.json --watch', 'tsc --project=<file> --watch'],
    ['git commit -m "fix the thing"', 'git commit -m <text>'],
    [`grep 'needle' "src"`, 'grep needle src'],
    ['git commit --message="a b"', 'git commit --message=<text>'],
    ['NODE_ENV=test CI=1 npm test', 'npm test'],
    ['A=1 B=2', 'A= B='],
    ['A=1; npm test', 'A= ; npm test'],
    ['cd /tmp/x&&npm test||exit 1', 'cd <file> && npm test || exit 1'],
    ['make 2>&1 | tee build.log &', 'make 2>&1 | tee <file> &'],
    ['echo x >out.txt 2> /dev/null', 'echo x > <file> 2> <file>'],
    ['npm ci\nnpm test\n\n', 'npm ci ; npm test'],
    ['npm run \\\n  build', 'npm run build'],
    ['node -e 1.5 v1.2.3', 'node -e 1.5 v1.2.3'],
    ['echo "never closed', 'echo <text>'],
    ['echo ""', 'echo <text>'],
    [`x ${'y'.repeat(65)}`, 'x <text>'],
    ['a b c d e f g h i j k l m n o p q r', 'a b c d e f g h i j k l m n o p …'],
    ['', ''],
  ])('of %j is %j', (command, form) => {
    expect(normalForm(command)).toBe(form);
  });

  const pieces = fc.constantFrom(
    ...[
      ' ',
      '\n',
      '\\',
      "'",
      '"',
      ';',
      '&',
      '|',
      '<',
      '>',
      '2',
      '=',
      '-',
      '.',
      '/',
      '~',
      '…',
      '$(',
    ],
    ...['A=1', '<file>', '<text>', '--x=', 'a.ts', 'https://h/', 'word', '\\\n', '&>', '\u{1f600}'],
  );
  const commands = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 40 }).map((all) => all.join('')),
  );

  it('is its own normal form, has no line end and is short, whatever the command', () => {
    fc.assert(
      fc.property(commands, (command) => {
        const form = normalForm(command);
        expect(normalForm(form)).toBe(form);
        expect(form).not.toContain('\n');
        expect(form.length).toBeLessThan(17 * 110);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each(["'", '"', '\\', '<', 'a=', '--a=', '.a', '; ', '\n', ' x', '&', 'A=1 ', '"xxxxxxx'])(
    'costs no more for ten megabytes of %j than for the part that is looked at',
    (piece) => {
      const long = `a ${piece.repeat(10_000_000 / piece.length)}`;
      expect(normalForm(long)).toBe(normalForm(long.slice(0, 8_192)));
    },
  );
});
