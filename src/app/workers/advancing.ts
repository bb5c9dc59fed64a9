import type { LogReader } from '../../../projections/runner/log.ts'
import type { ReadModels } from '../../../projections/runner/read-models.ts'

/** When the parent does not answer within this time, the worker advances the read models itself. */
const timeoutMs = 1000

type Waiter = {
  position: bigint
  timer: NodeJS.Timeout
  resolve: () => void
  reject: (error: unknown) => void
}

export type DelegatedReadModels = ReadModels & {
  /** Call it with each position that the parent reports. */
  onAdvanced(position: bigint): void
}

/**
 * Read models that the parent process advances for all of its workers, so that commands of different workers share
 * one batch and only one process follows the log.
 * @param request asks the parent to advance to a position
 * @param own advances in this process, when the parent does not answer
 */
export function delegateAdvancing(
  own: ReadModels,
  log: Pick<LogReader, 'head'>,
  request: (position: bigint) => void,
): DelegatedReadModels {
  let reached = -1n
  let requested = -1n
  const waiters = new Set<Waiter>()

  function onAdvanced(position: bigint): void {
    if (position > reached) reached = position
    for (const waiter of waiters) {
      if (waiter.position > reached) continue
      end(waiter)
      waiter.resolve()
    }
  }

  function end(waiter: Waiter): void {
    clearTimeout(waiter.timer)
    waiters.delete(waiter)
  }

  function advanceTo(position: bigint): Promise<void> {
    if (position <= reached) return Promise.resolve()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      own.advanceTo(position).then(
        () => onAdvanced(position),
        (error: unknown) => {
          end(waiter)
          reject(error)
        },
      )
    }, timeoutMs)
    const waiter: Waiter = { position, timer, resolve, reject }
    waiters.add(waiter)
    if (position > requested) {
      requested = position
      request(position)
    }
    return promise
  }

  return {
    ...own,
    advanceTo,
    async catchUp() {
      const head = await log.head()
      if (head !== undefined) await advanceTo(head)
    },
    onAdvanced,
  }
}
