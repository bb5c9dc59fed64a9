import type { LogEntry } from '../../src/domain/recorded.ts'

/** Part of the log; `through` is the last position looked at, undefined at the end of the log. */
export type LogPage = { entries: LogEntry[]; through: bigint | undefined }

/** What the read models need of the ledger. */
export type LogReader = {
  readPage(after: bigint | undefined, limit: number): Promise<LogPage>
  head(): Promise<bigint | undefined>
}
