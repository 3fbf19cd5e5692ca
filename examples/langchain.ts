// LangChain, with any chat model of yours: the tools are LangChain's own, for agents and graphs.
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import { createBashTools, toLangChainTools } from 'cuff';

export async function ask(model: BaseChatModel, prompt: string): Promise<string> {
  const ours = createBashTools({ dialect: 'bash_recorder' });
  const tools = toLangChainTools(ours, DynamicStructuredTool);
  const withTools = model.bindTools?.(tools) ?? model;
  const messages: BaseMessage[] = [new HumanMessage(prompt)];
  try {
    while (true) {
      const answer = await withTools.invoke(messages);
      messages.push(answer);
      if (!answer.tool_calls?.length) return answer.text;
      for (const call of answer.tool_calls) {
        const tool = tools.find(({ name }) => name === call.name);
        if (tool === undefined) throw new Error(`no tool ${call.name}`);
        messages.push(await tool.invoke({ ...call, type: 'tool_call' as const }));
      }
    }
  } finally {
    await ours[0]?.close();
  }
}
