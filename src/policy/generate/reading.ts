// Recorded commands as units that rules can be made of. A command that cannot be judged by its
// text, or that holds a secret, is left out here, before anything is made of it.

import { analyse } from '../analyse/index.ts';
import { destroysOutside } from '../deeds.ts';
import { needsNoRule } from '../programs.ts';
import type { Unit } from '../unit.ts';
import type { Observation } from './evidence.ts';
import { looksSecret } from './secrets.ts';
import { type Shape, shapeOf } from './shape.ts';
import { type Ground, groundOf, type Need, needsOf } from './surroundings.ts';

/** A command that a policy can be made from. */
export type Reading = {
  readonly seen: Observation;
  /** One for each unit that needs a rule. */
  readonly shapes: readonly Shape[];
  readonly needs: readonly Need[];
  /** Why no rule may be made from it, if none may. */
  readonly unfit: 'destructive' | 'denied' | undefined;
};

export type ReadResult = { readonly reading: Reading } | { readonly reason: string };

export class Reader {
  readonly #home: string;
  readonly #grounds = new Map<string, Ground>();
  readonly #shapes = new Map<string, Shape | undefined>();

  constructor(home: string) {
    this.#home = home;
  }

  read(seen: Observation): ReadResult {
    const { command, cwd, project } = seen;
    if (looksSecret(command)) return { reason: 'secret' };
    const { units, problems, functions } = analyse(command, { cwd, home: this.#home });
    if (problems.length > 0) return { reason: 'unanalysable' };
    const own = new Set(functions.map(({ name }) => name));
    const shapes: Shape[] = [];
    const needs = new Set<Need>();
    const ground = this.#groundOf(project);
    for (const unit of units) {
      for (const need of needsOf(unit, ground)) needs.add(need);
      if (unit.behind !== undefined || isFree(unit, own)) continue;
      const shape = this.#shapeOf(unit);
      if (shape === undefined) return { reason: 'program.unknown' };
      shapes.push(shape);
    }
    // That it happened, or that an agent says so, is no reason to let it happen again.
    const place = { cwd, project, home: this.#home };
    const destroys = destroysOutside(command, units, place);
    const unfit = destroys ? 'destructive' : seen.denied ? 'denied' : undefined;
    return { reading: { seen, shapes, needs: [...needs], unfit } };
  }

  #groundOf(project: string): Ground {
    const ground = this.#grounds.get(project) ?? groundOf({ project, home: this.#home });
    this.#grounds.set(project, ground);
    return ground;
  }

  /** The same words have the same shape, and most are seen again and again. */
  #shapeOf(unit: Unit): Shape | undefined {
    const words = unit.argv.map((arg) =>
      arg.kind === 'literal' ? `=${arg.value}` : `${arg.kind} ${arg.source}`,
    );
    const key = [unit.via.includes('xargs'), ...words].join('\0');
    const known = this.#shapes.get(key);
    if (known !== undefined || this.#shapes.has(key)) return known;
    const shape = shapeOf(unit);
    this.#shapes.set(key, shape);
    return shape;
  }
}

/** It needs no rule: the commands of a function are units of their own. */
function isFree(unit: Unit, functions: ReadonlySet<string>): boolean {
  const [first] = unit.argv;
  if (first === undefined || needsNoRule(unit)) return true;
  return first.kind === 'literal' && functions.has(first.value);
}
