import { setTimeout } from 'node:timers/promises'
import { LedgerUnavailable } from '../connection/unavailable.ts'
import { WrongRevision } from './appends.ts'
import { isSameEvent, type RawEvent } from './event.ts'
import type { LogSource, RawLog } from './log.ts'
import { writeInOrder } from './write.ts'

/** How far a copy has come: both logs hold the same events up to these positions. */
type CopyPosition = { events: number; source: bigint | undefined; target: bigint | undefined }

type CopyProgress = { events: number; position: bigint; head: bigint }

export type CopyOptions = {
  /**
   * Whether the source may still grow. If so, the copy waits for more at its end. If absent, the copy ends
   * there.
   */
  mayGrow?: () => Promise<boolean>
  onProgress: (progress: CopyProgress) => void
  /** Called for each failure that is retried. */
  onRetry: (error: Error) => void
}

/** The target holds an event that the source does not have at that place, so it is not a copy of this log. */
export class TargetDiffers extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TargetDiffers'
  }
}

const startOfLog: CopyPosition = { events: 0, source: undefined, target: undefined }
const maxTriesWithoutProgress = 10
const pollMs = 250

/**
 * Copies the source's events to the target with the same ids, types, bytes, revisions and order. It first
 * compares what the target already holds, so it continues an earlier copy. After a failure it compares again,
 * because events may have been written without an acknowledgement.
 * @returns how many events both hold
 * @throws TargetDiffers when the target does not hold a prefix of the source; LedgerUnavailable after repeated
 *   failures of a store
 */
export async function copyLog(source: LogSource, target: RawLog, options: CopyOptions): Promise<number> {
  let place = await compare(source, target, startOfLog, options.onProgress)
  for (let failures = 0; ; ) {
    const before = place.events
    try {
      const mayGrow = await options.mayGrow?.()
      await writeAfter(
        source,
        target,
        place,
        (reached) => {
          place = reached
        },
        options.onProgress,
      )
      if (!mayGrow) return place.events
      failures = 0
      await setTimeout(pollMs)
    } catch (error) {
      if (!(error instanceof LedgerUnavailable || error instanceof WrongRevision)) throw error
      failures = place.events > before ? 1 : failures + 1
      if (failures > maxTriesWithoutProgress) throw error
      options.onRetry(error)
      await setTimeout(100 * 2 ** Math.min(failures, 6))
      place = await compare(source, target, place, options.onProgress)
    }
  }
}

/** Writes the source's events after a position, up to its end. */
async function writeAfter(
  source: LogSource,
  target: RawLog,
  from: CopyPosition,
  onReached: (place: CopyPosition) => void,
  onProgress: (progress: CopyProgress) => void,
): Promise<void> {
  const head = (await source.head()) ?? 0n
  let { events } = from
  const appends = await target.openAppends()
  try {
    await writeInOrder(appends, source.pages(from.source), (written, position) => {
      events += written.length
      const at = written.at(-1)?.position ?? from.source
      onReached({ events, source: at, target: position })
      if (at !== undefined) onProgress({ events, position: at, head: head > at ? head : at })
    })
  } finally {
    appends.close()
  }
}

/**
 * Compares the target's events after a position with the source's.
 * @returns the position up to which they are the same
 * @throws TargetDiffers
 */
async function compare(
  source: LogSource,
  target: RawLog,
  from: CopyPosition,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyPosition> {
  const head = (await source.head()) ?? 0n
  const expected = eventsOf(source, from.source)
  let place = from
  try {
    for await (const { events } of target.pages(from.target)) {
      for (const event of events) {
        const { value, done } = await expected.next()
        if (done) throw new TargetDiffers(extraEvent(event, place.events))
        if (!isSameEvent(value, event)) throw new TargetDiffers(differentEvent(event, value, place.events))
        place = { events: place.events + 1, source: value.position, target: event.position }
      }
      if (place.source !== undefined) onProgress({ events: place.events, position: place.source, head })
    }
  } finally {
    await expected.return?.(undefined)
  }
  return place
}

export async function* eventsOf(
  log: LogSource,
  after: bigint | undefined,
): AsyncGenerator<RawEvent, undefined> {
  for await (const { events } of log.pages(after)) yield* events
  return undefined
}

const describeEvent = ({ type, revision, stream }: RawEvent) => `${type} at revision ${revision} of ${stream}`

const advice = 'Copy into an empty log, or into one with an unfinished copy of this log.'

const extraEvent = (event: RawEvent, same: number) =>
  `The target has more events than the source: after ${same} identical events comes ${describeEvent(event)}. ${advice}`

const differentEvent = (event: RawEvent, expected: RawEvent, same: number) =>
  `The target is not a copy of the source: after ${same} identical events it has ${describeEvent(event)}, but the ` +
  `source has ${describeEvent(expected)}. ${advice}`
