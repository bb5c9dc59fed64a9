import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { platformWebhookSecret } from '../harness/providers.ts'
import { stripeEvent, stripeHeaders } from '../sales/stripe-events.ts'

export type Provider = {
  /** The number of notifications that are left. */
  left(): number
  /** Sends all notifications at the given pace, and repeats those that were not accepted. */
  tellAll(): Promise<void>
  /** Sends notifications until this many more are accepted. */
  takenIn(more: number): Promise<void>
  /** Sends notifications until this many more are refused, counted from requests that begin after this call. */
  turnedAway(more: number): Promise<void>
  /** Removes the pace. */
  hurry(): void
  /** Responses that no provider should get. */
  wrong: string[]
}

/** The number of concurrent requests. */
const lanes = 4
/** How long providers wait for a response. */
const timeoutMs = 10_000
const againMs = 200

/** The card provider: signs its notification at each attempt, and repeats it until it is answered with success. */
export function createProvider(address: string, account: string, waiting: PaymentNotification[]): Provider {
  let [begun, taken, allowed] = [0, 0, 0]
  /** The beginning of the last request that was refused. */
  let turnedAwayAt = 0
  const wrong: string[] = []

  async function isTaken(told: PaymentNotification): Promise<boolean> {
    const began = performance.now()
    const body = stripeEvent(told, account)
    const headers = stripeHeaders(body, platformWebhookSecret)
    const signal = AbortSignal.timeout(timeoutMs)
    const url = `${address}/api/stripe/webhook/connect`
    const answer = await fetch(url, { method: 'POST', headers, body, signal }).catch(() => undefined)
    if (answer === undefined) {
      // A killed server does not answer; any other must answer in time.
      if (signal.aborted) wrong.push(`no answer for ${told.notificationId}`)
      return false
    }
    const text = await answer.text().catch(() => '')
    if (answer.status === 200 && Taken.safeParse(parsed(text)).success) return true
    if (answer.status === 503 && Number(answer.headers.get('retry-after')) >= 1) turnedAwayAt = began
    else if (text !== '') wrong.push(`${answer.status} ${text}`)
    return false
  }

  async function lane(): Promise<void> {
    while (waiting.length > 0) {
      const next = begun < allowed ? waiting.pop() : undefined
      if (!next) {
        await sleep(5)
        continue
      }
      begun++
      if (await isTaken(next)) {
        taken++
        continue
      }
      begun--
      waiting.unshift(next)
      await sleep(againMs)
    }
  }

  const until = async (isSo: () => boolean) => {
    while (!isSo()) await sleep(5)
  }
  return {
    wrong,
    left: () => waiting.length,
    tellAll: async () => void (await Promise.all(Array.from({ length: lanes }, lane))),
    async takenIn(more) {
      allowed += more
      const enough = Math.floor(allowed)
      await until(() => taken >= enough || waiting.length === 0)
    },
    async turnedAway(more) {
      allowed += more
      const now = performance.now()
      await until(() => turnedAwayAt > now)
    },
    hurry: () => {
      allowed = Number.POSITIVE_INFINITY
    },
  }
}

const Taken = z.strictObject({ received: z.literal(true), duplicate: z.literal(true).optional() })

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
