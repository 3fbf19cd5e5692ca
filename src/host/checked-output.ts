// Checks what a plugin returns before it is used: its tools, its resources and the answers of its
// tools have the promised shape, or an error names what has not.

import { asObject, asString, type JsonObject } from '../text/json.ts';
import { quoted } from '../text/problems.ts';
import type { Health } from '../types.ts';
import type { Resource, ResourceTemplate, ToolDefinition, ToolResult } from './plugin.ts';
import type { ToolNames } from './settings-check.ts';

// Claude and OpenAI refuse other names, and one refused name can hide the whole server.
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

// The Anthropic API refuses schemas with one of these at their top.
const UNION_KEYS = ['oneOf', 'anyOf', 'allOf'];

const JSON_DEPTH_MAX = 100; // a cycle has no end

type Named = Pick<ToolDefinition, 'name' | 'plain'>;

/** The name of a tool in both forms, which are the same for a plain one. */
export function toolNames(plugin: string, { name, plain }: Named): Record<ToolNames, string> {
  if (plain === true) return { underscore: name, dotted: name };
  return { underscore: `${plugin}_${name}`, dotted: `${plugin}.${name}` };
}

/** Copies, so that a plugin cannot change them later. Throws a sentence. */
export function checkedTools(plugin: string, given: unknown): ToolDefinition[] {
  const tools = copyOf(given);
  if (!Array.isArray(tools)) throw new Error('getTools gave no array');
  const names = new Set<string>();
  return tools.map((tool) => {
    const object = asObject(tool);
    const name = asString(object?.name);
    if (object === undefined || name === undefined) throw new Error('a tool has no name');
    const plain = object.plain === true;
    if (!TOOL_NAME.test(toolNames(plugin, { name, plain }).underscore)) {
      const rule = 'at most 64 letters, digits, _ and - with its plugin in front';
      throw new Error(`the tool ${quoted(name)} has a name that clients refuse: ${rule}`);
    }
    if (names.has(name)) throw new Error(`two tools are called ${quoted(name)}`);
    names.add(name);
    if (asString(object.description) === undefined) {
      throw new Error(`the tool ${quoted(name)} has no description`);
    }
    checkSchema(name, 'parameters', object.parameters);
    if (object.outputSchema !== undefined) checkSchema(name, 'outputSchema', object.outputSchema);
    return object as ToolDefinition;
  });
}

function checkSchema(tool: string, key: string, given: unknown): void {
  const schema = asObject(given);
  if (schema?.type !== 'object') {
    throw new Error(`${key} of the tool ${quoted(tool)} are no schema of type object`);
  }
  const union = UNION_KEYS.find((name) => name in schema);
  if (union !== undefined) {
    throw new Error(`${key} of the tool ${quoted(tool)} have ${union} at the top`);
  }
}

export function checkedResources(given: unknown): ResourceTemplate[] {
  const templates = copyOf(given);
  const keys = ['uriTemplate', 'name', 'description', 'mimeType'];
  if (!Array.isArray(templates) || !templates.every((one) => hasStrings(one, keys))) {
    throw new Error('getResources gave something else than an array of templates');
  }
  return templates as unknown[] as ResourceTemplate[];
}

export function checkedResource(given: unknown): Resource | undefined {
  if (given === undefined) return undefined;
  const resource = copyOf(given);
  if (!hasStrings(resource, ['uri', 'mimeType', 'text'])) {
    throw new Error('readResource gave something else than a resource');
  }
  return resource as Resource;
}

export function checkedResult(given: unknown): ToolResult {
  const result = asObject(given);
  if (typeof result?.success !== 'boolean' || typeof result.text !== 'string') {
    throw new Error('callTool gave something else than {success, text}');
  }
  const { success, text } = result;
  const structured = asObject(result.structured);
  if (result.structured === undefined) return { success, text };
  if (structured === undefined || !isJson(structured, JSON_DEPTH_MAX)) {
    throw new Error('callTool gave structured content that is no JSON object');
  }
  return { success, text, structured };
}

export function checkedHealth(given: unknown): Health {
  const health = asObject(copyOf(given));
  if (typeof health?.healthy !== 'boolean') {
    throw new Error('healthCheck gave something else than {healthy, ...}');
  }
  const reasons = Array.isArray(health.reasons) ? health.reasons.map(String) : [];
  return { ...health, healthy: health.healthy, reasons };
}

/** As JSON has it: no functions, no cycles, nothing that changes later. */
function copyOf(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Looked through, not copied: it may hold megabytes of output. */
function isJson(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (['string', 'boolean', 'undefined'].includes(typeof value) || value === null) return true;
  if (typeof value !== 'object' || depth === 0 || 'toJSON' in value) return false;
  return Object.values(value).every((child) => isJson(child, depth - 1));
}

function hasStrings(value: unknown, keys: readonly string[]): value is JsonObject {
  const object = asObject(value);
  return object !== undefined && keys.every((key) => typeof object[key] === 'string');
}
