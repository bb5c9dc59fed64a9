import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { productId, tenantId } from './vendor.ts'

/** What a relay answered. */
export type Answered = { status: number; said: unknown; retryAfter: string | null }

/** @returns undefined when there was no answer */
export async function call(address: string, name: string, body: object): Promise<Answered | undefined> {
  const answer = await fetch(`${address}/${tenantId}/${productId}/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => undefined)
  const said: unknown = await answer?.json().catch(() => undefined)
  if (!answer || said === undefined) return undefined
  return { status: answer.status, said, retryAfter: answer.headers.get('retry-after') }
}

const Seated = z.looseObject({ instance_id: z.string(), seat: z.looseObject({ fence: z.int() }) })

/** When a seat was living for certain, by the monotonic clock of the test. */
export type Life = {
  instanceId: string
  fence: number
  /** When the call was sent that took it. */
  asked: number
  from: number
  until: number
}

type Crowd = {
  licenseKey: string
  /** The period of a seat. */
  periodMs: number
  addressOf: () => string
  signal: AbortSignal
  lives: Life[]
  onAnswer?: (name: string, answered: Answered | undefined) => void
  /** A relay took a seat from a device before its end. */
  onRobbed?: (life: Life) => void
}

/** A device that takes seats, keeps each for a while, and gives it back or forgets it. */
export async function live(crowd: Crowd, number: number): Promise<void> {
  const { licenseKey, periodMs, addressOf, signal, lives } = crowd
  const ask = async (name: string, body: object) => {
    const answered = await call(addressOf(), name, { license_key: licenseKey, ...body })
    crowd.onAnswer?.(name, answered)
    return answered
  }
  for (let round = 0; !signal.aborted; round++) {
    const asked = performance.now()
    const instance_name = `device ${String(number)}.${String(round)}`
    const taken = await ask('activate', { instance_name, lease_version: 2 })
    if (taken?.status !== 200) {
      await sleep(20)
      continue
    }
    const { instance_id, seat } = Seated.parse(taken.said)
    const own = { instance_id, fence: seat.fence }
    const from = performance.now()
    const life = { instanceId: instance_id, fence: seat.fence, asked, from, until: asked + periodMs }
    lives.push(life)
    for (let beat = 0; beat < number % 5 && !signal.aborted; beat++) {
      const sent = performance.now()
      const kept = await ask('heartbeat', own)
      if (kept?.status === 200) life.until = sent + periodMs
      if (kept?.status === 422) {
        if (performance.now() < life.until) crowd.onRobbed?.(life)
        break
      }
      await sleep(30)
    }
    if (number % 6 === 0) continue
    life.until = Math.min(life.until, performance.now())
    await ask('deactivate', own)
  }
}

/** The most lives at once. */
export function mostAtOnce(lives: readonly Life[]): number {
  const changes = lives
    .filter(({ from, until }) => until > from)
    .flatMap(({ from, until }) => [
      { at: from, by: 1 },
      { at: until, by: -1 },
    ])
    .sort((one, other) => one.at - other.at || one.by - other.by)
  let now = 0
  return changes.reduce((most, { by }) => {
    now += by
    return Math.max(most, now)
  }, 0)
}
