// OpenAI's `shell` tool and functions of ours side by side, over the Responses API.
import {
  createBashTools,
  createOpenAIShell,
  openAIFunctionOutput,
  toOpenAIResponsesTools,
} from 'cuff';
import OpenAI from 'openai';

const client = new OpenAI();
const shell = createOpenAIShell();
const functions = createBashTools({ dialect: 'bash_recorder' });
const tools = [shell.tool, ...toOpenAIResponsesTools(functions)];

const model = 'gpt-5.5';
let response = await client.responses.create({ model, tools, input: 'What is in this directory?' });
while (true) {
  const input: OpenAI.Responses.ResponseInput = [];
  for (const item of response.output) {
    if (item.type === 'shell_call') input.push(await shell.run(item));
    if (item.type === 'function_call') input.push(await openAIFunctionOutput(functions, item));
  }
  if (input.length === 0) break;
  const { id: previous_response_id } = response;
  response = await client.responses.create({ model, tools, input, previous_response_id });
}
console.log(response.output_text);
await shell.close();
await functions[0]?.close();
