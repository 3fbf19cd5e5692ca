// Seed 000's dialect: a bash for agents whose commands are written down. A command that fails is an
// answer, and so is a refusal by the policy; only a call that could not be carried out is an error.

import type { Caller } from '../../agent/caller.ts';
import type {
  CliCommand,
  Resource,
  ResourceTemplate,
  ToolDefinition,
  ToolResult,
} from '../../host/plugin.ts';
import { RECORD_COMMANDS } from '../../recordings/commands.ts';
import type { Args } from '../arguments.ts';
import { dialect } from '../dialect.ts';
import { failed } from '../tool-plugin.ts';
import { recorderConfig } from './config.ts';
import { executeCall, recentCount, recorderTools, refuseArguments } from './tools.ts';
import { entryRow, executeAnswer, notStarted, recentAnswer, sessionAnswer } from './words.ts';

const RECORDING_URI = /^cuff:\/\/recordings\/([^/?#]+)$/;

const ABOUT = {
  name: 'bash_recorder',
  version: '1.0.0',
  config: recorderConfig,
  waitsAlways: true,
  firstSession: true,
};

export class RecorderPlugin extends dialect(ABOUT) {
  static getCliCommands(): readonly CliCommand[] {
    return RECORD_COMMANDS;
  }

  /** That recording is turned off is said once. */
  #saidChosen = false;

  getTools(): readonly ToolDefinition[] {
    return recorderTools(this.own);
  }

  protected override get refusalIsAnswer(): boolean {
    return true;
  }

  /** Seed 000's tools say themselves what is wrong with their arguments. */
  protected override checked(_tool: ToolDefinition, args: Args): Args {
    return args;
  }

  /** An answer is JSON: its notices have all there is to say. */
  protected override noted(result: ToolResult): ToolResult {
    return result;
  }

  protected async answer(tool: string, args: Args, caller: Caller): Promise<ToolResult> {
    if (tool === 'execute') return this.#execute(args, caller);
    const { conversationId } = caller.context;
    const { journal } = this.shell;
    if (tool === 'list_recent') {
      return listed(recentAnswer(journal.listRecent(recentCount(args), conversationId)));
    }
    refuseArguments(tool, args);
    return listed(sessionAnswer(journal.sessionInfo(conversationId)));
  }

  async #execute(args: Args, caller: Caller): Promise<ToolResult> {
    const { request, timeoutAsked } = executeCall(args, this.own);
    const run = await this.shell.start(request, caller);
    const ending = await this.shell.waitForEnd(run, caller);
    const { ended, receipt } = ending;
    if (ended?.outcome.kind === 'failed' && ended.outcome.error !== 'runner_lost') {
      return failed(notStarted(ended.outcome.message));
    }
    const chosen = receipt.recorded === false && receipt.chosen === true;
    const quiet = chosen && this.#saidChosen;
    this.#saidChosen ||= chosen;
    const { mounted = () => false } = this.services;
    const wording = {
      quiet,
      mounted,
      timeoutAsked,
      notes: [...caller.notes, ...this.changed(caller)],
    };
    const answer = executeAnswer(run, ending, wording);
    return { success: true, text: JSON.stringify(answer, null, 2) };
  }

  getResources(): readonly ResourceTemplate[] {
    return [
      {
        uriTemplate: 'cuff://recordings/{id}',
        name: 'A recording session',
        description: 'The commands of one session, with how each ended, and their totals.',
        mimeType: 'application/json',
      },
    ];
  }

  async readResource(uri: string): Promise<Resource | undefined> {
    const id = RECORDING_URI.exec(uri)?.[1];
    const found = id === undefined ? undefined : this.shell.journal.session(id);
    if (found === undefined) return undefined;
    const { metadata, entries } = found;
    const text = JSON.stringify({ ...metadata, entries: entries.map(entryRow) }, null, 2);
    return { uri, mimeType: 'application/json', text };
  }
}

function listed(structured: Readonly<Record<string, unknown>>): ToolResult {
  return { success: true, text: JSON.stringify(structured, null, 2), structured };
}
