import type { FastifyReply } from 'fastify'
import type { InstanceKeyResult, LicenseOnInstance } from '../../../projections/licenses/instance-validate.ts'
import { type FloatingSeat, keepSeat } from '../../commands/devices/floating.ts'
import { readKey } from '../../credentials/license-key.ts'
import { type LicenseStatus, statusAt } from '../../domain/licenses/status.ts'
import { Problem, unavailable } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import { onlyPlain } from '../../vault/key-hashing.ts'
import type { RefusedReason } from '../../verdicts/answer.ts'
import { admitClient, admitClientAs, type ClientAuthority, productNamed, sdkKeyHashIn } from './admit.ts'
import type { Client } from './client.ts'
import { clientProblemOf, noSuchLicense, unseatedWords } from './refusals.ts'

/** The app, the hash of the key that it sent, and what was found for it. */
type Found = { client: Client; keyHash: string; result: InstanceKeyResult }

/**
 * Authenticates the app and finds the license of its key in one lookup. The first key of another format that this process
 * is asked for in a tenant takes more: the tenant's secret is read once the app is known to be the tenant's.
 */
export async function findOnInstance(
  ports: Ports<'findForInstanceValidate' | 'keyHashing'>,
  authority: ClientAuthority,
  reply: FastifyReply,
  { license_key, instance_id: instanceId }: { license_key: string; instance_id: string },
  now: string,
): Promise<Found> {
  const { request } = reply
  const sdkKeyHash = sdkKeyHashIn(request)
  const named = productNamed(request)
  const key = readKey(license_key)
  if (key === undefined) {
    return { client: await admitClient(authority, request), keyHash: '', result: { kind: 'no license' } }
  }
  const { keyHash } = key
  const hashes = ports.keyHashing.hashesNow(named.tenantId, key)
  const question = { ...named, ...(hashes ?? onlyPlain(key)), instanceId, now }
  let found = await ports.findForInstanceValidate(question)
  const client = await admitClientAs(authority, request, named, sdkKeyHash, found.client)
  if (!hashes) {
    const both = await ports.keyHashing.hashesOf(named.tenantId, key)
    found = await ports.findForInstanceValidate({ ...question, ...both })
  }
  const asking = authority.clientLimits.asking(client, { keyHash, instanceId }, reply)
  if (asking) await asking
  return { client, keyHash, result: found.result }
}

export type Verdict = { status: LicenseStatus; found: LicenseOnInstance; floating?: FloatingSeat | undefined }
export type Refused = { problem: Problem; reason: RefusedReason }

/**
 * Keeps the instance's floating seat, if it has one.
 * @param fence of the seat that the app means; undefined for whichever the instance has
 */
export async function seatKept(
  ports: Ports<'seatEnds'>,
  verdict: Verdict | Refused,
  fence: number | undefined,
): Promise<Verdict | Refused> {
  if ('problem' in verdict) return verdict
  const { licenseId, license, floatingSeat } = verdict.found
  if (license.floating === null || floatingSeat === undefined) return verdict
  const floating = await keepSeat(ports, { licenseId, floating: license.floating }, floatingSeat, fence)
  return floating ? { ...verdict, floating } : refused('seat_lost', 'seat_lost')
}

/** Only an instance with a seat gets a lease, because the lease names the instance. */
export function verdictOn(result: InstanceKeyResult, now: string): Verdict | Refused {
  if (result.kind === 'no license') return { problem: noSuchLicense(), reason: 'not_found' }
  if (result.kind === 'old key') return refused('license_reminted', 'reminted')
  if (result.uncertain) throw unavailable('the state of this license cannot be read right now; try again')
  const status = statusAt(result.license, now)
  if (status === 'revoked') return refused('license_revoked', 'revoked')
  if (result.withoutSeat || result.seatedByAnother)
    return refused('assigned_to_another', 'assigned_to_another')
  if (!result.seated) {
    return result.floatingSeat ? refused('seat_lost', 'seat_lost') : refused('device_not_found', 'inactive')
  }
  return { status, found: result }
}

export function refused(
  code:
    | 'license_reminted'
    | 'license_revoked'
    | 'license_suspended'
    | 'license_expired'
    | 'seat_lost'
    | 'assigned_to_another'
    | 'device_not_found',
  reason: RefusedReason,
): { problem: Problem; reason: RefusedReason } {
  const problem = clientProblemOf(code) ?? new Problem(422, 'invalid_request', unseatedWords, {}, { reason })
  return { problem, reason }
}
