import type { z } from 'zod'
import { clientProblemOf, noSuchLicense, notCoveredWords, unseatedWords } from '../api/client/refusals.ts'
import {
  type activateIn,
  type deactivateIn,
  type heartbeatIn,
  machineIn,
  type validateIn,
} from '../api/client/schemas.ts'
import { readKey } from '../credentials/license-key.ts'
import { sameDigest } from '../credentials/sha256.ts'
import { unixSeconds } from '../domain/licenses/expiry.ts'
import type { DeviceIdentity } from '../domain/licenses/marks.ts'
import { givesSeats } from '../domain/licenses/status.ts'
import { isCovered } from '../domain/licenses/updates.ts'
import { valuesOf } from '../domain/products/entitlement-values.ts'
import { buildIn } from '../http/licenses/builds.ts'
import { seatShown } from '../http/licenses/seats.ts'
import { invalid, Problem } from '../http/problem.ts'
import type { Certified } from './answer.ts'
import { ownSubject } from './floor.ts'
import type { RelayKey } from './key.ts'
import { leaseOf } from './lease.ts'
import type { Relay, SeatHeld } from './relay.ts'

/** What the calls of apps need: the relay, and the key that it signs with. */
export type Served = { relay: Relay; key: RelayKey }

const leaseVersion = 'send lease_version: 2: a relay gives no leases of version 1'

/**
 * An app takes a seat for its device, or keeps the one that it has.
 * @throws Problem as the client interface of a server answers it; 403 when the certificate is over, and for a blocked device
 */
export function activate(served: Served, body: z.output<typeof activateIn>): object {
  const { relay, key } = served
  requireVersion(body)
  const certified = requireServing(served, body.license_key)
  requireSeats(certified)
  // A relay lends no seats: a borrowed one would outlive the relay's certificate.
  if (body.borrow_seconds !== undefined || body.borrow_request !== undefined) throw problemOf('borrowing_off')
  requireCovered(certified, body)
  const taken = relay.activate(claimIn(served, certified, body), body.platform ?? null)
  if (taken.kind === 'blocked') throw blockedDevice()
  if (taken.kind === 'full') throw full(taken)
  return {
    activated: true,
    instance_id: taken.seat.instanceId,
    ...termsShown(certified),
    ...shown(relay, taken),
    ...leaseOf({ key, certified, now: relay.clock.now() }, taken, machineIn(body)),
    ...(body.receipt && { receipt: null }),
  }
}

/** An app keeps the seat of its device, and gets a lease. @throws Problem as {@link activate}; 422 for a seat that is lost */
export function validate(served: Served, body: z.output<typeof validateIn>): object {
  const { relay, key } = served
  requireVersion(body)
  const certified = requireServing(served, body.license_key)
  const held = heldBy(served, body)
  const settings = settingsOf(served)
  const { claims } = certified
  if (givesSeats(claims.status) && !isCovered(updatesOf(certified), buildIn(body).builtAt)) {
    const refused = { valid: false, error: notCoveredWords, status: 'inactive', reason: 'build_not_covered' }
    return { ...refused, ...termsShown(certified), ...settings }
  }
  const isValid = claims.status === 'active'
  return {
    valid: isValid,
    ...((claims.status === 'expired' || claims.status === 'suspended') && {
      error: `license ${claims.status}`,
    }),
    ...termsShown(certified),
    ...shown(relay, held),
    ...leaseOf({ key, certified, now: relay.clock.now() }, held, machineIn(body)),
    ...settings,
  }
}

/** An app keeps the seat of its device. @throws Problem as {@link validate} */
export function heartbeat(served: Served, body: z.output<typeof heartbeatIn>): object {
  const { relay } = served
  const certified = requireServing(served, body.license_key)
  requireSeats(certified)
  const held = heldBy(served, body)
  const half = Math.floor(certified.claims.seat_seconds / 2)
  return { kept: true, ...shown(relay, held), revalidate_after: Math.floor(relay.clock.now() / 1000) + half }
}

/** An app gives the seat of its device back. @throws Problem 404 for an unknown instance, 422 for another fence */
export function deactivate(served: Served, body: z.output<typeof deactivateIn>): object {
  const { relay } = served
  // Seats are given back to a relay whose certificate is over, too.
  requireKey(served, body.license_key)
  const given = relay.giveBack(body.instance_id, body.fence)
  if (given === 'unknown') throw new Problem(404, 'invalid_request', 'instance not found')
  if (given === 'lost') throw lost()
  return { deactivated: true }
}

/** The settings of the product, as the vendor signed them. Once they are over, they are answered without a signature. */
export function settingsOf({ relay }: Served): object {
  const standing = relay.standing()
  const settings = 'certified' in standing ? standing.certified.settings : null
  if (!settings) return { free_tier_enabled: false }
  const isOver = settings.expires_at !== undefined && settings.expires_at * 1000 <= relay.clock.now()
  return isOver ? { free_tier_enabled: settings.free_tier_enabled } : settings
}

/** @throws Problem 404 for another key than that of the license, 503 before the first certificate */
function requireKey({ relay }: Served, typed: string) {
  const standing = relay.standing()
  if (standing.kind === 'waiting')
    throw new Problem(
      503,
      'unavailable',
      'this relay has no certificate yet; its administrator has to accept one',
      {
        'retry-after': '60',
      },
    )
  const sent = readKey(typed)
  if (sent === undefined || !sameDigest(sent.keyHash, standing.enrollment.keyHash)) throw noSuchLicense()
  return standing
}

/** @throws Problem as {@link requireKey}; 403 when the relay may give out no seats */
function requireServing(served: Served, typed: string): Certified {
  const standing = requireKey(served, typed)
  if (standing.kind === 'released')
    throw new Problem(403, 'forbidden', 'this relay has given its seats back; use the address of the vendor')
  if (standing.kind === 'over')
    throw new Problem(
      403,
      'forbidden',
      `the certificate of this relay ended at ${standing.certified.claims.exp}; its administrator has to renew it`,
    )
  return standing.certified
}

function requireVersion({ lease_version }: { lease_version: number }): void {
  if (lease_version !== 2) throw invalid(leaseVersion)
}

/** @throws Problem 422 for a license that gives no seats */
function requireSeats({ claims }: Certified): void {
  if (!givesSeats(claims.status)) throw problemOf(`license_${claims.status}`)
}

const updatesOf = ({ claims }: Certified) => ({
  updatesUntil: claims.updates_until === undefined ? null : new Date(claims.updates_until).toISOString(),
})

/** @throws Problem 422 */
function requireCovered(certified: Certified, body: Parameters<typeof buildIn>[0]): void {
  if (isCovered(updatesOf(certified), buildIn(body).builtAt)) return
  throw problemOf('build_not_covered', {}, updatesShown(certified))
}

const updatesShown = ({ claims }: Certified) =>
  claims.updates_until === undefined ? {} : { updates_until: unixSeconds(claims.updates_until) }

function termsShown(certified: Certified): object {
  const { license_expires_at: end, entitlements } = certified.claims
  const values = valuesOf(
    Object.keys(entitlements).filter((name) => entitlements[name] !== true),
    entitlements,
  )
  return {
    license_expires_at: end === null ? null : unixSeconds(end),
    ...updatesShown(certified),
    ...(Object.keys(values).length > 0 && { entitlement_values: values }),
  }
}

const shown = ({ clock }: Relay, { seat, endsAt }: SeatHeld): object =>
  seatShown(seat.instanceId, {
    deviceId: seat.instanceId,
    fence: seat.fence,
    endsAt: new Date(Math.max(endsAt * 1000, clock.now())).toISOString(),
  })

/** @throws Problem 422 for a seat that is lost, or that the instance never had */
function heldBy(
  { relay }: Served,
  { instance_id: instanceId, fence }: { instance_id: string; fence?: number | undefined },
) {
  const held = relay.keepSeat(instanceId, fence)
  if (held) return held
  if (relay.isKnown(instanceId)) throw lost()
  throw new Problem(422, 'invalid_request', unseatedWords, {}, { reason: 'inactive' })
}

const lost = (): Problem => problemOf('seat_lost')

/** The words of the client interface for a refusal, which it has for each of these. */
const problemOf = (...refusal: Parameters<typeof clientProblemOf>): Problem =>
  clientProblemOf(...refusal) ?? noSuchLicense()

const full = ({ retryAfter, waiting }: { retryAfter: number; waiting: number }): Problem =>
  problemOf('seat_limit_reached', { 'retry-after': String(retryAfter) }, { retry_after: retryAfter, waiting })

const blockedDevice = (): Problem =>
  new Problem(403, 'forbidden', 'this device is blocked on the relay; ask the administrator of the relay')

/** What the device is recognized by. @throws Problem 422 without a user where seats are of users */
function claimIn({ key }: Served, { claims }: Certified, body: z.output<typeof activateIn>) {
  const machine = machineIn(body)
  if (claims.scope === 'user' && body.user_id === undefined)
    throw new Problem(422, 'invalid_request', 'seats of this license are of users: send `user_id`')
  const said = claims.scope === 'user' ? { machineHash: body.user_id ?? null, components: {} } : machine
  const identity: DeviceIdentity | undefined = said && {
    subjectId: ownSubject,
    machine: said.machineHash === null ? null : key.hashed(said.machineHash),
    components: Object.fromEntries(
      Object.entries(said.components).map(([name, hash]) => [name, key.hashed(`${name} ${hash}`)]),
    ),
  }
  return {
    instanceId: body.instance_id ?? null,
    installId: body.free_tier_instance_id ?? null,
    name: body.instance_name,
    identities: identity ? [identity] : [],
  }
}
