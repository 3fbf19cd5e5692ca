// Requirements proven by test/policy: rules made from what was recorded.
export const IDS: Readonly<Record<string, string>> = {
  'S000-R003': 'allowlists are generated from recorded sessions',
  'S000-R005': 'a policy tried on the recordings names what is risky in them, and why',
  'S000-R019': 'policies are generated from recordings',
  'S000-R182': 'record generate takes --since',
  'S000-R183': 'record generate takes --min-frequency, 2 by default; what is rarer gets no rule',
  'S000-R184': 'record generate writes YAML, or JSON with --format json',
  'S000-R185': 'record generate writes to a file with --output',
  'S000-R186': 'record generate knows the strategies exact, pattern (the default) and semantic',
  'S000-R187': 'a generated policy begins with the four lines that say where it comes from',
  'S000-R188': 'it is a list of policies with name, description and commands of pattern, frequency',
  'S000-R189': 'commands are grouped by family: git-operations, npm-commands, file-operations',
  'S000-R190':
    'what is always the same stays literal, arguments that vary become a star at the end',
  'S000-R191': 'within a policy the most frequent command comes first',
  'S000-R192': 'exact gives the commands as they are',
  'S000-R193': 'semantic gives a policy, too',
  'S000-R194': 'the examples of seed 000 for record generate work',
};
