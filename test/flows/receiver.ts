import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { isVerified, verifyDelivery } from '../../src/webhooks/signature.ts'

const Delivered = z.looseObject({
  id: z.string(),
  event: z.string(),
  license_id: z.string(),
  sequence: z.int(),
  key: z.string().nullish(),
})
type Delivered = z.infer<typeof Delivered>

export type Receiver = {
  url: string
  /** All requests with a valid signature, including repetitions. */
  delivered: Delivered[]
  /** All other requests. */
  refused: string[]
  /** Only known after the webhook was set. */
  secret: string
  close(): Promise<void>
}

/** A vendor's own server, which accepts webhooks with valid signatures. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      response.writeHead(take(body, request.headers) ? 204 : 400).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  function take(body: string, all: IncomingHttpHeaders): boolean {
    const headers = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]))
    const verdict = verifyDelivery(receiver.secret, { headers, body }, new Date())
    const told = Delivered.safeParse(JSON.parse(body))
    if (!isVerified(verdict) || !told.success || headers['webhook-id'] !== told.data.id) {
      receiver.refused.push(body)
      return false
    }
    receiver.delivered.push(told.data)
    return true
  }

  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    delivered: [],
    refused: [],
    secret: '',
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}
