// The AI SDK, with any model of yours.
import { generateText, type LanguageModel, stepCountIs } from 'ai';
import { createBashTools, toAiSdkTools } from 'cuff';

export async function ask(model: LanguageModel, prompt: string): Promise<string> {
  const tools = createBashTools({ dialect: 'bash_recorder' });
  try {
    const stopWhen = stepCountIs(20);
    const { text } = await generateText({ model, prompt, tools: toAiSdkTools(tools), stopWhen });
    return text;
  } finally {
    await tools[0]?.close();
  }
}
