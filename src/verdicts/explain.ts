import type { HistoryEntry } from '../../projections/history/queries.ts'
import { type PublicName, publicNames } from '../domain/licenses/event-names.ts'
import { decideLicense, type IssuedLicense } from '../domain/licenses/license.ts'
import { devicesSeated } from '../domain/licenses/named.ts'
import type { Seat } from '../domain/licenses/seats.ts'
import { shownSeat } from '../domain/licenses/seats.ts'
import type { EntitlementValues } from '../domain/products/entitlement-values.ts'
import { Refusal } from '../domain/refusal.ts'
import { type NameActor, type NamedActor, nameActors } from '../history/actors.ts'
import type { AsOf } from '../history/moment.ts'
import { wordsOf } from '../history/sentences.ts'
import type { Ports } from '../ports.ts'
import { isSeating, type RuntimeStatus, type Verdict, verdictOn } from './answer.ts'
import { type LicenseLookup, lookUpLicense } from './lookup.ts'
import { admissionReason, ofPeopleReason, type Reason, reasonFor, tenantReasons } from './reasons.ts'
import { statusOfRefusal } from './refused.ts'

/** An event that decided the answer, in public terms. */
type DecidingEvent = { sequence: number; event: PublicName; time: string; actor: NamedActor; summary: string }

type Answered = {
  succeeds: boolean
  /** 403 if the request is refused before the license is looked at. */
  httpStatus: 200 | 403
  status: RuntimeStatus | null
}

type Answer = Answered & Pick<Reason, 'rule' | 'because'> & { events: DecidingEvent[] }

/** The answer to a device at one moment, and the reason. */
export type Explanation = {
  at: string
  /** The revision of the license's stream that the explanation is based on. */
  sequence: number
  deviceId: string | null
  validate: Answer & {
    expires_at: number | null
    entitlements: string[]
    entitlement_values?: EntitlementValues
  }
  activate: Answer
  seats: {
    used: number
    limit: number | null
    /** How many devices are in the seats of people; absent where each seat is of a device. */
    devices?: number
    /** Oldest activation first. */
    taken: Pick<Seat, 'deviceId' | 'instanceId' | 'name' | 'platform' | 'activatedAt'>[]
  }
}

/**
 * Explains the answers to a validate and an activation, now or at a moment in the past. It uses the same code
 * as the runtime interface.
 * @throws Refusal `license_not_found`, `moment_in_the_future`; Problem 503 when part of the history cannot be
 *   read
 */
export async function explain(
  ports: Ports<'db' | 'findForRuntime' | 'ledger' | 'now' | 'subjects'>,
  question: { tenantId: string; licenseId: string; deviceId?: string | undefined; asOf?: AsOf | undefined },
): Promise<Explanation> {
  const lookup = await lookUpLicense(ports, question)
  const { result, deviceId = null, at, seated, deciding } = lookup
  const { revision, license } = result
  const actors = deciding.map(({ actor }) => actor)
  const nameOf = await nameActors(ports, question.tenantId, actors)
  const answer = ({ events, ...answered }: Answered & Reason): Answer => ({
    ...answered,
    events: events.map((entry) => describe(entry, license, nameOf)),
  })
  const { expiresAt, entitlements, values, ...validated } = validation(lookup)
  return {
    at,
    sequence: revision,
    deviceId,
    validate: {
      ...answer(validated),
      expires_at: expiresAt,
      entitlements,
      ...(values && { entitlement_values: values }),
    },
    activate: answer(activation(lookup)),
    seats: {
      used: license.seatsUsed,
      limit: license.deviceLimit,
      ...(license.named && { devices: devicesSeated(license) }),
      taken: seated.map((seat) => {
        const { status: _, deactivatedAt: __, ...taken } = shownSeat(seat)
        return taken
      }),
    },
  }
}

function describe(entry: HistoryEntry, { seats }: IssuedLicense, nameOf: NameActor): DecidingEvent {
  const { revision: sequence, at: time, event } = entry
  const seat = 'deviceId' in event.data ? seats.get(event.data.deviceId) : undefined
  const summary = wordsOf(event, seat?.name ?? null)
  return { sequence, event: publicNames[event.type], time, actor: nameOf(entry.actor), summary }
}

const refused = { succeeds: false, httpStatus: 403, status: null } as const

function validation(
  lookup: LicenseLookup,
): Answered & Reason & Pick<Verdict, 'expiresAt' | 'entitlements' | 'values'> {
  const { deviceId, at, tenant } = lookup
  if (tenant.status === 'closed') {
    return { ...refused, ...tenantReasons.closed, expiresAt: null, entitlements: [] }
  }
  const { status, expiresAt, entitlements, values } = verdictOn(lookup.result, deviceId !== undefined, at)
  const answered = { succeeds: status === 'active', httpStatus: 200, status } as const
  return { ...answered, ...reasonFor(lookup, status), expiresAt, entitlements, values }
}

function activation(lookup: LicenseLookup): Answered & Reason {
  const { at, tenant } = lookup
  if (tenant.status !== 'active') return { ...refused, ...tenantReasons[tenant.status] }
  const { status: licenseStatus } = verdictOn(lookup.result, false, at)
  const { license, personId } = lookup.result
  if (isSeating(licenseStatus) && license.named !== null && personId === null)
    return { succeeds: false, httpStatus: 200, status: 'inactive', ...ofPeopleReason }
  const status = isSeating(licenseStatus) ? statusOfActivation(lookup, licenseStatus) : licenseStatus
  const succeeds = isSeating(status)
  const reason = succeeds ? admissionReason(lookup) : reasonFor(lookup, status)
  return { succeeds, httpStatus: 200, status, ...reason }
}

/** The result of an activation; it does not depend on what the device reports about itself. */
function statusOfActivation(
  { result, deviceId = '', at, planIsFull }: LicenseLookup,
  licenseStatus: RuntimeStatus,
): RuntimeStatus {
  try {
    const unnamed = { instanceId: '', installId: null, name: '', platform: null }
    const { license, personId } = result
    const command = { type: 'ActivateDevice', deviceId, ...unnamed, personId, at } as const
    const events = decideLicense(license, command)
    // A device that already has a seat does not count against the plan.
    return planIsFull && events.length > 0 ? 'plan_limit' : licenseStatus
  } catch (error) {
    const status = error instanceof Refusal ? statusOfRefusal(error.code) : undefined
    if (status === undefined) throw error
    return status
  }
}
