import { setTimeout } from 'node:timers/promises'
import type { FindMeter } from '../../../projections/meters/lookup.ts'
import type { Meter } from '../../domain/meters/meter.ts'
import { streamName } from '../../domain/streams.ts'
import { LedgerUnavailable } from '../../ledger/connection/unavailable.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { type Counted, type DecidedBatch, decideBatch, type MeterRequest } from './batch.ts'
import { addEvents, headOf, type KnownMeter, loadMeter, readLatest, readTail } from './known-meter.ts'

export type Counting = {
  /**
   * Carries out a request about a meter. It does not wait for the read models.
   * @returns what became of it, and the position of its event; undefined when it recorded nothing
   * @throws Refusal, also `meter_key_reused`; LedgerUnavailable when the stores do not answer, or other processes win too often
   */
  count(request: MeterRequest): Promise<Counted & { position: bigint | undefined }>
  /**
   * Reads a meter without counting: as its read model has it, or newer where this process has counted since.
   * @throws when the database does not answer
   */
  latest(id: string): Promise<Meter>
}

type Job = MeterRequest & {
  resolve: (counted: Counted & { position: bigint | undefined }) => void
  reject: (error: unknown) => void
}

/** Meters of which the state is kept. */
const mostKnown = 10_000
/** An event of so many uses is well below what the event store takes at once. */
const mostInBatch = 500
const attempts = 25

/**
 * Counts what requests use. Requests about one meter that arrive while others are recorded are recorded together, by one event.
 *
 * No key is counted twice, over any number of processes: the read model commits the row of a meter with the keys of all its events
 * up to that row's revision, and every batch asks for its keys in the same statement as for that revision. The keys of all
 * events after it are in the tail that is kept here, since an append names the last revision that is known here: when another
 * process has recorded anything after that, the append is refused, and what was recorded is read, with its keys, before the batch is
 * decided again. The same revision makes the amounts exact. After a crash nothing is left but what was appended; a request that
 * got no answer is sent again with its key.
 *
 * Where nothing is to be appended, no revision is compared: the stream is read on before the requests are refused, or answered again.
 */
export function createCounting(ports: {
  findMeter: FindMeter
  ledger: Pick<Ledger, 'append' | 'readStreamFrom'>
  now: () => Date
}): Counting {
  const queues = new Map<string, Job[]>()
  const cache = new Map<string, KnownMeter>()

  function keep(id: string, known: KnownMeter): void {
    cache.delete(id)
    cache.set(id, known)
    const oldest = cache.size > mostKnown ? cache.keys().next().value : undefined
    if (oldest !== undefined) cache.delete(oldest)
  }

  async function work(id: string, queue: Job[]): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, lengthOfBatch(queue))
      try {
        await countBatch(id, batch)
      } catch (error) {
        // Whether it was recorded is not known: the next batch begins with the read model.
        cache.delete(id)
        for (const { reject } of batch) reject(error)
      }
    }
    queues.delete(id)
  }

  async function countBatch(id: string, batch: readonly Job[]): Promise<void> {
    const keys = batch.flatMap(({ adds }) => adds ?? [])
    const { known, lines } = await loadMeter(ports.findMeter, id, keys, cache.get(id))
    keep(id, known)
    const knownLine = (name: string) => known.tail.get(name)?.line ?? lines.get(name)
    for (let attempt = 0; attempt < attempts; attempt++) {
      const at = ports.now().toISOString()
      const decided = decideBatch(known.meter, batch, knownLine, at)
      if (decided.events.length === 0) {
        if (!(await readTail(ports.ledger, id, known))) return settle(batch, decided)
        continue
      }
      const [first] = batch
      if (!first) return
      const outcome = await ports.ledger.append(
        streamName('meter', id),
        headOf(known),
        decided.events,
        first.cause(at),
      )
      if (outcome.appended) {
        addEvents(known, decided.events)
        return settle(batch, decided, outcome.position)
      }
      // The node that is read may not have yet what won.
      if (!(await readTail(ports.ledger, id, known)))
        await setTimeout(Math.random() * Math.min(100, 2 ** attempt))
    }
    throw new LedgerUnavailable(`too many other processes count under ${id} at this moment`)
  }

  return {
    latest: (id) => readLatest(ports.findMeter, id, () => cache.get(id)),
    count: (request) =>
      new Promise((resolve, reject) => {
        const job = { ...request, resolve, reject }
        const queue = queues.get(request.id)
        if (queue) {
          queue.push(job)
          return
        }
        const begun = [job]
        queues.set(request.id, begun)
        // Waits for the other requests of the same tick.
        setImmediate(() => void work(request.id, begun))
      }),
  }
}

function lengthOfBatch(queue: readonly Job[]): number {
  const actor = queue[0]?.actor
  const next = queue.findIndex((job) => job.actor !== actor)
  return Math.min(mostInBatch, next < 0 ? queue.length : next)
}

function settle(batch: readonly Job[], { outcomes }: DecidedBatch, position?: bigint): void {
  for (const [index, outcome] of outcomes.entries()) {
    const job = batch[index]
    if ('refusal' in outcome) job?.reject(outcome.refusal)
    else job?.resolve({ ...outcome.counted, position })
  }
}
