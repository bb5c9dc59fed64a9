import type { HistoryEntry } from '../../projections/history/queries.ts'
import { decideLicense, type IssuedLicense, type Seat } from '../domain/licenses/license.ts'
import { Refusal } from '../domain/refusal.ts'
import { type NameActor, type NamedActor, nameActors } from '../history/actors.ts'
import type { AsOf } from '../history/moment.ts'
import { type PublicName, publicNames, wordsOf } from '../history/words.ts'
import type { Ports } from '../ports.ts'
import { isSeating, type RuntimeStatus, statusOfRefusal, type Verdict, verdictOn } from './answer.ts'
import { type Situation, situationOf } from './lookup.ts'
import { admissionReason, type Reason, reasonFor, tenantReasons } from './reasons.ts'

/** An event that decided, in public terms. */
type DecidingEvent = { sequence: number; event: PublicName; time: string; actor: NamedActor; summary: string }

type Answered = {
  succeeds: boolean
  /** 403 where the interface refuses before it looks at the license. */
  httpStatus: 200 | 403
  status: RuntimeStatus | null
}

type Told = Answered & Pick<Reason, 'rule' | 'because'> & { events: DecidingEvent[] }

/** What a device would be answered at one moment, and why. */
export type Explanation = {
  at: string
  /** The revision of the license's stream that it is true of. */
  sequence: number
  deviceId: string | null
  validate: Told & Pick<Verdict, 'expires_at' | 'entitlements'>
  activate: Told
  seats: {
    used: number
    limit: number | null
    /** Longest first. */
    taken: Pick<Seat, 'deviceId' | 'instanceId' | 'name' | 'platform' | 'activatedAt'>[]
  }
}

/**
 * What validate and activate would answer, with the reason: by the code that answers them, on what they would find, or
 * would have found at a moment that has passed.
 * @throws Refusal `license_not_found`, `moment_in_the_future`; Problem 503 when part of the history cannot be read
 */
export async function explain(
  services: Ports<'db' | 'findForRuntime' | 'ledger' | 'now' | 'subjects'>,
  question: { tenantId: string; licenseId: string; deviceId?: string | undefined; asOf?: AsOf | undefined },
): Promise<Explanation> {
  const situation = await situationOf(services, question)
  const { found, deviceId = null, at, seated, deciding } = situation
  const { revision, license } = found
  const actors = deciding.map(({ actor }) => actor)
  const nameOf = await nameActors(services, question.tenantId, actors)
  const told = ({ events, ...answered }: Answered & Reason): Told => ({
    ...answered,
    events: events.map((entry) => tell(entry, license, nameOf)),
  })
  const { expires_at, entitlements, ...validated } = validation(situation)
  return {
    at,
    sequence: revision,
    deviceId,
    validate: { ...told(validated), expires_at, entitlements },
    activate: told(activation(situation)),
    seats: {
      used: license.seatsUsed,
      limit: license.deviceLimit,
      taken: seated.map(({ installId: _, status: __, deactivatedAt: ___, ...seat }) => seat),
    },
  }
}

function tell(entry: HistoryEntry, { seats }: IssuedLicense, nameOf: NameActor): DecidingEvent {
  const { revision: sequence, at: time, event } = entry
  const seat = 'deviceId' in event.data ? seats.get(event.data.deviceId) : undefined
  const summary = wordsOf(event, seat?.name ?? null)
  return { sequence, event: publicNames[event.type], time, actor: nameOf(entry.actor), summary }
}

const refused = { succeeds: false, httpStatus: 403, status: null } as const

function validation(situation: Situation): Answered & Reason & Pick<Verdict, 'expires_at' | 'entitlements'> {
  const { deviceId, at, tenant } = situation
  if (tenant.status === 'closed') {
    return { ...refused, ...tenantReasons.closed, expires_at: null, entitlements: [] }
  }
  const { status, expires_at, entitlements } = verdictOn(situation.found, deviceId !== undefined, at)
  const answered = { succeeds: status === 'active', httpStatus: 200, status } as const
  return { ...answered, ...reasonFor(situation, status), expires_at, entitlements }
}

function activation(situation: Situation): Answered & Reason {
  const { at, tenant } = situation
  if (tenant.status !== 'active') return { ...refused, ...tenantReasons[tenant.status] }
  const { status: standing } = verdictOn(situation.found, false, at)
  const status = isSeating(standing) ? statusOfActivation(situation, standing) : standing
  const succeeds = isSeating(status)
  const reason = succeeds ? admissionReason(situation) : reasonFor(situation, status)
  return { succeeds, httpStatus: 200, status, ...reason }
}

/** What is decided when a device asks for a seat; what it calls itself does not matter to that. */
function statusOfActivation(
  { found, deviceId = '', at, planIsFull }: Situation,
  standing: RuntimeStatus,
): RuntimeStatus {
  try {
    const unnamed = { instanceId: '', installId: null, name: '', platform: null }
    const events = decideLicense(found.license, { type: 'ActivateDevice', deviceId, ...unnamed, at })
    // A device that has its seat takes nothing of the plan.
    return planIsFull && events.length > 0 ? 'plan_limit' : standing
  } catch (error) {
    const status = error instanceof Refusal ? statusOfRefusal(error.code) : undefined
    if (status === undefined) throw error
    return status
  }
}
