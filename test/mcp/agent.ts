import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { z } from 'zod'

const Result = z.object({
  isError: z.boolean().optional(),
  content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
})

/** What an agent gets from a tool. */
export type AgentResult = { refused: boolean; text: string; data: Record<string, unknown> }

/** An agent: the official client of the protocol. */
export async function connectAgent(transport: Transport) {
  const client = new Client({ name: 'test agent', version: '1.0.0' })
  await client.connect(transport)
  return {
    client,
    async use(name: string, given: Record<string, unknown> = {}): Promise<AgentResult> {
      const result = Result.parse(await client.callTool({ name, arguments: given }))
      return {
        refused: result.isError ?? false,
        text: result.content.map(({ text }) => text).join('\n'),
        data: result.structuredContent ?? {},
      }
    },
    close: () => client.close(),
  }
}

export type Agent = Awaited<ReturnType<typeof connectAgent>>
