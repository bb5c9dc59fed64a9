import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import type { CallApi } from './api.ts'
import { createMcpServer } from './server.ts'

/**
 * Serves the tools on stdin and stdout until stdin ends.
 * @param version of keyledger
 */
export async function serveStdio(callApi: CallApi, version: string): Promise<void> {
  const server = createMcpServer(callApi, version)
  const transport = new StdioServerTransport()
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  transport.onclose = resolve
  transport.onerror = () => void transport.send(unreadable)
  process.stdin.once('end', resolve)
  await server.connect(transport)
  await ended
  await server.close()
}

/** Without an id, since none could be read. The library alone would leave the sender without an answer. */
const unreadable = {
  jsonrpc: '2.0' as const,
  error: {
    code: ErrorCode.InvalidRequest,
    message: 'Send one JSON-RPC message a line; the protocol has no batches since its version 2025-06-18.',
  },
}
