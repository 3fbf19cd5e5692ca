// The names of the presets. Apart, because the help of a command lists them and loads no rules.

export const PRESETS = ['dev', 'read-only', 'ci'] as const;
export type Preset = (typeof PRESETS)[number];
