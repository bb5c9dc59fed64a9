import type { Fetch } from '../../src/sdk/javascript/app/index.ts'
import type { Ask } from '../harness/api.ts'

/** Asks the application without a socket. */
export const fetchOf =
  (ask: Ask): Fetch =>
  async (url, { method, headers, body }) => {
    const answer = await ask(method === 'GET' ? 'GET' : 'POST', new URL(url).pathname, {
      headers,
      ...(body !== undefined && { body: JSON.parse(body) as object }),
    })
    return { status: answer.status, headers: new Headers(), text: async () => JSON.stringify(answer.body) }
  }

/** A network that is not there. */
export const noNetwork: Fetch = async () => {
  throw new TypeError('fetch failed')
}

/** The clock of a device whose pauses are over at once, and where no answer is late. */
export const impatientClock = (now: () => number) => ({
  now,
  after(ms: number, run: () => void) {
    if (ms < 15_000) setImmediate(run)
    return () => undefined
  },
})
