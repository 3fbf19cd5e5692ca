// The profiles of one family of programs as one text, and back. A line is a profile; its options
// and its subcommands are the numbers of other lines, so that what many share is there once. The
// first line has the number of each name. A line is read when it is asked for.

import type { Facts, Profile } from '../profile.ts';

export type PackedFamily = {
  /** With blanks between them. */
  readonly names: string;
  readonly text: () => string;
};

type Numbers = Readonly<Record<string, number>>;

type Packed = Omit<Profile, 'options' | 'subcommands'> & {
  readonly options?: number;
  readonly subcommands?: Numbers;
};

export function packProfiles(profiles: Readonly<Record<string, Profile>>): PackedFamily {
  const lines = new Map<string, number>();
  const known = new Map<Profile, number>();
  const lineOf = (line: string): number => {
    const number = lines.get(line) ?? lines.size + 1;
    lines.set(line, number);
    return number;
  };
  const numberOf = (profile: Profile): number => {
    const found = known.get(profile);
    if (found !== undefined) return found;
    const { options, subcommands, ...rest } = profile;
    const packed: Packed = {
      ...rest,
      ...(options !== undefined && { options: lineOf(options.trim().replace(/\s+/g, ' ')) }),
      ...(subcommands && { subcommands: mapped(subcommands, numberOf) }),
    };
    const number = lineOf(JSON.stringify(packed));
    known.set(profile, number);
    return number;
  };
  const numbers = JSON.stringify(mapped(profiles, numberOf));
  const text = [numbers, ...lines.keys()].join('\n');
  return { names: Object.keys(profiles).join(' '), text: () => text };
}

export type Family = {
  readonly names: () => readonly string[];
  profile(name: string): Profile | undefined;
};

/** The text is asked for with the first of its names. */
export function unpackProfiles({ names, text }: PackedFamily): Family {
  const list = ` ${names} `;
  let find: ((name: string) => Profile | undefined) | undefined;
  return {
    names: () => names.split(' '),
    profile: (name) => {
      if (!list.includes(` ${name} `) || name.includes(' ')) return undefined;
      find ??= finder(text().split('\n'));
      return find(name);
    },
  };
}

function finder(lines: readonly string[]): (name: string) => Profile | undefined {
  const numbers: Numbers = JSON.parse(lines[0] ?? '');
  const known = new Map<number, Profile>();
  const profileAt = (number: number): Profile => {
    const found = known.get(number);
    if (found !== undefined) return found;
    const { options, subcommands, ...rest }: Packed = JSON.parse(lines[number] ?? '');
    const profile: Profile = {
      ...rest,
      ...(options !== undefined && { options: lines[options] ?? '' }),
      ...(subcommands && { subcommands: mapped(subcommands, profileAt) }),
    };
    known.set(number, profile);
    return profile;
  };
  return (name) => {
    const number = numbers[name];
    return number === undefined ? undefined : profileAt(number);
  };
}

function mapped<T, U>(
  given: Readonly<Record<string, T>>,
  change: (value: T) => U,
): Readonly<Record<string, U>> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, change(value)]));
}

/** Every different record is a line behind that with the number of each name. */
export function packFacts(facts: Readonly<Record<string, Facts>>): string {
  const lines = new Map<string, number>();
  const numbers = mapped(facts, (one) => {
    const line = JSON.stringify(one);
    const number = lines.get(line) ?? lines.size + 1;
    lines.set(line, number);
    return number;
  });
  return [JSON.stringify(numbers), ...lines.keys()].join('\n');
}

export function unpackFacts(text: string): (name: string) => Facts | undefined {
  const lines = text.split('\n');
  const numbers: Numbers = JSON.parse(lines[0] ?? '');
  const known = new Map<number, Facts>();
  return (name) => {
    const number = Object.hasOwn(numbers, name) ? numbers[name] : undefined;
    if (number === undefined) return undefined;
    const found: Facts = known.get(number) ?? JSON.parse(lines[number] ?? '');
    known.set(number, found);
    return found;
  };
}
