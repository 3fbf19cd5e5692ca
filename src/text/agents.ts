// The agent programs that cuff knows: one row each, and the only list of their names, variables and
// tools. Pure data, so that every folder may read it. These programs change: each row names the
// version that it was tried with, and `null` where only documents and public code were read.

export const AGENT_IDS = [
  'claude',
  'codex',
  'gemini',
  'qwen',
  'copilot',
  'cursor',
  'vscode',
  'opencode',
  'pi',
  'cline',
  'goose',
  'aider',
] as const;

export type AgentId = (typeof AGENT_IDS)[number];

export type Agent = {
  readonly id: AgentId;
  /** As its makers write it. */
  readonly title: string;
  /** The names that it gives itself as a client of MCP servers. */
  readonly clients: readonly string[];
  /** The version whose payloads, variables and tools these are. */
  readonly triedWith: string | null;
  /** Variables that it sets for the commands that it runs. */
  readonly variables: readonly string[];
  /** Of those, the ones that name the session, the best first. */
  readonly sessionVariables: readonly string[];
  /** Of those, the one that names the tool call. */
  readonly callVariable: string | null;
  /** Its commands can be made to run in `cuff sh`. Where not, only the hook can refuse one. */
  readonly shellKnob: boolean;
  /** The variable that leads to that shell where hooks can see it; `PATH` is a list. */
  readonly shellVariable: string | null;
  /** Names of the tools that run a command. */
  readonly shellTools: readonly string[];
  /** Names of the tools that write files. */
  readonly fileTools: readonly string[];
};

const CLAUDE_FILE_TOOLS = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

export const AGENTS: { readonly [id in AgentId]: Agent } = {
  claude: {
    id: 'claude',
    title: 'Claude Code',
    clients: ['claude-code'],
    triedWith: '2.1.325',
    variables: ['CLAUDECODE', 'CLAUDE_CODE_SESSION_ID', 'CLAUDE_PID', 'AI_AGENT'],
    sessionVariables: ['CLAUDE_CODE_SESSION_ID'],
    callVariable: null,
    shellKnob: true,
    shellVariable: 'CLAUDE_CODE_SHELL',
    shellTools: ['Bash'],
    fileTools: CLAUDE_FILE_TOOLS,
  },
  codex: {
    id: 'codex',
    title: 'Codex',
    clients: ['codex-mcp-client'],
    triedWith: '0.166.0',
    variables: [
      ...['CODEX_THREAD_ID', 'CODEX_SESSION_ID', 'CODEX_TOOL_CALL_ID', 'CODEX_VERSION'],
      ...['CODEX_CI', 'CODEX_SANDBOX_NETWORK_DISABLED'],
    ],
    // A subagent has a thread of its own; its hooks name the session.
    sessionVariables: ['CODEX_SESSION_ID', 'CODEX_THREAD_ID'],
    callVariable: 'CODEX_TOOL_CALL_ID',
    shellKnob: true,
    shellVariable: 'BASH_ENV',
    shellTools: ['Bash', 'shell', 'exec_command', 'local_shell'],
    fileTools: ['apply_patch'],
  },
  gemini: {
    id: 'gemini',
    title: 'Gemini CLI',
    clients: ['gemini-cli-mcp-client'],
    triedWith: '0.61.0',
    variables: ['GEMINI_CLI'],
    sessionVariables: [],
    callVariable: null,
    shellKnob: true,
    shellVariable: 'PATH',
    shellTools: ['run_shell_command'],
    fileTools: ['write_file', 'replace', 'edit'],
  },
  qwen: {
    id: 'qwen',
    title: 'Qwen Code',
    clients: ['qwen-cli-mcp-client', 'qwen-code-mcp-client'],
    triedWith: '0.24.4',
    variables: ['QWEN_CODE'],
    sessionVariables: [],
    callVariable: null,
    shellKnob: true,
    shellVariable: 'PATH',
    shellTools: ['run_shell_command'],
    fileTools: ['write_file', 'replace', 'edit', 'notebook_edit'],
  },
  copilot: {
    id: 'copilot',
    title: 'Copilot CLI',
    clients: ['copilot-cli', 'github-copilot-developer'],
    triedWith: '1.0.102',
    variables: ['COPILOT_CLI', 'COPILOT_AGENT_SESSION_ID'],
    sessionVariables: ['COPILOT_AGENT_SESSION_ID'],
    callVariable: null,
    shellKnob: false,
    shellVariable: null,
    shellTools: ['bash', 'Bash', 'shell'],
    fileTools: [
      'create',
      'edit',
      'write',
      'apply_patch',
      'str_replace',
      'str_replace_editor',
    ].concat(CLAUDE_FILE_TOOLS),
  },
  cursor: {
    id: 'cursor',
    title: 'Cursor',
    clients: ['cursor-vscode'],
    triedWith: null,
    variables: [],
    sessionVariables: [],
    callVariable: null,
    shellKnob: false,
    shellVariable: null,
    shellTools: ['Shell', 'Bash', 'run_terminal_cmd'],
    fileTools: [...CLAUDE_FILE_TOOLS, 'StrReplace', 'Delete', 'edit_file', 'delete_file'],
  },
  vscode: {
    id: 'vscode',
    title: 'VS Code',
    clients: ['Visual Studio Code', 'Visual Studio Code - Insiders'],
    triedWith: null,
    variables: [],
    sessionVariables: [],
    callVariable: null,
    shellKnob: false,
    shellVariable: null,
    shellTools: ['run_in_terminal', 'runInTerminal', 'Bash'],
    fileTools: [
      ...['create_file', 'createFile', 'insert_edit_into_file', 'insertEdit', 'apply_patch'],
      ...['replace_string_in_file', 'multi_replace_string_in_file', 'replaceString'],
      ...['edit_notebook_file', 'editNotebook', 'editFiles'],
      ...CLAUDE_FILE_TOOLS,
    ],
  },
  opencode: {
    id: 'opencode',
    title: 'OpenCode',
    clients: [],
    triedWith: '1.18.33',
    variables: ['OPENCODE', 'AGENT', 'OPENCODE_PID'],
    sessionVariables: [],
    callVariable: null,
    shellKnob: true,
    shellVariable: 'SHELL',
    shellTools: ['bash'],
    fileTools: ['write', 'edit', 'multiedit', 'patch', 'apply_patch'],
  },
  pi: {
    id: 'pi',
    title: 'pi',
    clients: [],
    triedWith: '1.5.0',
    variables: ['AI_AGENT', 'PI_SESSION_ID', 'PI_SESSION_FILE'],
    sessionVariables: ['PI_SESSION_ID'],
    callVariable: null,
    shellKnob: true,
    shellVariable: null,
    shellTools: ['bash'],
    fileTools: ['write', 'edit'],
  },
  cline: {
    id: 'cline',
    title: 'Cline',
    clients: [],
    triedWith: '3.0.65',
    variables: [],
    sessionVariables: [],
    callVariable: null,
    shellKnob: false,
    shellVariable: null,
    shellTools: ['run_commands', 'execute_command'],
    fileTools: [
      ...['write_to_file', 'replace_in_file', 'editor', 'apply_patch', 'new_rule'],
      ...['edit_file', 'write_file', 'create_file'],
    ],
  },
  goose: {
    id: 'goose',
    title: 'goose',
    clients: ['goose-cli', 'goose-desktop'],
    triedWith: null,
    variables: [],
    sessionVariables: [],
    callVariable: null,
    shellKnob: true,
    shellVariable: 'GOOSE_SHELL',
    shellTools: [],
    fileTools: [],
  },
  aider: {
    id: 'aider',
    title: 'aider',
    clients: [],
    triedWith: null,
    variables: [],
    sessionVariables: [],
    callVariable: null,
    shellKnob: true,
    shellVariable: 'SHELL',
    shellTools: [],
    fileTools: [],
  },
};

/**
 * Where an agent's own question to its person was proven to be asked and to be obeyed: by agent and
 * permission mode, with the test that proved it. Everywhere else an ask is a denial with an id to
 * approve. `auto` of Claude Code is not here: a classifier on its maker's server judges calls
 * there, and what that does with a question cannot be tried without it.
 */
export const PROVEN_ASKS: readonly {
  readonly agent: AgentId;
  readonly permissionMode: string;
  readonly proof: string;
}[] = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'].map((permissionMode) => ({
  agent: 'claude',
  permissionMode,
  proof: 'test/agents/asks.test.ts',
}));

export function isProvenAsk(agent: AgentId, permissionMode: string | null): boolean {
  return PROVEN_ASKS.some((one) => one.agent === agent && one.permissionMode === permissionMode);
}

/** What agent programs set for the commands that they run. */
export const AGENT_VARIABLES: ReadonlySet<string> = new Set(
  AGENT_IDS.flatMap((id) => AGENTS[id].variables),
);

export function isAgentId(value: unknown): value is AgentId {
  return AGENT_IDS.some((id) => id === value);
}

/** Names by which policies and clients may call an agent, as they are compared. */
const IDS: ReadonlyMap<string, AgentId> = new Map(
  AGENT_IDS.flatMap((id) => {
    const { title, clients } = AGENTS[id];
    return [id, title, ...clients].map((name) => [name.toLowerCase(), id] as const);
  }),
);

/** The id of an agent that is known by this name; any other name as it is compared. */
export function agentName(name: string): string {
  const plain = name.trim().toLowerCase();
  return IDS.get(plain) ?? plain;
}
