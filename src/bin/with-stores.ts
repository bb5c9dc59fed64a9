import { userInfo } from 'node:os'
import type { Origin } from '../commands/services.ts'
import { parseConfig } from '../config.ts'
import { newId } from '../credentials/id.ts'
import { createLog } from './log.ts'
import { openStores, type Stores } from './stores.ts'

/** Runs one command against the stores, beside a running server or without one, and lets go of them again. */
export async function withStores(work: (stores: Stores, origin: Origin) => Promise<void>): Promise<void> {
  const config = parseConfig(process.env)
  const log = createLog(process.env.KEYLEDGER_LOG_LEVEL === undefined ? 'warn' : config.logLevel)
  const stores = await openStores(config, log)
  try {
    await work(stores, operator())
  } finally {
    await stores.close()
  }
}

/** Whoever is logged in on the host: it stands as the actor of what they do. */
export function operator(): Origin {
  return { requestId: newId('req'), actor: `operator:${userName()}` }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A user id without a name, as containers have them.
    return String(process.getuid?.() ?? 'unknown')
  }
}
