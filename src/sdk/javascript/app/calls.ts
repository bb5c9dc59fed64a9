import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { isRecord, type Place } from '../keyset.ts'
import { segment } from '../license-key.ts'
import type { Facts } from './facts.ts'
import type { Clock, Fetch } from './ports.ts'
import { fullJitter, isPassing, type Problem, problemOf, sleep } from './problem.ts'
import { type Answered, request } from './request.ts'

/** Only the vendor's server has these. */
type MeterCall = 'consume' | 'uses' | 'allowance'
type BrowserCall = 'browser-activations' | 'browser-activations/poll'
type CallName = 'activate' | 'validate' | 'deactivate' | 'keyless' | 'config' | BrowserCall | MeterCall

/** What an answer was good for: a value, or the problem that is reported unless another attempt does better. */
export type Judged<T> = { value: T } | { problem: Problem }

/** Calls of the client interface, with their time limits and repetitions. */
export type Calls = {
  /** Sends a call up to so many times, by default three, until `judge` finds a value in an answer or a problem that stays. */
  send<T>(
    name: CallName,
    body: object | undefined,
    judge: (answered: Answered) => Promise<Judged<T>>,
    attempts?: number,
  ): Promise<Judged<T>>
  /** Fetches the published keys; only those whose `kid` is the hash of the key are returned. */
  keyset(): Promise<Facts['keys']>
}

/** Of a client without a server. */
export const noCalls: Calls = {
  send: async () => ({
    problem: {
      code: 'no_server',
      message: 'this client has no license server: set baseUrl and sdkKey, or relays',
    },
  }),
  keyset: async () => ({}),
}

type Settings = {
  baseUrl: string
  place: Place
  /** A relay does not ask for it. */
  sdkKey: string | undefined
  clock: Clock
  fetch: Fetch
  random: () => number
  timeoutMs: number
}

/** A server that asks for a longer pause is not waited for within a call. */
const longestPauseMs = 10_000

export function createCalls({ baseUrl, place, sdkKey, clock, fetch, random, timeoutMs }: Settings): Calls {
  const root = `${baseUrl.replace(/\/+$/, '')}/${segment('tenantId', place.tenantId)}`
  let notBefore = 0

  async function once<T>(
    name: CallName,
    body: object | undefined,
    judge: (answered: Answered) => Promise<Judged<T>>,
  ): Promise<Judged<T>> {
    const answered = await request(
      { clock, fetch },
      {
        method: body ? 'POST' : 'GET',
        url: `${root}/${segment('productId', place.productId)}/${name}`,
        headers: {
          ...(sdkKey !== undefined && { 'x-service-sdk-key': sdkKey }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      },
      timeoutMs,
    )
    const judged = answered && (await judge(answered))
    return judged ?? { problem: problemOf(undefined) }
  }

  return {
    async send(name, body, judge, attempts = 3) {
      const wait = notBefore - clock.now()
      if (wait > 0) return { problem: pauseProblem(wait) }
      for (let attempt = 0; ; attempt++) {
        const judged = await once(name, body, judge)
        if (!('problem' in judged) || !isPassing(judged.problem)) return judged
        const { retryAfterMs } = judged.problem
        if (retryAfterMs !== undefined) notBefore = clock.now() + retryAfterMs
        if (attempt + 1 >= attempts || (retryAfterMs ?? 0) > longestPauseMs) return judged
        await sleep(clock, (retryAfterMs ?? 0) + fullJitter(attempt, 500, 8000, random))
      }
    },
    async keyset() {
      const url = `${root}/.well-known/service-keys`
      const answered = await request({ clock, fetch }, { method: 'GET', url, headers: {} }, timeoutMs)
      const keys = isRecord(answered?.body) ? answered.body.keys : undefined
      if (answered?.status !== 200 || !isRecord(keys)) return {}
      return Object.fromEntries(
        Object.entries(keys).filter((entry): entry is [string, string] => isKeyOf(entry[0], entry[1])),
      )
    },
  }
}

const pauseProblem = (retryAfterMs: number): Problem => ({
  code: 'rate_limited',
  message: 'the license server asked for a pause, which is not over',
  retryAfterMs,
})

/** A `kid` is the beginning of the hash of its key, so a key that was damaged on the way is recognized. */
export function isKeyOf(kid: string, key: unknown): boolean {
  if (typeof key !== 'string') return false
  try {
    const bytes = Uint8Array.from(atob(key), (character) => character.charCodeAt(0))
    return bytes.length === 32 && bytesToHex(sha256(bytes)).slice(0, 16) === kid
  } catch {
    return false
  }
}
