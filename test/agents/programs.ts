// The agent programs that the lane drives: packages of the npm registry, each pinned by version and
// by the hash of its tarball. None of their install scripts is run: the tarball is unpacked, and
// `entry` is started, by Node where it is a script. How to pin a newer one: CONTRIBUTING.md.

export type AgentName = 'claude' | 'codex' | 'gemini' | 'opencode';

export interface AgentProgram {
  readonly package: string;
  readonly version: string;
  /** `dist.integrity` of the registry, behind `sha512-`. */
  readonly sha512: string;
  /** What is started, in the unpacked package. */
  readonly entry: string;
}

export const PROGRAMS: Readonly<Record<AgentName, AgentProgram>> = {
  claude: {
    package: '@anthropic-ai/claude-code-linux-x64',
    version: '2.1.325',
    sha512:
      'BqZzMvP/zgLLL34S+7OzbG+cyoFp7gwWHU5koVwsyMlTAz+0zZAmbY+UkzvtN2RXxp6AcMenbYIjQJxoXfUY3w==',
    entry: 'claude',
  },
  codex: {
    package: '@openai/codex',
    version: '0.166.0-linux-x64',
    sha512:
      'CxDm3+D1cpbGJeHrdzINoG+3wn9BVncP4qpZaaNYkxe8iPtRJOYyCJnnPoVjWRIBvI9vPKbRoifsMSA5xDaUpw==',
    entry: 'vendor/x86_64-unknown-linux-musl/bin/codex',
  },
  gemini: {
    package: '@google/gemini-cli',
    version: '0.61.0',
    sha512:
      'dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==',
    entry: 'bundle/gemini.js',
  },
  opencode: {
    package: 'opencode-linux-x64',
    version: '1.18.33',
    sha512:
      'q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlhhWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw==',
    entry: 'bin/opencode',
  },
};
