import type { RelayProgram } from './http/program.ts'
import { askVendor } from './online.ts'
import { acceptAnswer, lastRequest, makeRequest } from './requests.ts'

const firstPauseMs = 60_000
const longestPauseMs = 3_600_000

/** How long a request is sent again before a new one is made, which reports what happened since. */
const repeatedMs = 86_400_000

/** Renews a relay by itself. */
export type Renewing = {
  /** Renews the relay if it is time. Called once a minute; one attempt runs at a time. */
  check: () => Promise<void>
}

/**
 * Renews over the network when half of the certificate's time is over, and again after growing pauses until it succeeds. Seats go
 * on meanwhile.
 */
export function createRenewing(program: RelayProgram, ask: typeof askVendor = askVendor): Renewing {
  const { relay, database, key } = program
  let pauseMs = firstPauseMs
  let notBefore = Number.NEGATIVE_INFINITY
  let madeAt = Number.NEGATIVE_INFINITY
  let isAsking = false

  async function renew(): Promise<void> {
    const standing = relay.standing()
    if (!('certified' in standing)) return
    const pending = relay.clock.monotonic() - madeAt < repeatedMs ? database.read(lastRequest) : undefined
    if (pending === undefined) madeAt = relay.clock.monotonic()
    const request = pending ?? makeRequest(database, key, relay.clock)
    relay.reload()
    acceptAnswer(database, key, relay.clock, await ask(standing.enrollment, { request }))
    relay.reload()
  }

  return {
    async check() {
      if (isAsking || relay.clock.monotonic() < notBefore || !isDue(program)) return
      isAsking = true
      try {
        await renew()
        pauseMs = firstPauseMs
      } catch (error) {
        notBefore = relay.clock.monotonic() + pauseMs
        pauseMs = Math.min(2 * pauseMs, longestPauseMs)
        program.onError(error)
      } finally {
        isAsking = false
      }
    },
  }
}

function isDue({ relay }: RelayProgram): boolean {
  const standing = relay.standing()
  if (!('certified' in standing) || standing.enrollment.server === null) return false
  const { iat, exp } = standing.certified.claims
  return relay.clock.highest() >= (Date.parse(iat) + Date.parse(exp)) / 2
}
