import type { Logger } from 'pino'
import type { OnBatch } from '../../projections/runner/read-models.ts'
import type { Config } from '../config.ts'
import type { Execute, ReadModels } from '../ledger/execute.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Tail } from '../ledger/tail.ts'
import type { Tracing } from '../tracing/tracing.ts'

/** What shows the work on the stores in traces. Where these are off, everything stays as it is. */
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

/** Starts what takes traces, which is loaded only where they are on. @param undo is given what ends it */
export async function startTraces(
  { tracing: settings }: Config,
  log: Logger,
  undo: (() => Promise<unknown>)[],
): Promise<Traces> {
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
