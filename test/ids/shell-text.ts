// Requirements proven by test/policy/safety.test.ts and test/run/git-trailer.test.ts.
export const IDS: Readonly<Record<string, string>> = {
  'S002-R041': 'rm -rf / is refused, however it is written',
  'S002-R042': 'rm -rf /* is refused, however it is written',
  'S002-R043': 'writing to a disk by redirection is refused',
  'S002-R044': 'mkfs and its family are refused',
  'S002-R045': 'dd onto a device is refused',
  'S002-R048': 'the safety check says of itself that it is no boundary',
  'S002-R049': 'every git commit of a command gets the trailer',
  'S002-R050': 'the trailer is Co-authored-by: Phoenix <phoenix@exe.dev>',
  'S002-R051': 'the trailer is added by git itself',
  'S002-R052': 'a command without a git commit stays as it is, byte by byte',
  'S002-R068': 'tested: the patterns of the safety check',
  'S002-R069': 'tested: adding the co-author',
};
