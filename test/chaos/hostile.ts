import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'

const connections = 10
/** A client that got no answer tries again after this time. */
const pauseMs = 100

const json = 'application/json'
const manyFields = JSON.stringify(
  Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`f${index}`, 1])),
)
const message = { jsonrpc: '2.0', method: 'tools/list', params: {} }

/** Requests of a client that has no token, each as large or as deep as one can be made. */
const requests: readonly { path: string; type: string; body: string }[] = [
  { path: '/v1/login/device', type: json, body: manyFields },
  { path: '/v1/licenses/validate', type: json, body: `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}` },
  { path: '/v1/login/token', type: json, body: `[${'1,'.repeat(400_000)}1]` },
  { path: '/dashboard/sign-in', type: 'application/x-www-form-urlencoded', body: 'a=1&'.repeat(200_000) },
  { path: '/nowhere', type: json, body: manyFields },
  {
    path: '/mcp',
    type: json,
    body: JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ ...message, id }))),
  },
]

/** Sends hostile requests on ten connections until the signal aborts, and ignores the answers. */
export async function flood(address: string, signal: AbortSignal): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async (_, first) => {
      for (let turn = first; !signal.aborted; turn++) {
        const { path, type, body } = requests[turn % requests.length] ?? { path: '/', type: json, body: '' }
        const headers = { 'content-type': type, accept: 'application/json, text/event-stream' }
        await request(address + path, { method: 'POST', headers, body, signal, headersTimeout: 20_000 })
          .then((answer) => answer.body.dump())
          .catch(() => sleep(pauseMs))
      }
    }),
  )
}
