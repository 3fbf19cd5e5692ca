// Property tests begin with the seed of this run, which global-setup.ts has printed.
import { configureGlobal } from 'fast-check';
import { seedOf } from './seed.ts';

configureGlobal({ seed: seedOf('properties') });
