import { createServer } from 'node:http'
import { buffer, json } from 'node:stream/consumers'
import { createServerClient, KeyledgerError, verifyWebhook, WebhookRefused } from '@keyledger/client/server'

const {
  PORT = '3000',
  LICENSE_SERVER = 'http://localhost:8080',
  TOKEN = '',
  WEBHOOK_SECRET = '',
} = process.env
const keyledger = createServerClient({ baseUrl: LICENSE_SERVER, token: TOKEN })

/** Ids of handled events; a real server keeps them in its database. */
const handled = new Set()

/** A webhook: verified over the bytes, answered at once, handled once. */
async function receive(request) {
  const event = await verifyWebhook(WEBHOOK_SECRET, { body: await buffer(request), headers: request.headers })
  if (handled.has(event.id)) return { status: 200, body: { duplicate: true } }
  handled.add(event.id)
  console.log(`${event.event} ${event.license_id}`)
  return { status: 200, body: { received: true } }
}

/** A purchase: the number of the order is the idempotency key, so a repeated call gets the same license. */
async function sell(request) {
  const { order, email, productId } = await json(request)
  const { licenseKey } = await keyledger.mintLicense(
    { productId, email, metadata: { order } },
    { idempotencyKey: `order-${order}` },
  )
  return { status: 201, body: { licenseKey } }
}

const routes = { 'POST /hooks': receive, 'POST /buy': sell }

const server = createServer(async (request, response) => {
  const route = routes[`${request.method} ${request.url}`]
  const answer = async () => (route ? route(request) : { status: 404, body: {} })
  const { status, body } = await answer().catch((error) => {
    if (error instanceof WebhookRefused) return { status: 400, body: { error: error.reason } }
    if (error instanceof KeyledgerError) return { status: 502, body: { error: error.message } }
    console.error(error)
    return { status: 500, body: {} }
  })
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
server.listen(Number(PORT), () => console.log(`http://localhost:${server.address().port}`))
