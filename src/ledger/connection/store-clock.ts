import type { IncomingMessage } from 'node:http'
import { http, https } from '../../bare-http/node-http.ts'
import { parseAddress } from './address.ts'

const timeLimitMs = 1500

/** The Date header of an HTTP answer, with this machine's times before and after the request (milliseconds). */
export type DatedAnswer = { date: string; before: number; after: number }

/**
 * Requests the event store's time.
 * @param url as `parseAddress` takes it
 * @returns undefined when no node sends it; the embedded event store does not, because it is on this machine
 */
export async function fetchStoreTime(url: string): Promise<DatedAnswer | undefined> {
  if (url.startsWith('unix:')) return undefined
  const { target, seeds, insecure, certificateAuthority } = parseAddress(url)
  for (const node of target === undefined ? seeds : [target]) {
    const before = Date.now()
    const date = await dateOf(`${insecure ? 'http' : 'https'}://${node}/info`, certificateAuthority)
    if (date !== undefined) return { date, before, after: Date.now() }
  }
  return undefined
}

function dateOf(url: string, certificateAuthority: Buffer | undefined): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const take = (answer: IncomingMessage) => {
    answer.resume()
    resolve(answer.headers.date)
  }
  const options = { timeout: timeLimitMs, agent: false }
  const request = url.startsWith('https:')
    ? https.get(url, { ...options, ...(certificateAuthority && { ca: certificateAuthority }) }, take)
    : http.get(url, options, take)
  request.on('error', () => resolve(undefined))
  request.on('timeout', () => {
    request.destroy()
    resolve(undefined)
  })
  return promise
}
