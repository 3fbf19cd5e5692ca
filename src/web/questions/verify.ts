// `GET /api/verify`, `/api/seal` and `/api/proof/ID`: whether the record is what was sealed, and
// how far that reaches.

import { placedEntry, proofJson } from '../../recordings/proof.ts';
import { thisProcess } from '../../run/processes.ts';
import { signedHead } from '../../sealing/anchors/anchoring.ts';
import { anchorState, anchorStateJson } from '../../sealing/anchors/state.ts';
import { readSmall, sealFile } from '../../sealing/place.ts';
import { proveEntry } from '../../sealing/prove.ts';
import { headJson } from '../../sealing/seal-all.ts';
import { outsideHere, ownOrigin } from '../../sealing/verify/here.ts';
import { verifyRecord } from '../../sealing/verify/record.ts';
import { verificationJson, verificationWords } from '../../sealing/verify/words.ts';
import { isoTime } from '../../text/dates.ts';
import type { SealAnswer, VerifyAnswer } from '../api.ts';
import { journalsFor, journalWith } from '../journals.ts';
import type { Question } from './ground.ts';

export const verify: Question = {
  params: ['project', 'session', 'deep'],
  async answer({ journals, store, env, cwd }, { params }): Promise<VerifyAnswer> {
    const [project, only] = [params.text('project'), params.text('session')];
    const found =
      only === undefined ? journalsFor(journals, project) : [journalWith(journals, only, project)];
    const origin = ownOrigin(store.root);
    const verification = verifyRecord({
      store,
      directories: found.map(({ directory }) => directory),
      outside: await outsideHere(store, { origin, project: cwd, env }),
      deep: params.on('deep'),
      only,
    });
    const now = store.now();
    const words = verificationWords(verification, now);
    return { ...verificationJson(verification), words, verified_at: isoTime(now) };
  },
};

export const seal: Question = {
  params: [],
  answer({ store }): SealAnswer {
    const head = signedHead(store.root);
    const anchors = anchorState(store.root);
    return {
      head: head === undefined ? null : headJson(head),
      vkey: readSmall(sealFile(store.root, 'vkey'))?.trim() ?? null,
      anchors: anchors === undefined ? null : anchorStateJson(anchors),
    };
  },
};

export const proof: Question = {
  params: ['journal'],
  async answer({ journals, store }, { id, params }) {
    const [first] = journalsFor(journals, params.text('journal'));
    const placed = placedEntry(first?.directory ?? '', store.root, id);
    const { root: stateRoot, alive } = store;
    const proven = await proveEntry(placed, { stateRoot, owner: thisProcess(), alive });
    return proofJson(proven, ['facts', 'text']);
  },
};
