import { LedgerUnavailable } from './connection/unavailable.ts'
import type { Ledger, LoggedEvent } from './ledger.ts'

/** The identity and position of the log that the read models were built from. */
type KnownLog = {
  ledgerId: string | undefined
  position: bigint
  event: { position: bigint; id: string } | undefined
  movedAt: string | undefined
}

/** The log is not the one that the read models were built from; the message says which is older and what to do. */
export class WrongLog extends LedgerUnavailable {
  /** The message without the instruction. */
  readonly difference: string

  constructor(difference: string, remedy: string) {
    super(`${difference} ${remedy}`, undefined, 'wrong_log')
    this.name = 'WrongLog'
    this.difference = difference
  }
}

/**
 * Compares the log with the one that the read models were built from: its identity, and the last event that
 * they applied.
 * @throws WrongLog; LedgerUnavailable
 */
export async function checkLog(
  ledger: Pick<Ledger, 'identity' | 'eventAt' | 'lastEvent'>,
  known: KnownLog,
): Promise<void> {
  const [ledgerId, last] = await Promise.all([ledger.identity(), ledger.lastEvent()])
  if (known.ledgerId !== undefined && ledgerId !== known.ledgerId) {
    throw anotherLog(ledgerId, last, known, known.ledgerId)
  }
  const position = known.event?.position ?? known.position
  if (position < 0n) return
  if (last === undefined || last.position < position) throw olderLog(last, position, known)
  // Tables of a version that did not record the event are rebuilt from this log in any case.
  if (known.event === undefined) return
  const found = await ledger.eventAt(position)
  if (found?.id !== known.event.id) throw otherPast(last, position, known)
}

const rebuild =
  'stop every keyledger process on this database, run keyledger projections rebuild, and start them again'

function anotherLog(
  ledgerId: string | undefined,
  last: LoggedEvent | undefined,
  known: KnownLog,
  knownId: string,
): WrongLog {
  return new WrongLog(
    `The event store contains ${ledgerId === undefined ? 'a log without an identity, or no log' : `the log ${ledgerId}`}` +
      `${endOf(last)}, but the read models were built from the log ${knownId}${endOfTables(known)}.` +
      older(last, known),
    'Point KEYLEDGER_EVENTSTORE_URL at the log that they were built from, or restore the backup of the database that ' +
      `belongs to this log. If this log is the right one for this database: ${rebuild}.`,
  )
}

function olderLog(last: LoggedEvent | undefined, position: bigint, known: KnownLog): WrongLog {
  return new WrongLog(
    `The log is older than the read models: it ends at position ${last?.position ?? 'none'}${endOf(last)}, and they ` +
      `hold events up to position ${position}${endOfTables(known)}. An older backup of the event store was restored.`,
    `Restore a backup at least as new as the read models. To continue without the missing events: ${rebuild}.`,
  )
}

function otherPast(last: LoggedEvent, position: bigint, known: KnownLog): WrongLog {
  return new WrongLog(
    `The log${endOf(last)} has another event at position ${position} than the one that the read models were built from` +
      `${endOfTables(known)}: an older backup of the event store was restored and then written to, or the log is a copy ` +
      `with different positions.${older(last, known)}`,
    `Restore the backup of the event store that belongs to this database. To continue with this log as it is: ${rebuild}.`,
  )
}

const endOf = (last: LoggedEvent | undefined): string =>
  last === undefined ? '' : ` (last event ${last.created.toISOString()})`
const endOfTables = ({ movedAt }: KnownLog): string =>
  movedAt === undefined ? '' : ` (last event taken in ${new Date(movedAt).toISOString()})`

function older(last: LoggedEvent | undefined, { movedAt }: KnownLog): string {
  if (movedAt === undefined) return ''
  return last === undefined || last.created.getTime() < Date.parse(movedAt)
    ? ' The log is the older one.'
    : ' The read models are the older ones.'
}
