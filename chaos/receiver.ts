// A vendor's server: takes what a webhook is told when the signatures are right, and writes down each delivery before it
// answers. Arguments: its port, and the file that it writes to. The file of secrets is read at each delivery.
import { appendFileSync, readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { isVerified, verifyDelivery } from '../src/webhooks/verify.ts'
import type { Arrival } from './arrivals.ts'

const [, , port, file = '', secretFile = ''] = process.argv

createServer((request, response) => {
  text(request).then(
    (body) => {
      const arrival = arrivalOf(request.url ?? '', request.headers, body)
      // The line before may have been cut off when the receiver was killed.
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

/** Signed by a clock that may be an hour off. Undefined where the secret is not known. */
function isGenuine(path: string, headers: Record<string, string>, body: string): boolean | undefined {
  const secrets = new Map(Object.entries(JSON.parse(readFileSync(secretFile, 'utf8')) as object))
  const secret: unknown = secrets.get(path.split('/')[1] ?? '')
  if (typeof secret !== 'string') return undefined
  const signedAt = new Date(Number(headers['webhook-timestamp']) * 1000)
  return isVerified(verifyDelivery(secret, { headers, body }, signedAt))
}
