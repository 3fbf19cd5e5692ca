// Requirements proven by test/text: what is done to output before an agent reads it.
export const IDS: Readonly<Record<string, string>> = {
  'S001-R018': 'control sequences are stripped',
  'S001-R019': 'operating system commands are stripped',
  'S001-R020': 'of the controls below a space only tab, newline and return stay',
  'S001-R021': 'CRLF becomes LF',
  'S001-R022': 'a tail has at most 2000 lines',
  'S001-R023': 'a tail has at most 51200 bytes',
  'S001-R024': 'whole lines are collected backwards from the end until a limit is hit',
  'S001-R025': 'of a line longer than the limit, its end is shown',
  'S001-R026': 'a cut says how many lines there are',
  'S001-R027': 'a cut says how many bytes there are',
  'S001-R028': 'a cut says how many lines are left',
  'S001-R029': 'a cut says how many bytes are left',
  'S001-R030': 'a cut says whether something was cut',
  'S001-R031': 'a cut says which limit was hit',
  'S001-R032': 'a cut says whether a line was cut',
};
