import { setTimeout } from 'node:timers/promises'

/** So many share the cost of a query well enough; waiting for more would only delay them. */
const smallBatch = 8
/** Those of a crowd ask again within this time, if they do. */
const burstMs = 5

/**
 * Gathers the look-ups that are asked for while another is on its way and answers them with one query. A look-up
 * never joins a query that was already sent, so it sees everything that was committed before it was asked. Few wait for
 * nothing but the query before theirs; only after many were answered at once a moment is left for more to come.
 * @param load answers many at once, in the order asked
 * @param most how many go into one query
 */
export function coalesce<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly Value[]>,
  most = 256,
): (key: Key) => Promise<Value> {
  type Request = { key: Key; resolve: (value: Value) => void; reject: (error: unknown) => void }
  let waiting: Request[] = []
  let running = false
  /** Where many have just asked at once, more are on their way, and a query costs more than the wait for them. */
  let lastBurstAt = Number.NEGATIVE_INFINITY

  async function run(): Promise<void> {
    running = true
    while (waiting.length > 0) {
      if (waiting.length < smallBatch && performance.now() - lastBurstAt < burstMs) await setTimeout(1)
      const asked = waiting.slice(0, most)
      waiting = waiting.slice(most)
      try {
        const values = await load(asked.map(({ key }) => key))
        for (const [index, value] of values.entries()) asked[index]?.resolve(value)
        lastBurstAt = asked.length < smallBatch ? Number.NEGATIVE_INFINITY : performance.now()
      } catch (error) {
        for (const { reject } of asked) reject(error)
      }
    }
    running = false
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      // The first of a tick waits for the others of it.
      if (!running && waiting.length === 1) setImmediate(() => void (running || run()))
    })
}
