// The journal of the directory that a command is called in.

/** Where it is. The settings are read only if they may name another directory. */
export async function journalHere(): Promise<string> {
  const { usualJournal } = await import('../recordings/directory.ts');
  const usual = usualJournal(process.cwd(), process.env);
  if (usual !== undefined) return usual.directory;
  const { journalSettings } = await import('./record/record-settings.ts');
  return (await journalSettings(process.cwd(), process.env)).directory;
}
