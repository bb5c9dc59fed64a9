import type { Ledger } from '../../ledger/ledger.ts'

/**
 * Brings the read models to the end of the log, with what a process recorded that died or gave up before it was
 * visible there. For rules that count rows of many streams, under a lock that lets nobody add to them.
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
