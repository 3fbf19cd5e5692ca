// What random inputs begin with. The ordinary run has fixed seeds, so that the same sources get the
// same verdict; a long run has one new seed for all, which vitest.config.ts chooses. CUFF_SEED=N
// repeats either.

const FIXED = {
  properties: 20_240_611,
  fuzz: 828_871_459,
  disguises: 51_234_567,
  kills: 17_092_026,
  attacks: 40_961,
  mutations: 7_400_321,
} as const;

export function seedOf(series: keyof typeof FIXED): number {
  return Number(process.env.CUFF_SEED ?? FIXED[series]);
}

/** For the log of a run. */
export function seedText(): string {
  const given = process.env.CUFF_SEED;
  const fixed = Object.entries(FIXED).map(([series, seed]) => `${series} ${seed}`);
  return given === undefined
    ? `Random inputs begin with fixed seeds: ${fixed.join(', ')}.`
    : `Random inputs begin with CUFF_SEED=${given}.`;
}
