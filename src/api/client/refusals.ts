import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import type { Telemetry } from '../../domain/telemetry.ts'
import { waitingShown } from '../../http/licenses/seats.ts'
import { Problem } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import type { CallName } from '../../usage/refusals.ts'
import type { RefusedReason } from '../../verdicts/answer.ts'
import { reasonOfRefusal } from '../../verdicts/refused.ts'
import type { Client } from './client.ts'

/** Why a build is not covered, for people. */
export const notCoveredWords = 'the license does not cover this build; use an older one or extend its updates'

/** That an instance has no seat, for people. */
export const unseatedWords = 'this instance does not exist or is deactivated; activate it again'

/** The responses to refused activations. The client contract has its own statuses. */
const refusals: Partial<Record<RefusalCode, [status: number, message: string]>> = {
  license_revoked: [422, 'license revoked'],
  license_suspended: [422, 'license suspended'],
  license_expired: [422, 'license expired'],
  build_not_covered: [422, notCoveredWords],
  license_reminted: [422, 'this license was reminted; ask the vendor for its new key'],
  seat_limit_reached: [422, 'activation limit reached; deactivate another device first'],
  seat_lost: [422, 'this seat ran out, or was taken again; activate the device again'],
  assigned_to_another: [
    422,
    'the seats of this license are of people; use the key of a person who has one, on a device that no other person uses',
  ],
  seat_has_file: [422, 'the device has a license file and may go on without a network until it ends'],
  borrowing_off: [422, 'seats of this license cannot be borrowed'],
  borrow_limit_reached: [
    422,
    'as many seats are borrowed as the license allows; try again when one is given back',
  ],
  file_request_unreadable: [
    422,
    'borrow_request is not a request that this app made for this product; make a new one',
  ],
  file_request_of_another_license: [422, 'borrow_request was made for another license key; make a new one'],
  file_request_outdated: [422, 'a newer request of this device was answered already; make a new one'],
  file_release_unreadable: [422, 'release is none that this app made for this product; make a new one'],
  file_release_outdated: [422, 'the device has a newer license file than the one that release gives back'],
  plan_limit: [402, "the vendor's plan allows no more active devices"],
}

export function clientProblemOf(
  code: RefusalCode,
  headers: Record<string, string> = {},
  more: object = {},
): Problem | undefined {
  const answer = refusals[code]
  const reason = reasonOfRefusal(code)
  const details = { ...(reason && { reason }), ...more }
  return answer && new Problem(answer[0], 'invalid_request', answer[1], headers, details, code)
}

/** The answer to a key that no license of the product has. */
export const noSuchLicense = (): Problem =>
  new Problem(404, 'invalid_request', 'license not found', {}, { reason: 'not_found' }, 'license_not_found')

/** @throws Problem for a refusal in the client contract; rethrows every other error */
export function refuse(error: unknown): never {
  if (!(error instanceof Refusal)) throw error
  const { code, retryAfterSeconds: seconds } = error
  const headers = seconds === null ? {} : { 'retry-after': String(seconds) }
  throw clientProblemOf(code, headers, waitingShown(error)) ?? error
}

/** A call of an app: its license key, its device and what it reports about itself. */
export type AppCall = {
  client: Pick<Client, 'tenantId' | 'productId'>
  call: CallName
  key: string
  device: { id: string; name: string | null }
  telemetry: Telemetry
}

/** Records that a license refused an app's call; `in_two_places` alone is no refusal. */
export function recordRefused(
  { refusals }: Ports<'refusals'>,
  { client: { tenantId, productId }, call, device, telemetry }: AppCall,
  licenseId: string,
  reason: RefusedReason | 'in_two_places',
): void {
  const { appVersion, sdkVersion, platform } = telemetry
  const refused = { tenantId, productId, call, interface: 'client' } as const
  refusals.record(refused, licenseId, reason, { ...device, appVersion, sdkVersion, platform })
}

/** Records that no license has the key of an app's call. */
export function recordUnknownKey(
  { refusals }: Ports<'refusals'>,
  { client: { tenantId, productId }, call, key }: AppCall,
): void {
  refusals.recordUnknownKey({ tenantId, productId, call, interface: 'client' }, key)
}
