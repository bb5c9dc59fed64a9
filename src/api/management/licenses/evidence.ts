import { z } from 'zod'
import { recordAudit } from '../../../commands/audit.ts'
import type { EvidencePorts } from '../../../evidence/evidence.ts'
import { gatherEvidence } from '../../../evidence/evidence.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import { sendArchive } from '../../../http/licenses/detail.ts'
import { spend } from '../../../http/limits/rate-limit.ts'
import { notFound } from '../../../http/problem.ts'
import { errors } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import { refuseAllButGet } from '../../../http/wrong-method.ts'
import type { Limits } from '../../../limits/limits.ts'
import type { Ports } from '../../../ports.ts'
import { requireLicenseId } from './licenses.ts'

const path = '/v1/licenses/:id/evidence'

export function evidenceRoutes(
  app: ZodApp,
  ports: EvidencePorts & Ports<'limitHits' | 'newId'>,
  limits: Limits,
): void {
  refuseAllButGet(app, path)
  app.get(
    path,
    {
      config: { scope: 'licenses:read', noRequestTimeout: true },
      schema: {
        operationId: 'getEvidence',
        tags: ['Licenses'],
        summary: 'Download all evidence about a license as one signed archive',
        description:
          'For a dispute: the payment notifications, payments, refunds, mails and webhook calls with all attempts, devices, ' +
          'and every event with its stream and revision, as JSON lines, with a readable summary. README.txt in the archive ' +
          'explains how to verify it with only the public key. The archive is streamed; a truncated download is not a valid archive.',
        params: z.strictObject({ id: z.string() }),
        response: {
          200: {
            description: 'A zip archive',
            content: { 'application/zip': { schema: z.string() } },
          },
          ...errors(400, 403, 404),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      const onHit = () => ports.limitHits.count(tenantId, 'evidence')
      await spend(limits.evidence, tenantId, { reply, onHit })
      const evidence = await gatherEvidence(ports, tenantId, licenseId, originOf(request))
      if (!evidence) throw notFound('license')
      const target = { kind: 'evidence', id: licenseId } as const
      await recordAudit(ports, tenantId, { action: 'exported', target }, originOf(request))
      return sendArchive(reply, licenseId, evidence)
    },
  )
}
