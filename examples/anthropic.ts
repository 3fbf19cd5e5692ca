// Anthropic's SDK calls the tools by itself until the model is done.
import Anthropic from '@anthropic-ai/sdk';
import { createBashTools, toAnthropicTools } from 'cuff';

const tools = createBashTools({ dialect: 'bash_recorder' });
const message = await new Anthropic().beta.messages.toolRunner({
  model: 'claude-sonnet-5-5',
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'How many lines has /etc/passwd?' }],
  tools: toAnthropicTools(tools),
});
for (const block of message.content) if (block.type === 'text') console.log(block.text);
await tools[0]?.close();
