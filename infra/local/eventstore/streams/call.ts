import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** A call whose client went away is aborted: what is still to be sent then need not be read. */
export function callSignal(call: Writable): AbortSignal {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  call.once('cancelled', abort).once('close', abort)
  return controller.signal
}

/** Resolves when the client has taken enough to be sent more, or has gone away. */
export async function drained(call: Writable, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  try {
    await once(call, 'drain', { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
