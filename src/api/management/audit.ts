import { z } from 'zod'
import type { AuditEntry } from '../../../projections/audit/queries.ts'
import { auditPageOf } from '../../http/audit-page.ts'
import { callerIn } from '../../http/authenticate.ts'
import type { Cursors } from '../../http/cursor.ts'
import { answer, errors, momentOut, pageOf, pageQuery, text } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/zod-app.ts'
import type { Ports } from '../../ports.ts'
import { answerPage } from './page.ts'

const entryOut = z
  .object({
    id: z.string(),
    at: momentOut,
    actor: z.string().meta({
      description: '`member:<id>`, `token:<id>`, `operator:<name>` or `system:<part>`',
      example: 'member:mem_06f5w3k8hx7vq2m4n9t1r0s5zc',
    }),
    action: z.string().meta({
      description:
        '`viewed`, `searched`, `exported`, `revealed` or `rebuilt`; for dangerous requests `asked`, `approved`, ' +
        '`denied`, `withdrawn`, `executed` or `refused`; for the rule that another member has to approve, `required` or ' +
        '`no_longer_required`. More may be added',
      example: 'viewed',
    }),
    target: z.object({
      kind: z.string().meta({ example: 'license' }),
      id: z.string().nullable().meta({ example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    }),
    asOf: z
      .string()
      .nullable()
      .meta({ description: 'The past moment that was viewed; null for the current state' }),
    operation: z
      .string()
      .nullable()
      .meta({ description: 'The operation that a dangerous request asked for' }),
    confirmationId: z.string().nullable(),
    requestId: z.string(),
  })
  .meta({ id: 'AuditEntry' })

const listQuery = z.strictObject({
  ...pageQuery,
  actor: text(200).optional(),
  action: text(40).optional(),
  target: text(200).optional().meta({ description: 'The id of the target' }),
})

/** The audit log: who viewed, exported and decided what. */
export function auditRoutes(app: ZodApp, services: Ports<'db'>, cursors: Cursors): void {
  app.get(
    '/v1/audit',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listAudit',
        tags: ['Audit'],
        summary: 'List who viewed, exported and decided what, newest first',
        description: 'Views in the dashboard and on the host, and the outcomes of dangerous requests.',
        querystring: listQuery,
        response: { 200: answer('A page of entries', pageOf(entryOut)), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { actor, action, target: targetId } = request.query
      return answerPage(
        cursors,
        [tenantId, 'audit', actor ?? null, action ?? null, targetId ?? null],
        request.query,
        (keyset) => auditPageOf(services, tenantId, { actor, action, targetId }, keyset),
        (entries) => entries.map(entryView),
      )
    },
  )
}

const entryView = ({ targetKind, targetId, ...entry }: AuditEntry): z.infer<typeof entryOut> => ({
  ...entry,
  target: { kind: targetKind, id: targetId },
})
