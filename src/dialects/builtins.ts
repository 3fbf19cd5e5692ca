// The plugins that come with cuff, by the name that settings call them and their tools begin with.

import type { PluginClass } from '../plugin.ts';
import { DerunPlugin } from './derun.ts';
import { RecorderPlugin } from './recorder.ts';

export const BUILTINS: Readonly<Record<string, PluginClass>> = {
  bash_recorder: RecorderPlugin,
  derun: DerunPlugin,
};
