// What a client tells its model about this server as a whole, as far as those tools are there.

const ABOUT: readonly (readonly [prefix: string, sentence: string])[] = [
  [
    'bash_recorder',
    'Run shell commands with bash_recorder_execute: each starts in a fresh shell, is captured ' +
      'byte for byte and written to an audit journal.',
  ],
  [
    'derun',
    'Every command that anybody ran through cuff or derun on this machine is a session, also ' +
      'while it runs in another terminal: find it with derun_list_sessions, read its output with ' +
      'derun_read_output from cursor "0", follow it with derun_wait_output. Pass on next_cursor ' +
      'until final is true; encoding "text" gives text instead of base64.',
  ],
];

export function instructionsFor(tools: readonly string[]): string {
  return ABOUT.filter(([prefix]) => tools.some((name) => name.startsWith(prefix)))
    .map(([, sentence]) => sentence)
    .join('\n');
}
