// What is kept about the last so many of something, the oldest forgotten first.

export function keepRecent<K, V>(map: Map<K, V>, key: K, value: V, countMax: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= countMax) return;
    map.delete(oldest);
  }
}
