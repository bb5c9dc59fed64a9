import type { LogEntry } from '../../src/domain/recorded.ts'

/** A page of the log; `through` is the last position that was read, undefined at the end of the log. */
export type LogPage = { entries: LogEntry[]; through: bigint | undefined }

/** The part of the ledger that the read models use. */
export type LogReader = {
  readPage(after: bigint | undefined, limit: number): Promise<LogPage>
  head(): Promise<bigint | undefined>
}
