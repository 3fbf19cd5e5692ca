// `/api/policy`: the files in force, what is odd about a draft, what it says of a command, and what
// it would have said of everything that was recorded. Nothing is written: a draft is saved by the
// person who made it.

import { resolve } from 'node:path';
import { homeOf, isThere } from '../../places.ts';
import { lintJson } from '../../policies/check.ts';
import { type CheckResult, checkBy } from '../../policies/checked.ts';
import { parsePolicy, readPolicyFile } from '../../policies/files.ts';
import { presetText } from '../../policies/init/document.ts';
import { projectFacts } from '../../policies/init/project.ts';
import { type PolicyPlace, policyPlaces } from '../../policies/places.ts';
import { policyText } from '../../policies/policy-text.ts';
import { realPath } from '../../policies/real-path.ts';
import { countingPolicies } from '../../policies/trust.ts';
import { lintPolicy } from '../../policy/lint.ts';
import type { LoadedPolicy } from '../../policy/policy.ts';
import { backtestJson, diffPolicies, testPolicy } from '../../recordings/evidence.ts';
import { DAY_MS } from '../../text/dates.ts';
import { asString, type JsonObject } from '../../text/json.ts';
import type { CheckAnswer, LintAnswer, PolicyAnswer, PolicyFile, WhatIfAnswer } from '../api.ts';
import { bodyOf, optionalText, textOf } from '../body.ts';
import { Fault } from '../fault.ts';
import { journalsFor } from '../journals.ts';
import { Params } from '../params.ts';
import { questionsJson } from '../question-json.ts';
import type { Ground, Question } from './ground.ts';

const WHATIF_DAYS = 30;
const DIFFERENCES_MAX = 500; // a page that shows more is read by no person
const DRAFT = 'draft';

export const policy: Question = {
  params: ['project'],
  answer(ground, { params }): PolicyAnswer {
    const project = projectOf(ground, params.text('project'));
    return {
      project,
      files: placesOf(ground, project).map((place) => fileJson(ground, place, project)),
      questions: questionsJson(ground.env),
      template: templateOf(project),
    };
  },
};

/** Without the line that tells an editor where the schema is. */
function templateOf(project: string): string {
  const text = presetText({ preset: 'dev', facts: projectFacts(project), schema: '' });
  return text.replace(/^# yaml-language-server: .*\n/, '');
}

export const lint: Question = {
  params: [],
  answer({ env, cwd }, { body }): LintAnswer {
    return lintOf(textOf(bodyOf(body, ['text']), 'text'), homeOf(env), cwd);
  },
};

export const check: Question = {
  params: [],
  answer(ground, { body }): CheckAnswer {
    const json = bodyOf(body, ['command', 'cwd', 'project', 'text']);
    const project = projectOf(ground, optionalText(json, 'project'));
    const command = textOf(json, 'command');
    const draft = optionalText(json, 'text');
    const policies =
      draft === undefined ? inForce(ground, project) : [drafted(ground, draft, project)];
    if (policies.length === 0) return NO_POLICY;
    const cwd = resolve(project, asString(json.cwd) ?? project);
    const decide = checkBy(policies, { env: ground.env, project, real: realPath });
    return checkJson(decide(command, cwd));
  },
};

const NO_POLICY: CheckAnswer = {
  verdict: null,
  code: null,
  mode: null,
  rule: null,
  words: ['No policy applies here: everything may run.'],
};

export const whatif: Question = {
  params: [],
  answer(ground, { body }): WhatIfAnswer {
    const json = bodyOf(body, ['text', 'project', 'since']);
    const text = textOf(json, 'text');
    const wanted = optionalText(json, 'project');
    const project = projectOf(ground, wanted);
    const home = homeOf(ground.env);
    const found = lintOf(text, home, project);
    if (!found.valid) return { ...found, test: null, diff: null };
    const since = sinceOf(json, ground.store.now());
    const [journal] = journalsFor(ground.journals, wanted);
    const directory = journal?.directory ?? '';
    const draft = drafted(ground, text, project);
    const { result } = testPolicy(draft, { directory, since, home });
    const before = placesOf(ground, project)
      .flatMap((place) => {
        const read = readPolicyFile(place, { home, project });
        return read.kind === 'good' ? [read.loaded] : [];
      })
      .at(-1);
    const diff = before && diffPolicies(before, draft, { directory, since, home });
    return {
      ...found,
      test: backtestJson(result),
      diff:
        diff === undefined
          ? null
          : {
              against: before?.file ?? '',
              compared: diff.compared,
              loosened: diff.loosened,
              tightened: diff.tightened,
              decisions: diff.decisions.slice(0, DIFFERENCES_MAX),
            },
    };
  },
};

function sinceOf(json: JsonObject, now: number): number {
  const since = optionalText(json, 'since');
  const query = new URLSearchParams(since === undefined ? {} : { since });
  return new Params(query, ['since'], now).time('since') ?? now - WHATIF_DAYS * DAY_MS;
}

/** Only one that has a journal here: the page is no way to read files from anywhere. */
function projectOf({ journals, cwd }: Ground, wanted: string | undefined): string {
  const [first] = journalsFor(journals, wanted);
  return realPath(wanted === undefined ? (first?.project ?? cwd) : (first?.project ?? cwd));
}

function placesOf({ env }: Ground, project: string): readonly PolicyPlace[] {
  return policyPlaces({ project, env }).filter(({ path, named }) => named || isThere(path));
}

function fileJson({ env }: Ground, place: PolicyPlace, project: string): PolicyFile {
  const read = policyText(place.path, false);
  const { path, origin } = place;
  if ('why' in read) {
    const problem = { line: 1, column: 1, message: read.why };
    return { path, origin, text: null, problems: [problem], warnings: [] };
  }
  const context = { home: homeOf(env), project, guest: place.guest === true };
  const { problems, warnings } = lintJson(lintPolicy(read.text, context));
  return { path, origin, text: read.text, problems: [...problems], warnings };
}

function lintOf(text: string, home: string, project: string): LintAnswer {
  return lintJson(lintPolicy(text, { home, project, guest: true }));
}

/** As a server of the project has them. */
function inForce({ env }: Ground, project: string): readonly LoadedPolicy[] {
  const places = policyPlaces({ project, env });
  const texts = places.flatMap((place) => {
    const read = readPolicyFile(place, { home: homeOf(env), project });
    if (read.kind === 'bad') throw new Fault(409, read.problem);
    return read.kind === 'good' ? [{ ...read, place }] : [];
  });
  return countingPolicies(texts, places, { project, env }).policies;
}

function drafted({ env }: Ground, text: string, project: string): LoadedPolicy {
  const place = { path: DRAFT, origin: 'project' } as const;
  const read = parsePolicy(text, place, { home: homeOf(env), project });
  if (read.kind === 'good') return read.loaded;
  throw new Fault(400, read.kind === 'bad' ? read.problem : 'There is no draft.');
}

function checkJson({ decision, mode, files }: CheckResult): CheckAnswer {
  const { verdict, code, reasons } = decision;
  const counted = reasons.filter((one) => verdict === 'allow' || one.verdict !== 'allow');
  const words = counted.flatMap(({ message, hint, rule }) => [
    message,
    ...(rule === undefined ? [] : [`The rule is \`${rule.pattern}\`.`]),
    ...(hint === undefined ? [] : [hint]),
  ]);
  const by = files.filter((file) => file !== DRAFT);
  return {
    verdict,
    code,
    mode,
    rule: reasons.find((one) => one.rule !== undefined)?.rule?.pattern ?? null,
    words: [...words, ...(by.length === 0 ? [] : [`By ${by.join(', ')}.`])],
  };
}
