import type { LogEntry } from '../../src/domain/recorded.ts'

/** What the read models need of the ledger. */
export type LogReader = {
  readPage(
    after: bigint | undefined,
    limit: number,
  ): Promise<{ entries: LogEntry[]; through: bigint | undefined }>
  head(): Promise<bigint | undefined>
}
