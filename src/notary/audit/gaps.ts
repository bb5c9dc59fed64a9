import type { Ledger } from '../../ledger/ledger.ts'
import type { LogSource } from '../../ledger/raw/log.ts'
import type { EventPlace } from '../tree-store.ts'

type Ports = { log: LogSource; ledger: Pick<Ledger, 'eventOf'>; signal?: AbortSignal | undefined }

/** A removed event leaves a gap in its stream, unless it was the last: so far ahead the next one is searched. */
const maxEvents = 20_000

/**
 * Searches an event that the log lacks: the next event of its stream stands behind the place where it is missing.
 * @param index of the place, counted in events
 * @returns undefined when no stream has a gap there
 */
export async function findGap(
  { log, ledger, signal }: Ports,
  index: number,
): Promise<Omit<EventPlace, 'id'> | undefined> {
  const seen = new Set<string>()
  let at = 0
  for await (const { events } of log.pages(undefined)) {
    signal?.throwIfAborted()
    for (const { stream, revision } of events) {
      at += 1
      if (at <= index || seen.has(stream)) continue
      if (at > index + maxEvents) return undefined
      seen.add(stream)
      const first = await firstMissingBefore(ledger, stream, revision)
      if (first !== undefined) return { stream, revision: first }
    }
  }
  return undefined
}

/** @returns the first of the revisions directly before this one that the stream lacks */
async function firstMissingBefore(
  ledger: Pick<Ledger, 'eventOf'>,
  stream: string,
  revision: number,
): Promise<number | undefined> {
  let missing: number | undefined
  while ((missing ?? revision) > 0 && !(await ledger.eventOf(stream, (missing ?? revision) - 1)))
    missing = (missing ?? revision) - 1
  return missing
}
