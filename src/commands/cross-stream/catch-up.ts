import type { Ledger } from '../../ledger/ledger.ts'

/**
 * Brings the read models to the end of the log, including events of a process that died before they were
 * visible. For rules that count rows of many streams, under a lock that excludes other changes.
 */
export async function catchUpWithLog({
  ledger,
  untilVisible,
}: {
  ledger: Pick<Ledger, 'head'>
  untilVisible: (position: bigint) => Promise<void>
}): Promise<void> {
  const head = await ledger.head()
  if (head !== undefined) await untilVisible(head)
}
