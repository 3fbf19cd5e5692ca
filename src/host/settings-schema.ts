// The JSON Schema of a settings file, for editors. What the loader really checks is in
// `settings-check.ts`; the names of keys and values come from there.

import { ASK_MIN_MS } from '../limits.ts';
import { LIVE_WAYS } from '../packing/recipients.ts';
import { SIZE } from '../text/size.ts';
import { BUILTIN_PREFIX } from '../trust/plugin-source.ts';
import type { Builtins } from './modules.ts';
import type { JsonSchema } from './plugin.ts';
import { ASK_MIN_MS_MAX, PLUGIN_NAME, PLUGIN_TYPES, TOOL_NAMES } from './settings-check.ts';

export function settingsSchema(builtins: Builtins): JsonSchema {
  const known = Object.entries(builtins).map(([name, { configSchema }]) => [
    name,
    pluginSchema(configSchema ?? { type: 'object' }),
  ]);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'cuff settings',
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      plugins: {
        description: 'The plugins to mount. Without this key: bash_recorder and derun.',
        type: ['object', 'null'],
        propertyNames: { pattern: PLUGIN_NAME.source },
        properties: Object.fromEntries(known),
        additionalProperties: { ...pluginSchema({ type: 'object' }), required: ['module'] },
      },
      tool_names: {
        description: 'How tools are listed: plugin_tool or plugin.tool. Calls may use both.',
        enum: TOOL_NAMES,
        default: 'underscore',
      },
      ask: {
        description: 'Questions to the person at the client.',
        type: ['object', 'null'],
        additionalProperties: false,
        properties: {
          min_ms: {
            description: "An answer in fewer milliseconds is the client's own and counts as none.",
            type: ['integer', 'null'],
            minimum: 0,
            maximum: ASK_MIN_MS_MAX,
            default: ASK_MIN_MS,
          },
        },
      },
      seal: SEAL,
      encryption: ENCRYPTION,
      captures: CAPTURES,
    },
  };
}

const SEAL: JsonSchema = {
  description: "The ledger that seals journals. Counts in the user's own settings alone.",
  type: ['object', 'null'],
  additionalProperties: false,
  properties: {
    enabled: {
      description: 'Seal what is recorded.',
      type: ['boolean', 'null'],
      default: true,
    },
    anchor: {
      description: 'Where the root of the ledger goes: journal, file PATH, git REPOSITORY ...',
      type: ['array', 'null'],
      items: {
        type: 'string',
        pattern: '^(journal|trailer|file /.*|git .+|witness https?://.* .*)$',
      },
    },
  },
};

const CAPTURES: JsonSchema = {
  description: "Captures of agents' commands. Counts in the user's own settings alone.",
  type: ['object', 'null'],
  additionalProperties: false,
  properties: {
    budget: {
      description: 'How much room they may take after their first day; the oldest go first.',
      type: ['integer', 'string', 'null'],
      minimum: 0,
      pattern: SIZE.source,
      default: '2 GiB',
    },
  },
};

const ENCRYPTION: JsonSchema = {
  description: "Captures are encrypted when they are over. In the user's own settings alone.",
  type: ['object', 'null'],
  additionalProperties: false,
  properties: {
    recipients: {
      description: 'Who can read them: recipients of age, such as `cuff identity` shows.',
      type: ['array', 'null'],
      items: { type: 'string', pattern: '^(age1|ssh-)' },
      default: [],
    },
    live: {
      description: 'Where a capture is while its run goes on: memory needs recipients.',
      enum: [...LIVE_WAYS],
      default: 'plain',
    },
  },
};

function pluginSchema(config: JsonSchema): JsonSchema {
  return {
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      enabled: { description: 'Mount it.', type: 'boolean', default: true },
      type: { description: 'It runs inside the server.', enum: PLUGIN_TYPES },
      module: {
        description: `A path like ./plugin.js, from here, or ${BUILTIN_PREFIX}NAME.`,
        type: ['string', 'null'],
      },
      // With all of its keys commented out it is null.
      config: { ...config, type: ['object', 'null'] },
    },
  };
}
