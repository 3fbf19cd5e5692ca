// A map that keeps the last `countMax` entries and forgets the oldest first.

export function keepRecent<K, V>(map: Map<K, V>, key: K, value: V, countMax: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= countMax) return;
    map.delete(oldest);
  }
}
