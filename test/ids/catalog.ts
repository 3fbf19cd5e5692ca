// Requirements proven by the tests of this area; test/requirements.ts puts the lists together.
export const IDS: Readonly<Record<string, string>> = {
  'S000-R140': 'an unfinished last line of a session is left out by its readers',
  'S000-R178': 'commands are counted by their normal form, files taken out',
  'S000-R220': 'catalog and list of sessions are files of mode 0600',
};
