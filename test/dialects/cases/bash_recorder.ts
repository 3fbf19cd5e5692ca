// The golden answers of `bash_recorder`.
import { RecorderPlugin } from '../../../src/dialects/bash_recorder/dialect.ts';
import { conversation, World } from '../../recorder/helper.ts';
import type { GoldenDialect } from '../golden.ts';
import { BECOME } from '../hard-cases.ts';

const NOON = Date.UTC(2026, 0, 18, 14, 30, 52, 123);
const about = conversation('c');

export const bashRecorder: GoldenDialect = {
  name: 'bash_recorder',
  plugin: RecorderPlugin,
  world: () => new World({ now: () => NOON }),
  masked: [
    [/("duration_ms"|"total_duration_ms"): \d+/g, '$1: 0'],
    [/"pid": \d+/g, '"pid": 1234'],
    [/\d{8}-\d{6}-[0-9a-f]{8}/g, 'RUN'],
    [/(\d{8}_\d{6}_)[0-9a-f]{8}-[0-9a-f]{4}/g, '$1a7b3c9d2-e4f5'],
    [/(e_\d{8}_\d{6}_\d{3})-[0-9a-f]{4}/g, '$1-e4f5'],
  ],
  cases: [
    { steps: [{ tools: true, golden: 'tools' }] },
    {
      steps: [
        {
          tool: 'execute',
          args: { command: 'echo "two\nlines"; echo e >&2' },
          success: true,
          golden: 'execute',
        },
      ],
    },
    {
      config: { execution: { max_timeout: 50 } },
      steps: [
        {
          tool: 'execute',
          args: { command: `printf '\\xff'; sleep 60 & ${BECOME}; kill -TERM $$`, timeout: 900 },
          golden: 'execute-more',
        },
      ],
    },
    {
      steps: [
        { tool: 'execute', args: { command: 'true', description: 'Works' }, about },
        { tool: 'execute', args: { command: 'exit 7' }, about },
        { tool: 'session_info', about, success: true, golden: 'session_info' },
        { tool: 'list_recent', about, success: true, golden: 'list_recent' },
      ],
    },
  ],
};
