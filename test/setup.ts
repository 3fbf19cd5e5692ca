// `npm test` is a gate: the same sources must get the same verdict each time, so the property tests
// begin with one seed. A long run (CUFF_LONG=1) takes another each time, and prints it on failure.
import { configureGlobal } from 'fast-check';

const SEED = 20_240_611;

if (process.env.CUFF_LONG !== '1') configureGlobal({ seed: Number(process.env.CUFF_SEED ?? SEED) });
