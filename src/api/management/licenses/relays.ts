import { z } from 'zod'
import { findLicense } from '../../../../projections/licenses/queries.ts'
import { certifyRelay, type RelayPorts, releaseRelay } from '../../../commands/devices/relays.ts'
import { momentOf } from '../../../commands/origin.ts'
import { callerIn } from '../../../http/authenticate.ts'
import { runOriginOf, runPorts } from '../../../http/idempotency.ts'
import {
  relayAnswer,
  relayOut,
  relayRelease,
  relayReleased,
  relayRequest,
  relayView,
} from '../../../http/licenses/relays.ts'
import { notFound } from '../../../http/problem.ts'
import { answer, errors, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { requireLicenseId } from './licenses.ts'

const path = '/v1/licenses/:id/relays'

const oneLicense = z.strictObject({ id: z.string() })

/** Relays: inside a customer's network, they give out seats of a license to machines that do not reach this server. */
export function relayRoutes(app: ZodApp, ports: RelayPorts): void {
  listRoute(app, ports)
  certifyRoute(app, ports)
  releaseRoute(app, ports)
}

function listRoute(app: ZodApp, ports: Ports<'db' | 'now'>): void {
  app.get(
    path,
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listRelays',
        tags: ['Licenses'],
        summary: 'List the relays of a license',
        description:
          'The last one enrolled first. One that ended or was released stays in the list for a year.',
        params: oneLicense,
        response: {
          200: answer(
            'The relays',
            z.object({ relays: z.array(relayOut).meta({ description: 'The relays, newest first' }) }),
          ),
          ...errors(403, 404),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const found = await findLicense(ports.db, tenantId, requireLicenseId(request.params.id))
      if (!found) throw notFound('license')
      const now = momentOf(ports)
      return { relays: found.license.relays.toReversed().map((relay) => relayView(relay, now)) }
    },
  )
}

function certifyRoute(app: ZodApp, ports: RelayPorts): void {
  app.post(
    path,
    {
      config: {
        scope: 'licenses:write',
        refusedWhileSuspended: true,
        noDryRun: 'a rehearsal would sign a certificate with which a relay gives out seats',
      },
      schema: {
        operationId: 'certifyRelay',
        tags: ['Licenses'],
        summary: "Enroll a relay in a customer's network, which takes its seats, or renew it",
        description:
          'The relay makes the request; only that relay can use the answer. Its seats are taken until its certificate ends or it gives ' +
          'them back. The same request gets the same certificate. A relay that was copied is refused.',
        params: oneLicense,
        body: z.strictObject({
          request: relayRequest,
          days: z.int().min(1).max(366).optional().meta({
            description:
              'How long the relay may go on without renewal; as long as the key type allows when absent. It ends with the license at the latest',
            example: 30,
          }),
          reason: text(500).optional().meta({ description: "Shown in the license's history" }),
        }),
        response: {
          201: answer(
            'The relay, and the answer to carry to it',
            z.object({ relay: relayOut, answer: relayAnswer }),
          ),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const input = { tenantId, licenseId: requireLicenseId(request.params.id), ...request.body }
      const made = await certifyRelay(runPorts(request, ports), input, runOriginOf(request))
      reply.code(201)
      return { relay: relayView(made.relay, momentOf(ports)), answer: made.answer }
    },
  )
}

function releaseRoute(app: ZodApp, ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'randomBytes'>): void {
  app.post(
    `${path}/release`,
    {
      config: {
        scope: 'licenses:write',
        noDryRun: 'the relay has stopped already, and sending the release twice frees its seats once',
      },
      schema: {
        operationId: 'releaseRelay',
        tags: ['Licenses'],
        summary: 'Take the seats of a relay back; repeating it gets the same response',
        description:
          'The relay makes the release when it stops for good. Without it, its seats stay taken until its certificate ends.',
        params: oneLicense,
        body: z.strictObject({ release: relayRelease }),
        response: {
          200: answer('The relay has no seats', relayReleased),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const input = {
        tenantId,
        licenseId: requireLicenseId(request.params.id),
        release: request.body.release,
      }
      await releaseRelay(runPorts(request, ports), input, runOriginOf(request))
      return { released: true as const }
    },
  )
}
