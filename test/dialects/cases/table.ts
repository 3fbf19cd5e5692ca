// The one table of golden cases, by dialect.
import type { GoldenDialect } from '../golden.ts';
import { bashRecorder } from './bash_recorder.ts';
import { claudeCode } from './claude_code.ts';
import { codex } from './codex.ts';
import { cuffShell } from './cuff_shell.ts';
import { derun } from './derun.ts';
import { phoenixBash } from './phoenix_bash.ts';
import { pipeBash } from './pipe_bash.ts';

export const TABLE: readonly GoldenDialect[] = [
  bashRecorder,
  claudeCode,
  codex,
  cuffShell,
  derun,
  phoenixBash,
  pipeBash,
];
