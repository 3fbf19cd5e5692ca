// Whether runs can be traced here, for tests that need it: asked once, as the product asks.
import { traceCheck } from '../../src/shell/trace-check.ts';

const check = traceCheck(process.env);

export const untraceable = !check.ok;

if (!check.ok) process.stderr.write(`no tracing here: ${check.reason}\n`);

/** Of every agent tool that is told to trace. */
export const TRACED = { recording: { trace: 'on' } } as const;
