import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCaller, type Figures } from './calls.ts'
import type { LoadContext } from './load-context.ts'
import type { Violation } from './log-checks.ts'
import { changer, seller } from './operator-commands.ts'
import { createRandom } from './random.ts'
import { createRevoking } from './revoking.ts'
import { createSeatCalls } from './seat-calls.ts'
import { createSelling } from './selling.ts'
import type { Stage } from './stage.ts'
import { createWebhookChanges } from './webhook-changes.ts'

export type Load = {
  readonly figures: Figures & { acknowledged: number; longestPauseMs: number }
  readonly context: LoadContext
  readonly selling: ReturnType<typeof createSelling>
  readonly seatCalls: ReturnType<typeof createSeatCalls>
  readonly webhookChanges: ReturnType<typeof createWebhookChanges>
  /** Resolves when no call is running. @throws Stuck after the given time */
  pause(withinMs: number): Promise<void>
  resume(): void
  close(): Promise<void>
}

/** Work did not complete although all faults had ended. */
export class Stuck extends Error {}

const retryMs = 250

/**
 * Starts clients that mint, sell, refund, revoke, activate, deactivate and validate, each one call at a time.
 * @param thinkMs the longest pause of a client between two calls
 */
export function startLoad(
  stage: Stage,
  options: { seed: number; clients: number; thinkMs: number; onViolation: (violation: Violation) => void },
): Load {
  const random = createRandom(options.seed)
  const caller = createCaller(stage.addresses, options.onViolation)
  let acknowledged = 0
  let lastAt = performance.now()
  let longestPauseMs = 0
  let closed = false
  let resting: PromiseWithResolvers<void> | undefined
  let underWay = 0

  const context: LoadContext = {
    stage,
    random,
    licenses: [],
    fail: options.onViolation,
    note: (line) =>
      appendFileSync(join(stage.directory, 'answers.log'), `${new Date().toISOString()} ${line}\n`),
    requestOf: caller.call,
    request(tenantId, { headers, ...request }) {
      const own = { authorization: `Bearer ${stage.tokens[tenantId]}`, ...headers }
      const json = request.body === undefined ? {} : { 'content-type': 'application/json' }
      return caller.call(random.pick([1, 2]), { ...request, headers: { ...own, ...json } })
    },
    acknowledged() {
      const now = performance.now()
      acknowledged++
      longestPauseMs = Math.max(longestPauseMs, now - lastAt)
      lastAt = now
    },
    async untilDone(what, work) {
      while (!closed && !(await work())) await sleep(retryMs)
      if (closed) throw new Stuck(what)
    },
  }
  const selling = createSelling(context)
  const seatCalls = createSeatCalls(context)
  const webhookChanges = createWebhookChanges(context)
  const revoke = createRevoking(context)

  /** The numbers are percentages. */
  async function callOne(): Promise<void> {
    const dice = random.between(1, 100)
    if (dice <= 12) await selling.mint(random.chance(0.2) ? changer : seller)
    else if (dice <= 20) await selling.sell()
    else if (dice <= 23) await revoke()
    else if (dice <= 45) await seatCalls.activate()
    else if (dice <= 57) await seatCalls.deactivate()
    else if (dice <= 58) await webhookChanges.change()
    else await seatCalls.validate()
  }

  async function client(): Promise<void> {
    while (!closed) {
      if (resting) await resting.promise
      underWay++
      await callOne().catch((error: unknown) => {
        if (!(error instanceof Stuck)) throw error
      })
      underWay--
      await sleep(random.between(0, options.thinkMs))
    }
  }
  const clients = Promise.all(Array.from({ length: options.clients }, client))
  // An error of a client is a bug of the test; it is reported when the clients are awaited.
  clients.catch(() => undefined)

  return {
    get figures() {
      return { ...caller.figures, acknowledged, longestPauseMs }
    },
    context,
    selling,
    seatCalls,
    webhookChanges,
    async pause(withinMs) {
      resting ??= Promise.withResolvers()
      const deadline = performance.now() + withinMs
      while (underWay > 0) {
        if (performance.now() > deadline) throw new Stuck(`${underWay} calls do not come to their end`)
        await Promise.race([sleep(50), clients])
      }
      // The current pause counts as well.
      longestPauseMs = Math.max(longestPauseMs, performance.now() - lastAt)
    },
    resume() {
      lastAt = performance.now()
      resting?.resolve()
      resting = undefined
    },
    async close() {
      closed = true
      resting?.resolve()
      await clients
      await caller.close()
    },
  }
}
