// A vendor's server: accepts webhooks with valid signatures, and records each delivery before it answers.
// Arguments: its port, and the file to write to. The file with the secrets is read at each delivery.
import { appendFileSync, readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { isVerified, verifyDelivery } from '../../src/webhooks/signature.ts'
import type { Arrival } from './arrivals.ts'

const [, , port, file = '', secretFile = ''] = process.argv

createServer((request, response) => {
  text(request).then(
    (body) => {
      const arrival = arrivalOf(request.url ?? '', request.headers, body)
      // The previous line may be incomplete if the receiver was killed.
      appendFileSync(file, `\n${JSON.stringify(arrival)}\n`)
      response.writeHead(arrival.verified === false ? 400 : 204).end()
    },
    () => response.destroy(),
  )
}).listen(Number(port), '127.0.0.1')

function arrivalOf(path: string, all: IncomingHttpHeaders, body: string): Arrival {
  const headers = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]))
  const payload: unknown = JSON.parse(body)
  return { at: Date.now(), path, verified: isGenuine(path, headers, body), payload }
}

/** Allows a clock that is an hour off. Undefined when the secret is unknown. */
function isGenuine(path: string, headers: Record<string, string>, body: string): boolean | undefined {
  const secrets = new Map(Object.entries(JSON.parse(readFileSync(secretFile, 'utf8')) as object))
  const secret: unknown = secrets.get(path.split('/')[1] ?? '')
  if (typeof secret !== 'string') return undefined
  const signedAt = new Date(Number(headers['webhook-timestamp']) * 1000)
  return isVerified(verifyDelivery(secret, { headers, body }, signedAt))
}
