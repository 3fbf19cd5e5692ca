// The kinds of things a command may have done. Apart, because the help of a command lists them and
// must not load what reads commands.

/** The most serious first. */
export const DEED_KINDS = [
  'dangerous',
  'secret',
  'remote-code',
  'hidden-code',
  'published',
  'sent',
  'deleted',
  'protected',
  'elevated',
  'permissions',
  'overwrote',
] as const;

export type DeedKind = (typeof DEED_KINDS)[number];

export type Act = {
  readonly kind: DeedKind;
  /** From 1 to 3: how much it matters among its kind. */
  readonly weight: number;
  /** The part of the command. */
  readonly part: string;
};
