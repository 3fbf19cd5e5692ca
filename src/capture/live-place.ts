// Where a capture is while its run goes on; `in-memory.ts` makes those that are in memory. It has a
// file of its own because the library's types show it, and those import nothing of Node.

/**
 * Where the capture of a run that begins should be; of a memory how much it may hold. `why` it is
 * `plain`, if the user wants it otherwise.
 */
export type LivePlace =
  | { readonly kind: 'memory'; readonly root: string; readonly outputBytesMax: number }
  | { readonly kind: 'plain'; readonly why?: string };
