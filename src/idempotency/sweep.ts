import type { Idempotency } from './idempotency.ts'

const everyMs = 60_000

/**
 * Destroys the answers that have expired, at once and then every minute. Any number of processes may do so.
 * @returns stops it, when what it is doing has been done
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
