import type { CallApi } from '../../mcp/api.ts'
import { headersOf, pathOf } from '../../mcp/request.ts'
import type { Client } from './client.ts'
import { RemoteError } from './errors.ts'

/** How the tools of an agent call a server over the network. A refusal of the server is an answer like any other. */
export const callServer =
  (client: Client): CallApi =>
  async (request) => {
    const { method, body, confirmationId } = request
    try {
      const { status, body: answered } = await client.call({
        method,
        path: pathOf(request),
        body,
        headers: headersOf(request),
        // An approval can be used once, so its request is not sent again when the answer is lost.
        repeatable: confirmationId === undefined,
      })
      return { status, body: answered }
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error
      return { status: error.status, body: { error: error.message } }
    }
  }
