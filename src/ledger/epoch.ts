// The key of a day: what a ledger signs is signed with it, too, and its private half is destroyed
// when the next one begins. Its name is the origin, `/` and the day: standard verifiers take its
// lines for those of a key that they do not know.

const DAY = /^(\d{4}-\d\d-\d\d)$/;

/** In UTC. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

export function epochName(origin: string, day: string): string {
  return `${origin}/${day}`;
}

/** The day of a key with this name; undefined for that of the ledger itself, and of others. */
export function epochDay(name: string, origin: string): string | undefined {
  if (!name.startsWith(`${origin}/`)) return undefined;
  return DAY.exec(name.slice(origin.length + 1))?.[1];
}

/** The origin in the name of a key of a day. */
export function epochOrigin(name: string): string | undefined {
  const origin = name.slice(0, Math.max(0, name.lastIndexOf('/')));
  return epochDay(name, origin) === undefined ? undefined : origin;
}
