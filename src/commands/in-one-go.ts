import type { Handle } from '../ledger/handle.ts'
import type { Services } from './services.ts'

/**
 * Runs a process of several commands that waits for the read models once, behind the last of them, instead of behind
 * each. Its commands have to decide on the log: what the ones before them have recorded may not be in the read models.
 * @param work given services whose commands do not wait
 * @throws what the work throws; ReadModelsBehind
 */
export async function inOneGo<T>(services: Services, work: (services: Services) => Promise<T>): Promise<T> {
  let recorded = -1n
  const handle: Handle = async (command) => {
    const handled = await services.handle({ ...command, waits: false })
    const { position } = handled
    if (position !== undefined && position > recorded) recorded = position
    return handled
  }
  try {
    return await work({ ...services, handle })
  } finally {
    // Also behind a refusal, which may be about what has just been recorded.
    if (recorded >= 0n) await services.untilVisible(recorded)
  }
}
