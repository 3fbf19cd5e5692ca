// The part of `cuff hook` that writes the journal: for calls that are over or were denied, and for
// the files that an agent's own tools write. Loaded only for those.

import type { Recording } from '../hooks/answer.ts';
import { noteEdits } from '../hooks/edits.ts';
import { recordCall, recordDenial } from '../hooks/record.ts';
import { recordingOf } from './recording.ts';
import { takeHome } from './take-home.ts';

export const beforeEdit: Recording['beforeEdit'] = (call, cwd, { env }) => {
  noteEdits(env, call, cwd);
};

export const afterCall: Recording['afterCall'] = async (call, cwd, terms) => {
  await recordCall(call, cwd, { ...terms, recordingOf });
  await takeHome(cwd, terms.env);
};

export const afterDenial: Recording['afterDenial'] = (call, denied, cwd, terms) =>
  recordDenial(call, denied, cwd, { ...terms, recordingOf });
