import type { FastifyReply } from 'fastify'
import type { KeyLookupResult } from '../../../projections/licenses/runtime.ts'
import { type FloatingSeat, keepSeat } from '../../commands/devices/floating.ts'
import { momentOf } from '../../commands/origin.ts'
import { readKey } from '../../credentials/license-key.ts'
import { type Authority, admitAs, tokenHashIn } from '../../http/authenticate.ts'
import { buildIn } from '../../http/licenses/builds.ts'
import type { Ports } from '../../ports.ts'
import type { CallName } from '../../usage/refusals.ts'
import {
  isSeating,
  type RefusedReason,
  unknownKey,
  type Verdict,
  verdictOn,
  withSeatKept,
  withSeatLost,
} from '../../verdicts/answer.ts'
import type { FindLicense } from './find-license.ts'

/** The license and the device that a call is about. */
export type Input = { product_id: string; license_key: string; device_id?: string | undefined }

/** What the caller says of the app. */
export type AppIn = Parameters<typeof buildIn>[0] & { app_version?: string | undefined }

/** The call of a server that is not authenticated yet: its license is found in the same query. */
type Asking = { authority: Authority; findLicense: FindLicense; reply: FastifyReply }

type OfSeat = { verdict: Verdict; floating: FloatingSeat | undefined }

/**
 * Authenticates the caller, finds the status of the key, and keeps the floating seat of the device. What refuses the call is recorded.
 * @throws Problem 401, 429, 403
 */
export async function verdictFor(
  ports: Ports<'findToken' | 'now' | 'refusals' | 'seatEnds' | 'sightings' | 'usage'>,
  { authority, findLicense, reply }: Asking,
  call: 'validate' | 'heartbeat',
  input: Input & AppIn & { fence?: number | undefined },
): Promise<{ tenantId: string; licenseId: string | undefined } & OfSeat> {
  const { product_id: productId, license_key, device_id } = input
  const now = momentOf(ports)
  const tokenHash = tokenHashIn(reply.request)
  const key = readKey(license_key)
  if (key === undefined) {
    const caller = await admitAs(authority, reply, tokenHash, await ports.findToken(tokenHash), now)
    const verdict = unknownKey(now)
    recordRefusal(ports, caller.tenantId, call, input, undefined, verdict.status)
    return { tenantId: caller.tenantId, licenseId: undefined, verdict, floating: undefined }
  }
  const question = { tokenHash, productId, deviceId: device_id ?? '' }
  const { tenantId, result } = await findLicense(reply, key, question, now)
  const standing = verdictOn(result, device_id !== undefined, now, buildIn(input).builtAt)
  const { verdict, floating } = await seatKept(ports, standing, result, input, now)
  const { status } = verdict
  const isGood = call === 'validate' ? status === 'active' : isSeating(status)
  if (call === 'validate') ports.usage.count(tenantId, productId, isGood ? 'validations' : 'rejected')
  if (!isGood) recordRefusal(ports, tenantId, call, input, result, verdict.reason ?? status)
  const licenseId = result.kind === 'license' ? result.licenseId : undefined
  if (isGood && licenseId !== undefined)
    ports.sightings.note({ tenantId, productId, licenseId, deviceId: device_id ?? '' }, reply.request)
  return { tenantId, licenseId, verdict, floating }
}

/** Keeps the floating seat of a device whose license is good; of another, the seat runs out. Other seats cost nothing here. */
async function seatKept(
  ports: Ports<'seatEnds'>,
  verdict: Verdict,
  result: KeyLookupResult,
  { device_id: deviceId, fence: named }: { device_id?: string | undefined; fence?: number | undefined },
  now: string,
): Promise<OfSeat> {
  const isKept = result.kind === 'license' && deviceId !== undefined && isSeating(verdict.status)
  if (!isKept || result.license.floating === null || result.fence === null)
    return { verdict, floating: undefined }
  const {
    licenseId,
    license: { floating },
    fence,
    fileEndsAt,
  } = result
  const kept = await keepSeat(ports, { licenseId, floating }, { deviceId, fence, fileEndsAt }, named)
  return {
    verdict: kept ? withSeatKept(verdict, floating, now) : withSeatLost(verdict),
    floating: kept,
  }
}

/** @param found undefined for a key that cannot exist */
export function recordRefusal(
  { refusals }: Ports<'refusals'>,
  tenantId: string,
  call: CallName,
  input: Input & { name?: string | undefined; app_version?: string | undefined },
  found: KeyLookupResult | undefined,
  reason: RefusedReason,
): void {
  const refused = { tenantId, productId: input.product_id, call, interface: 'runtime' } as const
  if (found && 'licenseId' in found) {
    const app = { appVersion: input.app_version ?? null, sdkVersion: null, platform: null }
    const device = { id: input.device_id ?? '', name: input.name ?? null, ...app }
    refusals.record(refused, found.licenseId, reason, device)
  } else refusals.recordUnknownKey(refused, input.license_key)
}
