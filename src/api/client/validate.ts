import type { FastifyReply } from 'fastify'
import type { InstanceKeyResult, LicenseOnInstance } from '../../../projections/licenses/instance-validate.ts'
import { identifyDevice } from '../../commands/devices/identify.ts'
import { momentOf } from '../../commands/origin.ts'
import { readKey } from '../../credentials/license-key.ts'
import { type LicenseStatus, statusAt } from '../../domain/licenses/status.ts'
import { Problem, unavailable } from '../../http/problem.ts'
import { answer, errorBody, errorsWith } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { hasChanged } from '../../usage/device-telemetry.ts'
import type { SaidOfMachine } from '../../vault/device-hashing.ts'
import { onlyPlain } from '../../vault/key-hashing.ts'
import type { RefusedReason } from '../../verdicts/answer.ts'
import {
  admitClient,
  admitClientAs,
  type ClientAuthority,
  clientOriginOf,
  productNamed,
  sdkKeyHashIn,
} from './admit.ts'
import type { Client } from './client.ts'
import { answerPreflight } from './edge.ts'
import { expiryIn } from './expiry.ts'
import { leaseFor, refusalFor } from './lease.ts'
import type { ClientPorts } from './ports.ts'
import { type AppCall, clientProblemOf, noSuchLicense, recordRefused, recordUnknownKey } from './refusals.ts'
import {
  asItStands,
  clientPlace,
  machineIn,
  telemetryFrom,
  validateIn,
  validateOut,
  validateRefusal,
  withLimits,
} from './schemas.ts'
import { type SettingsRequest, settingsOf } from './settings.ts'

const path = '/:tenantId/:productId/validate'

/** An app validates its license on its device, and gets a lease. */
export function validateRoute(app: ZodApp, ports: ClientPorts, authority: ClientAuthority): void {
  answerPreflight(app, path)
  app.post(
    path,
    {
      ...asItStands,
      config: {
        client: 'validate',
        admitsItself: true,
        noRequestTimeout: true,
        noDryRun: 'it changes nothing but counts',
      },
      schema: {
        operationId: 'validateInstance',
        tags: ['Client'],
        summary: 'Validate a license on this device',
        description:
          'Reads the authoritative state. The response has a lease that can be verified offline, and the settings; refusals ' +
          'of a license are signed, and have the settings too.',
        params: clientPlace,
        body: validateIn,
        response: {
          200: answer('The result', validateOut),
          ...errorsWith(validateRefusal, 404, 422),
          ...withLimits(errorsWith(errorBody, 400, 401, 403)),
        },
      },
    },
    async (request, reply) => {
      const now = momentOf(ports)
      const { client, keyHash, result } = await find(ports, authority, reply, request.body, now)
      const asking = { client, origin: clientOriginOf(request), log: request.log }
      const { tenantId, productId } = client
      const verdict = verdictOn(result, now)
      const settings = settingsOf(ports, asking, now)
      const { instance_id: instanceId, license_key: key } = request.body
      const telemetry = telemetryFrom(request.body)
      const device = { id: instanceId, name: null }
      const refusedCall: AppCall = { client, call: 'validate', key, device, telemetry }
      if ('problem' in verdict) {
        ports.usage.count(tenantId, productId, 'rejected')
        if (result.kind === 'no license') recordUnknownKey(ports, refusedCall)
        else recordRefused(ports, refusedCall, result.licenseId, verdict.reason)
        const { status, code, message } = verdict.problem
        const { reason } = verdict
        const known = result.kind !== 'no license'
        const refusal = known
          ? await refusalFor(ports, asking, { keyHash, instanceId, reason }, now)
          : undefined
        throw new Problem(
          status,
          code,
          message,
          {},
          {
            reason,
            ...(refusal && { refusal }),
            ...(await settings),
          },
        )
      }
      const { status, found } = verdict
      if (hasChanged(telemetry, found.telemetry, ports.now())) {
        ports.telemetry.record({ instanceId, licenseId: found.licenseId }, telemetry)
      }
      const said = machineIn(request.body)
      if (said !== undefined) noteMachine(ports, asking, refusedCall, { ...found, instanceId, said })
      const { lease_version: version } = request.body
      const held = { licenseId: found.licenseId, keyHash, instanceId, status, version, device: said }
      const lease = await leaseFor(ports, asking, found, held, now)
      const valid = status === 'active'
      ports.usage.count(tenantId, productId, valid ? 'validations' : 'rejected')
      if (!valid) recordRefused(ports, refusedCall, found.licenseId, status)
      return {
        valid,
        ...((status === 'expired' || status === 'suspended') && { error: `license ${status}` }),
        ...expiryIn(status, found.license, now),
        ...lease,
        ...(await settings),
      }
    },
  )
}

/** A suspended tenant's licenses do not change. */
function noteMachine(
  ports: ClientPorts,
  { client: { tenantId, tenantStatus }, origin }: SettingsRequest,
  call: AppCall,
  { licenseId, instanceId, said }: { licenseId: string; instanceId: string; said: SaidOfMachine },
): void {
  if (tenantStatus !== 'active') return
  ports.machineReports.note(instanceId, { licenseId, said }, async () => {
    const isInTwoPlaces = await identifyDevice(ports, { tenantId, licenseId, instanceId, said }, origin)
    if (isInTwoPlaces) recordRefused(ports, call, licenseId, 'in_two_places')
  })
}

type Found = { client: Client; keyHash: string; result: InstanceKeyResult }

/**
 * Authenticates the app and finds the license of its key in one lookup. The first key of another format that this process
 * is asked for in a tenant takes more: the tenant's secret is read once the app is known to be the tenant's.
 */
async function find(
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

/** Only an instance with a seat gets a lease, because the lease names the instance. */
function verdictOn(
  result: InstanceKeyResult,
  now: string,
): { status: LicenseStatus; found: LicenseOnInstance } | { problem: Problem; reason: RefusedReason } {
  if (result.kind === 'no license') return { problem: noSuchLicense(), reason: 'not_found' }
  if (result.kind === 'old key') return refused('license_reminted', 'reminted')
  if (result.uncertain) throw unavailable('the state of this license cannot be read right now; try again')
  const status = statusAt(result.license, now)
  if (status === 'revoked') return refused('license_revoked', 'revoked')
  if (!result.seated) return refused('device_not_found', 'inactive')
  return { status, found: result }
}

function refused(
  code: 'license_reminted' | 'license_revoked' | 'device_not_found',
  reason: RefusedReason,
): { problem: Problem; reason: RefusedReason } {
  const problem =
    clientProblemOf(code) ??
    new Problem(422, 'invalid_request', 'this instance does not exist or is deactivated; activate it again')
  return { problem, reason }
}
