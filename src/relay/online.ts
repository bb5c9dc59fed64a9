import { z } from 'zod'
import { http, https } from '../bare-http/node-http.ts'
import type { Enrollment } from './store/state.ts'

/** The vendor's server did not answer, or not now; it may later. */
export class VendorUnreachable extends Error {}

/** The vendor's server refused the request. The message is its own. */
export class VendorRefused extends Error {}

const answerMs = 15_000
const maxBytes = 1_000_000

const Refusal = z.object({ error: z.string() })

/**
 * Sends a request or a release to the vendor's server.
 * @returns the body of its answer
 * @throws VendorUnreachable, VendorRefused
 */
export async function askVendor(
  { tenantId, productId, server }: Pick<Enrollment, 'tenantId' | 'productId' | 'server'>,
  statement: { request: string } | { release: string },
): Promise<string> {
  if (!server) throw new VendorUnreachable('The relay was enrolled without a server. Carry the file instead.')
  const path = 'release' in statement ? 'relay/release' : 'relay'
  const { status, body } = await post(
    `${server.url}/${tenantId}/${productId}/${path}`,
    server.sdkKey,
    JSON.stringify({ license_key: server.licenseKey, ...statement }),
  )
  if (status >= 200 && status < 300) return body
  const said = Refusal.safeParse(jsonIn(body)).data?.error ?? `the server answered ${status}`
  // What is limited or does not run now may work later; everything else was refused.
  throw status === 429 || status >= 500 ? new VendorUnreachable(said) : new VendorRefused(said)
}

function post(url: string, sdkKey: string, sent: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const unreachable = (error: Error) => {
      reject(new VendorUnreachable(`${url} does not answer: ${error.message}`, { cause: error }))
    }
    const send = url.startsWith('https:') ? https.request : http.request
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(sent),
      'x-service-sdk-key': sdkKey,
    }
    const call = send(url, { method: 'POST', headers, signal: AbortSignal.timeout(answerMs) }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        body += part
        if (body.length > maxBytes) response.destroy(new Error('the answer is too long'))
      })
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body })
      })
      response.on('error', unreachable)
    })
    call.on('error', unreachable)
    call.end(sent)
  })
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
