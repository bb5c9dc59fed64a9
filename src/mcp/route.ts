import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { invalid, Problem } from '../http/problem.ts'
import { callInProcess } from './in-process.ts'

/**
 * `POST /mcp`: the Model Context Protocol over streamable HTTP. It keeps no sessions, so any process answers any message.
 * A tool calls the management interface with the token of its request, and so has its rights, limits and audit.
 */
export function mcpRoute(app: FastifyInstance, version: string): void {
  app.post(
    '/mcp',
    { config: { scope: 'any', resellers: true }, schema: { hide: true } },
    async (request, reply) => {
      refuseForeignOrigins(request, app.baseUrl)
      if (Array.isArray(request.body))
        throw invalid('send one message a request; the protocol has no batches since its version 2025-06-18')
      // Loaded with the first message: most servers serve no agents.
      const [{ WebStandardStreamableHTTPServerTransport }, { createMcpServer }] = await Promise.all([
        import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
        import('./server.ts'),
      ])
      const server = createMcpServer(callInProcess(app, request), version)
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
      await server.connect(transport)
      try {
        return await answerWith(
          reply,
          await transport.handleRequest(webRequest(request), { parsedBody: request.body }),
        )
      } finally {
        await server.close()
      }
    },
  )
}

/** A page of another origin must not use an agent's server, as the protocol demands; agents send no origin. */
function refuseForeignOrigins({ headers }: FastifyRequest, baseUrl: string): void {
  const { origin } = headers
  if (origin !== undefined && origin !== new URL(baseUrl).origin)
    throw new Problem(403, 'forbidden', 'requests from pages of another origin are not accepted')
}

/** Only the headers matter to the transport, which is given the parsed body. */
function webRequest({ url, headers }: FastifyRequest): Request {
  const known = ['accept', 'content-type', 'mcp-protocol-version'] as const
  const sent = known.flatMap((name) =>
    headers[name] === undefined ? [] : [[name, String(headers[name])] as const],
  )
  return new Request(new URL(url, 'http://keyledger.invalid'), {
    method: 'POST',
    headers: Object.fromEntries(sent),
  })
}

async function answerWith(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  const type = answer.headers.get('content-type')
  if (type !== null) reply.type(type)
  return reply.status(answer.status).send(await answer.text())
}
