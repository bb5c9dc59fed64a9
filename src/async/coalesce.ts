import { setTimeout } from 'node:timers/promises'

/** A batch of this size shares the cost of a query well enough; waiting for more would only add delay. */
const smallBatch = 8
/** Callers of a burst call again within this time, if they do. */
const burstMs = 5

/**
 * Answers concurrent look-ups with one query. Look-ups that arrive while a query runs form the next batch. A
 * look-up never joins a query that was already sent, so it sees everything committed before the call. A small
 * batch waits only for the query before it; after a large one, the next waits a moment for more look-ups.
 * @param load answers many keys at once, in the order given
 * @param most the largest batch
 */
export function coalesce<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly Value[]>,
  most = 256,
): (key: Key) => Promise<Value> {
  type Request = { key: Key; resolve: (value: Value) => void; reject: (error: unknown) => void }
  let waiting: Request[] = []
  let running = false
  /**
   * When the last large batch was answered. More look-ups are then likely, and a query costs more than waiting
   * for them.
   */
  let lastBurstAt = Number.NEGATIVE_INFINITY

  async function run(): Promise<void> {
    running = true
    while (waiting.length > 0) {
      if (waiting.length < smallBatch && performance.now() - lastBurstAt < burstMs) await setTimeout(1)
      const batch = waiting.slice(0, most)
      waiting = waiting.slice(most)
      try {
        const values = await load(batch.map(({ key }) => key))
        for (const [index, value] of values.entries()) batch[index]?.resolve(value)
        lastBurstAt = batch.length < smallBatch ? Number.NEGATIVE_INFINITY : performance.now()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = false
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      // Waits for the other look-ups of the same tick.
      if (!running && waiting.length === 1) setImmediate(() => void (running || run()))
    })
}
