// All that it takes to read policies and to judge by them, in one piece: a server loads it when it
// has a policy.

export { explain, judge } from '../policy/decide.ts';
export { parsePolicy, readPolicyFile } from './files.ts';
