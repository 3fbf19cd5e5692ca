// Equal things as one: how several processes become one row.

const FOLDED_FROM = 3; // two equal ones are as easily read one by one

/** In the order of their first members; only three or more with the same key are together. */
export function grouped<T>(all: readonly T[], keyOf: (one: T) => unknown): T[][] {
  const groups = byKey(all, keyOf);
  return all.flatMap((one) => {
    const group = groups.get(keyOf(one)) ?? [one];
    if (group.length < FOLDED_FROM) return [[one]];
    return group[0] === one ? [group] : [];
  });
}

export function byKey<T, K>(all: readonly T[], keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}
