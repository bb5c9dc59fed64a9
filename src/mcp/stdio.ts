import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createMcpServer } from './server.ts'
import type { CallApi } from './tool.ts'

/**
 * Serves the tools on stdin and stdout until stdin ends.
 * @param version of keyledger
 */
export async function serveStdio(callApi: CallApi, version: string): Promise<void> {
  const server = createMcpServer(callApi, version)
  const transport = new StdioServerTransport()
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  transport.onclose = resolve
  process.stdin.once('end', resolve)
  await server.connect(transport)
  await ended
  await server.close()
}
