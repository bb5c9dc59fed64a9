import type { KnownLine, LineKey } from '../../../projections/meters/lookup.ts'
import { type Amount, amountText } from '../../domain/meters/amount.ts'
import { answersTo, decideMeter, type MeterCommand, type UseAnswer } from '../../domain/meters/decide.ts'
import type { MeterEvent } from '../../domain/meters/events.ts'
import { type LineKind, linesOf } from '../../domain/meters/lines.ts'
import { evolveMeter, type Meter } from '../../domain/meters/meter.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Cause } from '../../ledger/ledger.ts'

/** A request about one meter. */
export type MeterRequest = {
  /** Of the meter's stream. */
  id: string
  tenantId: string
  /** The line that it adds, by which it is known when it is repeated; undefined for one that adds none, or is not to be repeated. */
  adds: ({ kind: LineKind; amount: Amount | null } & LineKey) | undefined
  command: (at: string) => MeterCommand
  /** Who asks: an event has one actor. */
  actor: string
  cause: (at: string) => Cause
}

/** What became of a request. */
export type Counted = {
  /** The meter after it, and after those before it. */
  meter: Meter
  at: string
  /** What it has added, now or when it was sent before; undefined when it adds nothing. */
  line: KnownLine | undefined
  /** To a use that was not counted before. */
  answer: UseAnswer | undefined
}

type Outcome = { counted: Counted } | { refusal: Refusal }

/** The events of a batch, and what became of its requests, in their order. */
export type DecidedBatch = {
  events: MeterEvent[]
  meter: Meter
  outcomes: Outcome[]
  /** By {@link nameOf}. */
  added: Map<string, KnownLine>
}

/** Lines are known by their key, with the license where a meter is shared; a commit by its hold, in a namespace of its own. */
export const nameOf = ({ kind, key, licenseId }: { kind: LineKind } & LineKey): string =>
  kind === 'commit' ? `commit ${key}` : `key ${licenseId ?? ''} ${key}`

/**
 * Decides on requests one after another, as if each had a batch of its own. A request whose key is known changes nothing.
 * @param known finds the line of a request, by {@link nameOf}, among those that are recorded
 */
export function decideBatch(
  before: Meter,
  requests: readonly MeterRequest[],
  known: (name: string) => KnownLine | undefined,
  at: string,
): DecidedBatch {
  const added = new Map<string, KnownLine>()
  const events: MeterEvent[] = []
  let meter = before
  const outcomes = requests.map((request): Outcome => {
    try {
      const line = sentBefore(request, (name) => added.get(name) ?? known(name))
      if (line) return { counted: { meter, at, line, answer: undefined } }
      const command = request.command(at)
      if (isOfHold(command) && meter.owner?.tenantId !== request.tenantId) throw new Refusal('hold_not_found')
      const answer = command.type === 'Consume' ? answersTo(meter, command)[0] : undefined
      const decided = decideMeter(meter, command)
      meter = decided.reduce(evolveMeter, meter)
      for (const event of decided) addTo(events, event)
      const lines = decided.flatMap(linesOf)
      for (const line of lines) if (isKeyed(line)) added.set(nameOf(line), line)
      return { counted: { meter, at, line: lines[0], answer } }
    } catch (error) {
      if (error instanceof Refusal) return { refusal: error }
      throw error
    }
  })
  return { events, meter, outcomes, added }
}

/** Whether a line can be found again by its key. */
export const isKeyed = <L extends { key: string | null }>(line: L): line is L & { key: string } =>
  line.key !== null

/** Such a command names its meter by an id that anybody can have made up. */
const isOfHold = ({ type }: MeterCommand): boolean =>
  type === 'CommitHold' || type === 'ReleaseHold' || type === 'SpendAllowance' || type === 'ReturnAllowance'

/** @throws Refusal `meter_key_reused`, `hold_not_found` for a hold that was committed with another amount */
function sentBefore(
  { adds }: MeterRequest,
  known: (name: string) => KnownLine | undefined,
): KnownLine | undefined {
  const line = adds && known(nameOf(adds))
  // What a withdrawal takes is known only when it is decided.
  const isOther = (there: string | null) => adds?.amount != null && there !== amountText(adds.amount)
  if (line && (line.kind !== adds.kind || isOther(line.amount)))
    throw new Refusal(adds.kind === 'commit' ? 'hold_not_found' : 'meter_key_reused')
  return line
}

/** Uses that follow each other are one event. */
function addTo(events: MeterEvent[], event: MeterEvent): void {
  const last = events.at(-1)
  if (event.type === 'UsesRecorded' && last?.type === 'UsesRecorded') last.data.uses.push(...event.data.uses)
  else events.push(event)
}
