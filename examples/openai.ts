// OpenAI's SDK calls the tools by itself until the model is done.
import { createBashTools, toOpenAITools } from 'cuff';
import OpenAI from 'openai';

const tools = createBashTools({ dialect: 'bash_recorder' });
const runner = new OpenAI().chat.completions.runTools({
  model: 'gpt-5.5',
  messages: [{ role: 'user', content: 'How many lines has /etc/passwd?' }],
  tools: toOpenAITools(tools),
});
console.log(await runner.finalContent());
await tools[0]?.close();
