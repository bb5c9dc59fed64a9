import type { Share } from '../../../projections/database/shared-locks.ts'
import type { Execute } from '../../ledger/execute.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { KeyTypeUse } from './key-type-use.ts'

type UntilVisible = (position: bigint) => Promise<void>

type Waiting = { execute: Execute; keyTypes: KeyTypeUse; untilVisible: UntilVisible }

/**
 * Runs work of several commands that waits for the read models once, after the last command, instead of after
 * each. Until then, the key types that it uses cannot be deleted. Its commands have to decide on the log,
 * since the read models may lack what the commands before them recorded.
 * @param work gets ports whose commands do not wait
 * @throws what the work throws; ReadModelsBehind
 */
export async function waitOnce<T, S extends Waiting>(ports: S, work: (ports: S) => Promise<T>): Promise<T> {
  let recorded = -1n
  const execute: Execute = async (decider, id, command, cause, options) => {
    const executed = await ports.execute(decider, id, command, cause, { ...options, waits: false })
    const { position } = executed
    if (position !== undefined && position > recorded) recorded = position
    return executed
  }
  const shares = new Map<string, Share>()
  const enter: KeyTypeUse['enter'] = async (keyType) => {
    const { tenantId, productId, keyTypeId } = keyType
    const name = `${tenantId} ${productId} ${keyTypeId}`
    // A waiting deletion blocks new shares, so entering twice would deadlock with this process's own share.
    const share = shares.get(name) ?? (await ports.keyTypes.enter(keyType))
    shares.set(name, share)
    return { ...share, leave: () => undefined }
  }
  try {
    return await work({ ...ports, execute, keyTypes: { ...ports.keyTypes, enter } })
  } finally {
    // Also after a refusal, which may be about what has just been recorded.
    const visible = recorded >= 0n ? ports.untilVisible(recorded) : Promise.resolve()
    await visible.finally(() => {
      for (const share of shares.values()) share.leave()
    })
  }
}

/**
 * Brings the read models to the end of the log, including events of a process that died before they were
 * visible. For rules that count rows of many streams, under a lock that excludes other changes.
 */
export async function catchUpWithLog({
  ledger,
  untilVisible,
}: {
  ledger: Pick<Ledger, 'head'>
  untilVisible: UntilVisible
}): Promise<void> {
  const head = await ledger.head()
  if (head !== undefined) await untilVisible(head)
}
