// The golden answers of `derun`: facts as data, about captures that are built for it.
import { DerunPlugin } from '../../../src/dialects/derun/dialect.ts';
import { type Built, build, NOW, type Part, testStore } from '../../capture/helper.ts';
import { World } from '../../recorder/helper.ts';
import type { GoldenDialect, Step } from '../golden.ts';

const STREAMS: readonly Part[] = [
  { bytes: 'out\n', at: NOW },
  { bytes: 'err\n', channel: 'stderr', at: NOW + 1_000 },
];

const NEWER: Built = {
  id: 'newer',
  meta: { createdAt: NOW + 5_000, command: { kind: 'shell', text: 'make test' } },
  final: { state: 'signaled', outcome: { kind: 'signaled', signal: 'SIGKILL' } },
};

function capture(built: Built = {}): Step {
  return { after: ({ world }) => void build(testStore(world.stateRoot), STREAMS, built) };
}

const session_id = 'one';

export const derun: GoldenDialect = {
  name: 'derun',
  plugin: DerunPlugin,
  world: () => new World({ now: () => NOW }),
  masked: [],
  extension: 'json',
  shown: ({ structured }) => JSON.stringify(structured, null, 2),
  cases: [
    { steps: [{ tools: true, golden: 'tools' }] },
    {
      steps: [
        capture({ id: 'older' }),
        capture(NEWER),
        { tool: 'list_sessions', success: true, golden: 'list' },
      ],
    },
    {
      steps: [
        capture(),
        { tool: 'get_session', args: { session_id }, success: true, golden: 'get' },
      ],
    },
    {
      steps: [
        capture(),
        { tool: 'read_output', args: { session_id }, success: true, golden: 'read' },
      ],
    },
    {
      steps: [
        capture(),
        {
          tool: 'read_output',
          args: { session_id, encoding: 'text' },
          success: true,
          golden: 'read-text',
        },
      ],
    },
    {
      steps: [
        capture({ meta: 'missing', final: 'missing' }),
        { tool: 'get_session', args: { session_id }, success: true, golden: 'get-damaged' },
      ],
    },
  ],
};
