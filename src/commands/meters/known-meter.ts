import type { FindMeter, FoundMeter, KnownLine, LineKey } from '../../../projections/meters/lookup.ts'
import type { MeterEvent } from '../../domain/meters/events.ts'
import { linesOf } from '../../domain/meters/lines.ts'
import { evolveMeter, type Meter, unusedMeter } from '../../domain/meters/meter.ts'
import { meterOf } from '../../domain/meters/text.ts'
import { streamName } from '../../domain/streams.ts'
import { LedgerUnavailable } from '../../ledger/connection/unavailable.ts'
import type { ExpectedRevision, Ledger } from '../../ledger/ledger.ts'
import { isKeyed, nameOf } from './batch.ts'

/** A meter as this process knows it. */
export type KnownMeter = {
  meter: Meter
  /** Of the last event in `meter`; -1 for none. */
  revision: number
  /** The revision of the read model up to which lines are left out of `tail`; -1 for none. */
  base: number
  /** The lines of all events after `base`, by their names. */
  tail: Map<string, { line: KnownLine; revision: number }>
}

/** The revision to append at. */
export const headOf = ({ revision }: KnownMeter): ExpectedRevision => (revision < 0 ? 'no_stream' : revision)

/**
 * Brings what is known of a meter up to its read model.
 * @param cached undefined where nothing is known yet
 * @returns the meter, and the recorded lines of the keys up to its `base`, by their names
 */
export async function loadMeter(
  findMeter: FindMeter,
  id: string,
  keys: readonly LineKey[],
  cached: KnownMeter | undefined,
): Promise<{ known: KnownMeter; lines: ReadonlyMap<string, KnownLine> }> {
  const found = await findMeter({ stream: streamName('meter', id), known: cached?.revision ?? -1, keys })
  const lines = new Map(found?.lines.filter(isKeyed).map((line) => [nameOf(line), line]))
  return { known: upTo(found, cached) ?? fromReadModel(found), lines }
}

/** @returns undefined where the read model knows more, or was built anew and knows less than it did */
function upTo(found: FoundMeter | undefined, cached: KnownMeter | undefined): KnownMeter | undefined {
  const revision = found?.revision ?? -1
  if (!cached || revision < cached.base || revision > cached.revision) return undefined
  if (revision > cached.base) {
    cached.base = revision
    for (const [name, entry] of cached.tail) if (entry.revision <= revision) cached.tail.delete(name)
  }
  return cached
}

function fromReadModel(found: FoundMeter | undefined): KnownMeter {
  if (found === undefined) return { meter: unusedMeter, revision: -1, base: -1, tail: new Map() }
  const { revision, state } = found
  if (state === undefined) throw new LedgerUnavailable('the read model of a meter has just changed')
  return { meter: meterOf(state), revision, base: revision, tail: new Map() }
}

/**
 * The newer of what the read model has and what is cached. It changes nothing that is cached: a batch that is being decided relies on
 * the lines of its tail.
 * @param cached what this process knows at the moment
 */
export async function readLatest(
  findMeter: FindMeter,
  id: string,
  cached: () => KnownMeter | undefined,
): Promise<Meter> {
  const { meter = unusedMeter, revision = -1 } = cached() ?? {}
  const found = await findMeter({ stream: streamName('meter', id), known: revision, keys: [] })
  const read =
    found?.state && found.revision > revision ? { ...found, meter: meterOf(found.state) } : undefined
  const newest = read ?? { meter, revision }
  const now = cached()
  return now && now.revision > newest.revision ? now.meter : newest.meter
}

/** Adds events that follow what is known. */
export function addEvents(known: KnownMeter, events: readonly MeterEvent[]): void {
  for (const event of events) {
    known.meter = evolveMeter(known.meter, event)
    known.revision++
    for (const line of linesOf(event).filter(isKeyed))
      known.tail.set(nameOf(line), { line, revision: known.revision })
  }
}

/**
 * Reads what other processes have recorded since.
 * @returns whether there was anything
 * @throws LedgerUnavailable when an event cannot be read
 */
export async function readTail(
  ledger: Pick<Ledger, 'readStreamFrom'>,
  id: string,
  known: KnownMeter,
): Promise<boolean> {
  const stream = streamName('meter', id)
  const before = known.revision
  for await (const entry of ledger.readStreamFrom(stream, before + 1)) {
    if (!entry.readable || entry.category !== 'meter' || entry.revision !== known.revision + 1)
      throw new LedgerUnavailable(`${stream} has an unreadable event at revision ${entry.revision}`)
    addEvents(known, [entry.event])
  }
  return known.revision > before
}
