// What the native client starts for each recorded call: a command of an agent waits for it.

import { loadPart } from './code-cache.ts';

void loadPart('sh-call', () => import('./sh.ts')).then(({ sh }) => sh(process.argv.slice(3)));
