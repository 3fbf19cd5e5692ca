// Anthropic's own bash tool, which the model knows: its shell persists between calls.
import Anthropic from '@anthropic-ai/sdk';
import { anthropicToolResult, createAnthropicBash } from 'cuff';

const client = new Anthropic();
const bash = createAnthropicBash({ timeoutMs: 60_000 });
const messages: Anthropic.MessageParam[] = [
  { role: 'user', content: 'Make a directory and list it.' },
];

while (true) {
  const model = 'claude-sonnet-5-5';
  const answer = await client.messages.create({ model, max_tokens: 1024, messages, tools: [bash] });
  messages.push({ role: 'assistant', content: answer.content });
  const calls = answer.content.filter((block) => block.type === 'tool_use');
  for (const block of answer.content) if (block.type === 'text') console.log(block.text);
  if (calls.length === 0) break;
  const results = calls.map((block) => anthropicToolResult([bash], block));
  messages.push({ role: 'user', content: await Promise.all(results) });
}
await bash.close();
