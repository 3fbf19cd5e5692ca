// Which scripts and targets of a project a preset may allow: those with a name that says that they
// build, check or start something, and whose own text does nothing that deserves a look. What such
// a text calls is not followed; docs/policy.md says so.

import { judge } from '../../policy/decide.ts';
import type { Act, DeedKind } from '../../policy/deed-kinds.ts';
import { deedsOf } from '../../policy/deeds.ts';
import { EMPTY_POLICY, unsaved } from '../../policy/policy.ts';
import type { Task } from './project.ts';

export type TaskChoice = {
  /** Build, test, check, format: they end by themselves. */
  readonly checks: readonly string[];
  /** Start something: they go on until they are stopped. */
  readonly servers: readonly string[];
  readonly left: readonly { readonly name: string; readonly why: string }[];
};

const CHECKS = new RegExp(
  [
    '^(?:all|bench|build|check|checks|clean|codegen|compile|cov|coverage|debug|docs?|e2e|eslint',
    'fmt|format|gen|generate|integration|jest|lint|mypy|prettier|pytest|ruff|spec|style|test|tests',
    'tsc|typecheck|type-check|types|unit|validate|verify|vet|vitest)(?:[:._-].*)?$',
  ].join('|'),
);
const SERVERS = /^(?:dev|develop|preview|run|serve|server|start|storybook|watch)(?:[:._-].*)?$/;

/** `build:deploy` builds, and then it deploys. */
const LEAVES_HOME =
  /deploy|publish|release|upload|push|prod|destroy|drop|wipe|reset|purge|login|sudo/i;

export function chosenTasks(all: readonly Task[]): TaskChoice {
  const place = { project: '/project', cwd: '/project', home: '/home/user' };
  const judgement = judge({ policies: [RULELESS], project: place.project, home: place.home });
  const checks: string[] = [];
  const servers: string[] = [];
  const left: { name: string; why: string }[] = [];
  for (const { name, texts } of all) {
    const acts = texts.flatMap((text) => deedsOf(text, place, judgement.decide(text, place.cwd)));
    const [act] = acts.filter((one) => !isCleaning(name, one));
    if (act !== undefined) left.push({ name, why: DEEDS[act.kind] });
    else if (LEAVES_HOME.test(name)) left.push({ name, why: 'its name' });
    else if (CHECKS.test(name)) checks.push(name);
    else if (SERVERS.test(name)) servers.push(name);
    else if (!/^(?:pre|post)/.test(name)) left.push({ name, why: 'what it does is not known' });
  }
  return { checks, servers, left };
}

/** Inside of the project, which is what such a task is for. */
function isCleaning(name: string, { kind, weight }: Act): boolean {
  return kind === 'deleted' && weight < OUTSIDE && /^clean(?:[:._-]|$)/.test(name);
}

const OUTSIDE = 3;

const RULELESS = unsaved({ ...EMPTY_POLICY, default: 'allow' });

const DEEDS: { readonly [kind in DeedKind]: string } = {
  dangerous: 'it could empty a disk',
  secret: 'it reads secrets',
  'remote-code': 'it runs code from the network',
  'hidden-code': 'it runs code that it decodes first',
  published: 'it pushes, publishes or deploys',
  sent: 'it sends data to other machines',
  deleted: 'it deletes',
  protected: 'it writes what is protected',
  elevated: 'it runs as another user',
  permissions: 'it changes permissions',
  overwrote: 'it writes outside of the project',
};
