// Commands that a shell between an agent and bash could spoil. Each is one call of the agent's own
// shell tool.
export const COMMANDS: readonly string[] = [
  'echo out; exit 3',
  'echo err >&2; exit 4',
  "cat <<'END'\nline $HOME 'quoted'\nEND",
  'cat < /etc/hostname > /dev/null && echo ok',
  `for i in 1 2 3; do echo "o$i"; echo "e$i" >&2; done 2>&1`,
  'head -c 3000000 /dev/zero | tr "\\0" x | wc -c',
  'head -c 3000000 /dev/zero | tr "\\0" y',
  "printf 'a\\0b\\n'",
  "printf '\\377\\376 é\\n'",
  'kill -TERM $$',
  'exec echo replaced',
  'mkdir -p below && cd below && pwd',
  'pwd',
  'exit 300',
  'echo one \\',
  `echo "it's" 'a "quote"' \\$x # and a comment`,
  'false | true; echo "$PIPESTATUS"',
  'set -e; false; echo not reached',
  'no-such-program-here',
  'if then', // an error of syntax
  'sleep 0 & wait $!; echo "waited $?"',
  'bash -c "echo nested; exit 5"',
  'grep -c nothing /etc/hostname',
  "env | grep -i -e '^cuff_[a-z]*=' -e '^BASH_ENV=' | grep -v CUFF_AGENT_CASE; echo $?",
];

/** What tells the order of the two streams; most agents read them apart, and in any order. */
export const INTERLEAVED = 'for i in 1 2 3 4; do echo "o$i"; echo "e$i" >&2; done';
