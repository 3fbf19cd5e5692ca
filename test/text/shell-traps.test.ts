// Which commands would notice a trap for the end of their shell.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noticesTrap } from '../../src/text/shell-traps.ts';

describe('a trap of somebody else', () => {
  it.each([
    'trap -p',
    'cd x; trap "echo bye" EXIT',
    'x=$(trap -p)',
    'builtin trap -p',
    'f() { trap -p; }; f',
    'eval "trap -p"',
    't=trap; $t -p',
    'ulimit -f 0',
    'set',
    'set | grep x',
    'set -v',
    'set -exv',
    'set -o verbose',
    'set +r',
    'set $options',
    'shopt -so verbose',
    'shopt -s extdebug',
    'declare',
    'declare -p',
    'typeset -p HOME',
    'compgen -v',
    'alias a=b',
    'enable -n pwd',
    'builtin() { :; }',
    'function builtin { :; }',
    'echo $PIPESTATUS',
    'BASH_XTRACEFD=1',
    "PS4='$(date) '; set -x",
    'trap (',
  ])('is noticed by: %s', (command) => {
    expect(noticesTrap(command)).toBe(true);
  });

  it.each([
    'cd x && make',
    'git commit -m "set a trap; ulimit"',
    'cd x && DEBUG=1 npm start',
    './configure --enable-x --set',
    'source setup.sh && cd x',
    '$PYTHON setup.py && $NPM config set a b',
    'set -euo pipefail; cd x',
    'set -- -v; echo $1',
    'shopt -s globstar',
    'declare -A a=([b]=c)',
    'declare -r s=1; readonly t=2',
    'cat <<E\ntrap\nE',
    '# trap',
    'eval "$(ssh-agent)"',
  ])('is not noticed by: %s', (command) => {
    expect(noticesTrap(command)).toBe(false);
  });

  it('is a question that has an answer for any text', () => {
    fc.assert(fc.property(fc.string(), (text) => noticesTrap(`set ${text}`) !== undefined));
  });
});
