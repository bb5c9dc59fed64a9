import { userInfo } from 'node:os'
import type { Origin } from '../commands/origin.ts'
import { parseConfig } from '../config.ts'
import { newId } from '../credentials/id.ts'
import { createLog } from './log.ts'
import { requireLedger } from './start/ledger-here.ts'
import type { OpenOptions } from './start/log-at-start.ts'
import { openStores, type Stores } from './stores.ts'

/**
 * Opens the stores, runs one command and closes them. A server may run beside it.
 * @param options `mayCreate` makes a missing ledger; only `init` does
 * @throws CommandMisused without a ledger, otherwise as {@link openStores} does
 */
export async function withStores(
  work: (stores: Stores, origin: Origin) => Promise<void>,
  { mayCreate = false, ...options }: Pick<OpenOptions, 'toRebuild'> & { mayCreate?: boolean } = {},
): Promise<void> {
  const config = parseConfig(process.env)
  if (!mayCreate) requireLedger(config)
  const log = createLog(process.env.KEYLEDGER_LOG_LEVEL === undefined ? 'warn' : config.logLevel)
  const stores = await openStores(config, log, options)
  const origin = operator()
  const run = () => work(stores, origin)
  try {
    await (stores.tracing ? stores.tracing.beginCommand(origin.requestId, run) : run())
  } finally {
    await stores.close()
  }
}

/** The origin of a command: the actor is the user who is logged in on the host. */
export function operator(): Origin {
  return { requestId: newId('req'), actor: `operator:${userName()}` }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // Containers often run under a user id without a name.
    return String(process.getuid?.() ?? 'unknown')
  }
}
