// The agent programs of this run: in CI those that most people use, elsewhere all.

import { isFetched } from '../cache.ts';
import { programsOfThisRun } from '../programs.ts';
import { claude } from './claude.ts';
import type { AgentClient } from './client.ts';
import { cline } from './cline.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { qwen } from './qwen.ts';

const ALL: readonly AgentClient[] = [claude, codex, gemini, opencode, copilot, qwen, pi, cline];

const WANTED = programsOfThisRun();

export const CLIENTS = ALL.filter(({ name }) => WANTED.includes(name) && isFetched(name));
