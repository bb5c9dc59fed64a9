import { AggregatorRegistry, type Registry } from 'prom-client'
import { Measured } from './messages.ts'

/** A worker that does not answer within this time is counted with its last known values. */
const timeoutMs = 1000

/** The metrics of all processes of one server. */
export type Measurements = {
  read(): Promise<string>
  onMeasured(worker: number, id: number, metrics: Measured): void
  onEnded(worker: number): void
}

/**
 * Sums the metrics of this process and of its workers. The last counts of a worker stay in the sum after it ends:
 * Prometheus would take a falling counter for a restart and count it again.
 * @param own the metrics of this process
 * @param workers the ids of the running workers
 * @param request asks a worker to send its metrics under an id
 */
export function createMeasurements(
  own: Registry,
  workers: () => readonly number[],
  request: (worker: number, id: number) => void,
): Measurements {
  const last = new Map<number, Measured>()
  let ended: Promise<Measured> = Promise.resolve([])
  let ids = 0
  const awaited = new Map<number, { missing: Set<number>; resolve: () => void }>()

  function arrived(id: number, worker: number): void {
    const pending = awaited.get(id)
    pending?.missing.delete(worker)
    if (pending?.missing.size === 0) pending.resolve()
  }

  async function requestAll(): Promise<void> {
    const missing = new Set(workers())
    if (missing.size === 0) return
    const id = ids++
    const { promise, resolve } = Promise.withResolvers<void>()
    awaited.set(id, { missing, resolve })
    const timer = setTimeout(resolve, timeoutMs)
    for (const worker of missing) request(worker, id)
    await promise
    clearTimeout(timer)
    awaited.delete(id)
  }

  return {
    async read() {
      await requestAll()
      const ofThis = Measured.parse(await own.getMetricsAsJSON())
      return sum([ofThis, ...last.values(), await ended]).metrics()
    },
    onMeasured(worker, id, metrics) {
      last.set(worker, metrics)
      arrived(id, worker)
    },
    onEnded(worker) {
      const counted = (last.get(worker) ?? []).filter(
        ({ type }) => type === 'counter' || type === 'histogram',
      )
      last.delete(worker)
      ended = ended.then(async (before) => Measured.parse(await sum([before, counted]).getMetricsAsJSON()))
      for (const id of awaited.keys()) arrived(id, worker)
    },
  }
}

/** The processes start at different times; the server started with the first of them. */
const aggregators: Readonly<Record<string, string>> = { process_start_time_seconds: 'min' }

function sum(all: readonly Measured[]): Registry {
  return AggregatorRegistry.aggregate(
    all.map((metrics) =>
      metrics.map((metric) => ({ ...metric, aggregator: aggregators[metric.name] ?? metric.aggregator })),
    ),
  )
}
