import { momentOf } from '../../commands/origin.ts'
import { givesSeats, type LicenseStatus } from '../../domain/licenses/status.ts'
import { seatShown } from '../../http/licenses/seats.ts'
import { answer, errorBody, errorsWith } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { revalidateAfter } from '../../verdicts/answer.ts'
import type { ClientAuthority } from './admit.ts'
import { answerPreflight } from './edge.ts'
import type { ClientPorts } from './ports.ts'
import { type AppCall, recordRefused, recordUnknownKey } from './refusals.ts'
import {
  activateRefusal,
  clientPlace,
  heartbeatIn,
  heartbeatOut,
  telemetryFrom,
  withLimits,
} from './schemas.ts'
import { findOnInstance, type Refused, refused, seatKept, type Verdict, verdictOn } from './verdict.ts'

const path = '/:tenantId/:productId/heartbeat'

/** An app keeps its floating seat between two validates. */
export function heartbeatRoute(app: ZodApp, ports: ClientPorts, authority: ClientAuthority): void {
  answerPreflight(app, path)
  app.post(
    path,
    {
      config: {
        client: 'heartbeat',
        admitsItself: true,
        noRequestTimeout: true,
        noDryRun: 'it only keeps the seat of its own device; validate says whether the device has one',
      },
      schema: {
        operationId: 'keepInstance',
        tags: ['Client'],
        summary: 'Keep the floating seat of this device for one more period',
        description:
          'Costs less than validate: it makes no lease. A refusal is not signed either; validate to get a signed one. Seats that do ' +
          'not float need no heartbeat: one changes nothing, and the answer is `kept: true` alone.',
        params: clientPlace,
        body: heartbeatIn,
        response: {
          200: answer('The device still has its seat', heartbeatOut),
          ...errorsWith(activateRefusal, 404, 422),
          ...withLimits(errorsWith(errorBody, 400, 401, 403)),
        },
      },
    },
    async (request, reply) => {
      const now = momentOf(ports)
      const { instance_id: instanceId, license_key: key, fence } = request.body
      const { client, result } = await findOnInstance(ports, authority, reply, request.body, now)
      const verdict = await seatKept(ports, whileGood(verdictOn(result, now)), fence)
      if ('problem' in verdict) {
        const device = { id: instanceId, name: null }
        const call: AppCall = { client, call: 'heartbeat', key, device, telemetry: telemetryFrom({}) }
        if (result.kind === 'no license') recordUnknownKey(ports, call)
        else recordRefused(ports, call, result.licenseId, verdict.reason)
        throw verdict.problem
      }
      const { found, floating } = verdict
      const { tenantId, productId } = client
      ports.sightings.note({ tenantId, productId, licenseId: found.licenseId, deviceId: instanceId }, request)
      return {
        kept: true as const,
        ...seatShown(instanceId, floating),
        ...(found.license.floating && { revalidate_after: revalidateAfter(found.license.floating, now) }),
      }
    },
  )
}

const refusedBy: Partial<Record<LicenseStatus, Refused>> = {
  suspended: refused('license_suspended', 'suspended'),
  expired: refused('license_expired', 'expired'),
}

/** Seats are kept only while the license gives seats. */
const whileGood = (verdict: Verdict | Refused): Verdict | Refused =>
  'problem' in verdict || givesSeats(verdict.status) ? verdict : (refusedBy[verdict.status] ?? verdict)
