// Finds the command. `run` has a path of its own that loads nothing else, because it stands in
// front of every command a person types; so have `record list` and `record search`, which are used
// most. `mcp` answers its client before the server is loaded. All others share one lazily loaded
// program.

import { loadPart } from './code-cache.ts';
import { fail } from './fail.ts';
import { mendStreams } from './socket-streams.ts';

export async function main(name: 'cuff' | 'derun', args: readonly string[]): Promise<void> {
  try {
    if (args[0] === 'run') {
      const { runCommand } = await import('./run.ts');
      await runCommand(name, args.slice(1));
      return;
    }
    if (name === 'cuff' && args[0] === 'hook' && !/^(?:-h|--help)$/.test(args[1] ?? '')) {
      mendStreams(['stdin']);
      const { hookCommand } = await loadPart('judging', () => import('./judging.ts'));
      await hookCommand(args.slice(1));
      return;
    }
    if (name === 'cuff' && args[0] === 'policy' && args[1] === 'check') {
      const { checkQuickly } = await loadPart('judging', () => import('./judging.ts'));
      if (await checkQuickly(args.slice(2))) return;
    }
    mendStreams();
    if (name === 'cuff' && args[0] === 'record' && args[1] === 'list') {
      const { recordList } = await import('./record/list.ts');
      await recordList(args.slice(2));
    } else if (name === 'cuff' && args[0] === 'record' && args[1] === 'search') {
      const { recordSearch } = await import('./record/search.ts');
      await recordSearch(args.slice(2));
    } else if (name === 'cuff' && args[0] === 'sh') {
      const { sh } = await loadPart('sh-call', () => import('./sh.ts'));
      await sh(args.slice(1));
    } else if (name === 'cuff' && args[0] === 'mcp') {
      const { openFront } = await import('./mcp-front.ts');
      const front = await openFront(args.slice(1));
      await front?.settled;
      const { program } = await import('./program.ts');
      await program(name, args, front);
    } else {
      const { program } = await import('./program.ts');
      await program(name, args);
    }
  } catch (error) {
    fail(name, error);
  }
}
