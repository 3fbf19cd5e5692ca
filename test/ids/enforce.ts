// Requirements proven by the tests of this area; test/requirements.ts puts the lists together.
export const IDS: Readonly<Record<string, string>> = {
  'S000-R257': 'what the policy does not allow is refused at the moment it is asked for',
  'S000-R262': 'each command is evaluated by the policy, and its entry says how',
};
