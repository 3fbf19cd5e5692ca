// The library: `import { createShell, createBashTool } from 'cuff'`.

export { AppError, type ErrorCode, isAppError } from './errors.ts';
export {
  type AiSdkTool,
  type StandardInputSchema,
  toAiSdkTools,
} from './library/ai-sdk-tools.ts';
export {
  type AnthropicBash,
  type AnthropicBashOptions,
  createAnthropicBash,
} from './library/anthropic-bash.ts';
export {
  type AnthropicRunContext,
  type AnthropicTool,
  type AnthropicToolResult,
  type AnthropicToolUse,
  anthropicToolResult,
  toAnthropicTools,
} from './library/anthropic-tools.ts';
export type {
  BashTool,
  HouseOptions,
  InputSchema,
  LibraryLog,
  ToolAnswer,
  ToolCallOptions,
  ToolInput,
} from './library/bash-tool.ts';
export {
  type BashToolOptions,
  createBashTool,
  createBashTools,
  DIALECT_NAMES,
  type DialectName,
} from './library/dialect-tools.ts';
export {
  type LangChainConfig,
  type LangChainToolFields,
  toLangChainTools,
} from './library/langchain-tools.ts';
export {
  createOpenAIShell,
  type OpenAILocalShellCall,
  type OpenAILocalShellCallOutput,
  type OpenAIShell,
  type OpenAIShellCall,
  type OpenAIShellCallOutput,
  type OpenAIShellOptions,
  type OpenAIShellOutput,
} from './library/openai-shell.ts';
export {
  type OpenAIFunctionCall,
  type OpenAIFunctionCallOutput,
  type OpenAIResponsesTool,
  type OpenAIRunner,
  type OpenAITool,
  openAIFunctionOutput,
  toOpenAIResponsesTools,
  toOpenAITools,
} from './library/openai-tools.ts';
export type { Callable, SchemaObject } from './library/shapes.ts';
export type {
  AbortSignalLike,
  EventsOptions,
  KillOptions,
  MemoryOutput,
  Recording,
  Run,
  RunEvent,
} from './shell/run.ts';
export {
  type Capture,
  type CaptureSummary,
  createShell,
  type OutputPiece,
  type ReadResult,
  type Shell,
  type ShellOptions,
  type StartOptions,
  type ViewOptions,
} from './shell/shell.ts';
export type {
  CaptureFinal,
  CaptureMeta,
  CaptureState,
  CaptureTrace,
  Channel,
  Chunk,
  Command,
  Ended,
  EndedBy,
  Outcome,
  ProcessId,
  Survivor,
  TraceMode,
  TraceSetting,
  Transport,
  TransportMode,
  View,
} from './types.ts';
