// Requirements proven by the tests of this area; test/requirements.ts puts the lists together.
export const IDS: Readonly<Record<string, string>> = {
  'S000-R034': 'a plugin has a constructor and the six methods, and the host calls those',
  'S000-R036': 'a config that its plugin refuses makes no plugin',
  'S000-R050': 'a config that is refused never reaches onConfigReload',
  'S000-R053': 'the first call after a reload sees the new config',
  'S000-R055': 'callTool gets the bare name and the arguments and gives a ToolResult',
  'S000-R056': 'an unknown tool is success false and Unknown tool: NAME',
  'S000-R057': 'tools carry the name of their plugin in front',
  'S000-R058': 'execute is bash_recorder.execute in the dotted form',
  'S000-R059': 'session_info is bash_recorder.session_info in the dotted form',
  'S000-R060': 'list_recent is bash_recorder.list_recent in the dotted form',
  'S000-R083': 'the shape of settings.yml; the first example loads',
  'S000-R254': 'the development example loads with its values',
  'S000-R255': 'the production example loads with its values',
  'S000-R256': 'the policy generation example loads with its values',
};
