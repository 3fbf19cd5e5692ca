// The instructions that a client passes on to its model: a sentence for each kind of tool.

const ABOUT: readonly (readonly [tool: string, sentence: string])[] = [
  [
    'bash_recorder_execute',
    'Run shell commands with bash_recorder_execute: each starts in a fresh shell, is captured ' +
      'byte for byte and written to an audit journal.',
  ],
  [
    'shell_run',
    'Run shell commands with shell_run. All output is kept: read more of it with shell_read, ' +
      'search it with shell_search, and run nothing twice to see more. A command that is not ' +
      'done in time goes on; shell_wait waits for it. Every command is written to a journal.',
  ],
  ...['bash', 'Bash', 'exec_command'].map((tool): readonly [string, string] => [
    tool,
    `Run shell commands with ${tool}: each is captured byte for byte and written to an audit ` +
      'journal.',
  ]),
  [
    'derun_list_sessions',
    'Every command that anybody ran through cuff or derun on this machine is a session, also ' +
      'while it runs in another terminal: find it with derun_list_sessions, read its output with ' +
      'derun_read_output from cursor "0", follow it with derun_wait_output. Pass on next_cursor ' +
      'until final is true; encoding "text" gives text instead of base64.',
  ],
];

export function instructionsFor(tools: readonly string[]): string {
  const plain = new Set(tools.map((name) => name.replace('.', '_')));
  return ABOUT.filter(([tool]) => plain.has(tool))
    .map(([, sentence]) => sentence)
    .join('\n');
}
