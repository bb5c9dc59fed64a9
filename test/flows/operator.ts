import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { revokeLicense } from '../../src/commands/licenses/licenses.ts'
import { parseConfig } from '../../src/config.ts'
import { newId } from '../../src/credentials/id.ts'
import type { LogEntry } from '../../src/domain/recorded.ts'
import { approve } from '../../src/gate/approvals.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import type { Environment } from '../harness/process.ts'

/** Runs operator commands in this process, because a process per command would be too slow. */
export async function createOperator(environment: Environment) {
  const stores = await openStores(parseConfig(environment), createLog('silent'))
  const { ports } = stores
  return {
    async revoke(licenseId: string): Promise<void> {
      const origin = { requestId: newId('req'), actor: 'operator:test' }
      await revokeLicense(ports, 'acme', licenseId, 'test', origin)
    },
    async approve(confirmationId: string): Promise<void> {
      await approve(ports, null, confirmationId, { requestId: newId('req'), actor: 'operator:test' })
    },
    readLog: () => readLog(ports.ledger),
    close: () => stores.close(),
  }
}

/** Every event of the log, in order. */
export async function readLog(ledger: Ledger): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  for (let after: bigint | undefined; ; ) {
    const page = await ledger.readPage(after, 1000)
    if (page.through === undefined) return entries
    entries.push(...page.entries)
    after = page.through
  }
}

export type Operator = Awaited<ReturnType<typeof createOperator>>
