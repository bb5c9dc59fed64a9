import type { Logger } from 'pino'
import type { OnBatch } from '../../projections/runner/read-models.ts'
import type { Undo } from '../async/undo.ts'
import type { Config } from '../config.ts'
import type { Execute, ReadModels } from '../ledger/execute.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Tail } from '../ledger/tail.ts'
import type { Tracing } from '../tracing/tracing.ts'

/** Wraps the parts whose work is recorded in traces. When traces are off, each is returned unchanged. */
export type Traces = {
  tracing: Tracing | undefined
  ledger(ledger: Ledger): Ledger
  execute(execute: Execute): Execute
  wait(readModels: ReadModels): ReadModels
  batches(tail: Tail): { log: Tail; onBatch: OnBatch | undefined }
}

const off: Traces = {
  tracing: undefined,
  ledger: (ledger) => ledger,
  execute: (execute) => execute,
  wait: (readModels) => readModels,
  batches: (log) => ({ log, onBatch: undefined }),
}

/** Starts tracing; its code is loaded only when it is on. @param undo receives the function that stops it */
export async function startTraces({ tracing: settings }: Config, log: Logger, undo: Undo): Promise<Traces> {
  if (settings === undefined) return off
  const [{ startTracing }, { tracedExecute, tracedLedger, tracedWait, watchBatches }] = await Promise.all([
    import('../tracing/start.ts'),
    import('../tracing/stores.ts'),
  ])
  const tracing = await startTracing(settings, (err) => log.warn({ err }, 'traces.not_sent'))
  undo.push(() => tracing.close())
  return {
    tracing,
    ledger: (ledger) => tracedLedger(tracing, ledger),
    execute: (execute) => tracedExecute(tracing, execute),
    wait: (readModels) => tracedWait(tracing, readModels),
    batches: (tail) => watchBatches(tracing, tail),
  }
}
