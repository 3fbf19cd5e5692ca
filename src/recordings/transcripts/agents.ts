// The agents whose transcripts are understood. Plain data: the help of a command lists them.

export const TRANSCRIPT_AGENTS = [
  'claude',
  'codex',
  'gemini',
  'qwen',
  'opencode',
  'copilot',
  'pi',
  'cline',
  'cursor',
] as const;

export type TranscriptAgent = (typeof TRANSCRIPT_AGENTS)[number];
