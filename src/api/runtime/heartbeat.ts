import type { Authority } from '../../http/authenticate.ts'
import { seatShown } from '../../http/licenses/seats.ts'
import { answer } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { isSeating } from '../../verdicts/answer.ts'
import type { FindLicense } from './find-license.ts'
import { heartbeatIn, heartbeatOut, runtimeErrors } from './schemas.ts'
import { verdictFor } from './verdict.ts'

/** A vendor's server keeps the floating seat of a device, by far the most frequent call of a license with such seats. */
export function heartbeatRoute(
  app: ZodApp,
  ports: Ports<'findToken' | 'now' | 'refusals' | 'seatEnds' | 'sightings' | 'usage'>,
  authority: Authority,
  findLicense: FindLicense,
): void {
  app.post(
    '/v1/licenses/heartbeat',
    {
      config: {
        scope: 'licenses:runtime',
        admitsItself: true,
        idempotencyKey: 'ignored',
        noRequestTimeout: true,
        noDryRun: 'it only keeps the seat of its own device; validate says whether the device has one',
      },
      schema: {
        operationId: 'keepSeat',
        tags: ['Runtime'],
        summary: 'Keep the floating seat of a device for one more period',
        description:
          'Costs less than validate and keeps the seat as well. Seats that do not float need no heartbeat: one changes nothing, and the ' +
          'answer is `kept: true` without `seat`.',
        body: heartbeatIn,
        response: { 200: answer('Whether the device still has its seat', heartbeatOut), ...runtimeErrors() },
      },
    },
    async (request, reply) => {
      const { device_id } = request.body
      const asking = { authority, findLicense, reply }
      const { verdict, floating } = await verdictFor(ports, asking, 'heartbeat', request.body)
      const { status, reason = status, revalidateAfter } = verdict
      const kept = isSeating(status)
      return {
        kept,
        status,
        ...seatShown(device_id, floating),
        revalidate_after: revalidateAfter,
        device_id,
        ...(!kept && { reason }),
      }
    },
  )
}
