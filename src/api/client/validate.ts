import type { z } from 'zod'
import type { LicenseOnInstance } from '../../../projections/licenses/instance-validate.ts'
import { identifyDevice } from '../../commands/devices/identify.ts'
import { momentOf } from '../../commands/origin.ts'
import { unixSeconds } from '../../domain/licenses/expiry.ts'
import { isOfMachine } from '../../domain/licenses/floating.ts'
import { givesSeats } from '../../domain/licenses/status.ts'
import { isCovered } from '../../domain/licenses/updates.ts'
import { metersShown } from '../../http/licenses/asked-meters.ts'
import { buildIn } from '../../http/licenses/builds.ts'
import { seatShown } from '../../http/licenses/seats.ts'
import { Problem } from '../../http/problem.ts'
import { answer, errorBody, errorsWith } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { hasChanged } from '../../usage/device-telemetry.ts'
import type { SaidOfMachine } from '../../vault/device-hashing.ts'
import { metersAsked } from '../../verdicts/metered.ts'
import { type Build, notCoveredAnswer, updatesShown } from '../../verdicts/not-covered.ts'
import { type ClientAuthority, clientOriginOf } from './admit.ts'
import { answerPreflight } from './edge.ts'
import { expiryIn } from './expiry.ts'
import { leaseFor, refusalFor } from './lease.ts'
import type { ClientPorts } from './ports.ts'
import { type AppCall, notCoveredWords, recordRefused, recordUnknownKey } from './refusals.ts'
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
import { findOnInstance, seatKept, type Verdict, verdictOn } from './verdict.ts'

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
      const { client, keyHash, result } = await findOnInstance(ports, authority, reply, request.body, now)
      const asking = { client, origin: clientOriginOf(request), log: request.log }
      const { tenantId, productId } = client
      const verdict = await seatKept(ports, verdictOn(result, now), request.body.fence)
      const settings = settingsOf(ports, asking, now)
      const { instance_id: instanceId, license_key: key } = request.body
      const device = { id: instanceId, name: null }
      const call: AppCall = { client, call: 'validate', key, device, telemetry: telemetryFrom(request.body) }
      if ('problem' in verdict) {
        ports.usage.count(tenantId, productId, 'rejected')
        if (result.kind === 'no license') recordUnknownKey(ports, call)
        else recordRefused(ports, call, result.licenseId, verdict.reason)
        const { status, code, message } = verdict.problem
        const { reason } = verdict
        const known = result.kind !== 'no license'
        const signed = reason === 'seat_lost' || reason === 'assigned_to_another' ? 'inactive' : reason
        const refusal = known
          ? await refusalFor(ports, asking, { keyHash, instanceId, reason: signed }, now)
          : undefined
        const details = { reason, ...(refusal && { refusal }), ...(await settings) }
        throw new Problem(status, code, message, {}, details)
      }
      if (givesSeats(verdict.status)) {
        const { licenseId } = verdict.found
        ports.sightings.note({ tenantId, productId, licenseId, deviceId: instanceId }, request)
      }
      const answered = await answerTo(ports, asking, call, { ...verdict, keyHash }, request.body, now)
      return { ...answered, ...(await settings) }
    },
  )
}

/** Notes what the app says of its device, and answers for a license that was found on it: all but the settings. */
async function answerTo(
  ports: ClientPorts,
  asking: SettingsRequest,
  call: AppCall,
  { status, found, floating, keyHash }: Verdict & { keyHash: string },
  body: z.infer<typeof validateIn>,
  now: string,
) {
  const { client, telemetry } = call
  const { tenantId, productId } = client
  const { licenseId } = found
  const { instance_id: instanceId, lease_version: version } = body
  if (hasChanged(telemetry, found.telemetry, ports.now())) {
    ports.telemetry.record({ instanceId, licenseId }, telemetry)
  }
  const said = machineIn(body)
  if (said !== undefined && isOfMachine(found.license))
    noteMachine(ports, asking, call, { licenseId, instanceId, said })
  const build = buildIn(body)
  if (givesSeats(status) && !isCovered(found.license, build.builtAt)) {
    ports.usage.count(tenantId, productId, 'rejected')
    recordRefused(ports, call, licenseId, 'build_not_covered')
    return notCovered(ports, client, found, build)
  }
  const held = { licenseId, keyHash, instanceId, status, version, device: said, floating }
  const lease = await leaseFor(ports, asking, found, held, now)
  const valid = status === 'active'
  ports.usage.count(tenantId, productId, valid ? 'validations' : 'rejected')
  if (!valid) recordRefused(ports, call, licenseId, status)
  const meters =
    valid && body.meters ? await metersAsked(ports, { tenantId, licenseId }, body.meters, now) : undefined
  return {
    valid,
    ...((status === 'expired' || status === 'suspended') && { error: `license ${status}` }),
    ...expiryIn(status, found.license, now),
    ...seatShown(instanceId, floating),
    ...updatesShown(found.license.updatesUntil),
    ...lease,
    ...metersShown(meters),
  }
}

const expiryShown = ({ license: { expiresAt } }: LicenseOnInstance): number | null =>
  expiresAt === null ? null : unixSeconds(expiresAt)

/** The answer to a build that the license does not cover. Without a lease: one of an older build on the device stays good. */
async function notCovered(
  ports: ClientPorts,
  client: AppCall['client'],
  found: LicenseOnInstance,
  { channel }: Build,
) {
  const { updatesUntil } = found.license
  if (updatesUntil === null) throw new Error('every build is covered')
  return {
    valid: false,
    error: notCoveredWords,
    status: 'inactive' as const,
    reason: 'build_not_covered' as const,
    license_expires_at: expiryShown(found),
    ...(await notCoveredAnswer(ports, client, updatesUntil, channel)),
  }
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
