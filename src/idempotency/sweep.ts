import type { Idempotency } from './idempotency.ts'

const everyMs = 60_000

/**
 * Deletes expired answers, at once and then every minute. Several processes may do so.
 * @returns a function that stops the sweep and waits for the current one
 */
export function keepSweeping(
  idempotency: Pick<Idempotency, 'sweep'>,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  let sweeping = Promise.resolve()
  const sweep = () => {
    sweeping = sweeping.then(() => idempotency.sweep()).then(() => undefined, onFailure)
  }
  sweep()
  const timer = setInterval(sweep, everyMs)
  return async () => {
    clearInterval(timer)
    await sweeping
  }
}
