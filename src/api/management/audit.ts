import { z } from 'zod'
import { type AuditEntry, type AuditFilter, vias } from '../../../projections/audit/queries.ts'
import { openSources } from '../../history/audit-sources.ts'
import { auditPageOf } from '../../http/audit-page.ts'
import { callerIn } from '../../http/authenticate.ts'
import type { Cursors } from '../../http/cursor.ts'
import { answer, errors, inUtc, momentIn, momentOut, pageOf, pageQuery, text } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { answerPage } from './page.ts'

const fieldValue = z.union([z.string(), z.number(), z.boolean()]).nullable()

const entryOut = z
  .object({
    id: z.string().meta({
      description: 'The id of the entry',
      example: 'aud_06f5w3k8hx7vq2m4n9t1r0s5zc',
    }),
    at: momentOut,
    actor: z.string(),
    action: z.string().meta({
      description:
        '`viewed`, `searched`, `exported`, `revealed` or `rebuilt`; `portal_viewed` for a member who saw the portal as a ' +
        'customer does; for dangerous requests `asked`, `approved`, `denied`, `withdrawn`, `executed` or `refused`; for the rule that another member has to approve, `required` or ' +
        '`no_longer_required`; `signed_in`, `sign_in_failed`; of what is administered `created`, `changed`, `deleted`, ' +
        '`rotated`, `revoked`, `connected`, `disconnected` and others. More may be added',
      example: 'changed',
    }),
    target: z
      .object({
        kind: z.string().meta({
          description: 'What kind of thing it is, such as `license`, `product` or `token`',
          example: 'product',
        }),
        id: z.string().nullable().meta({
          description: 'Its id; null where there is only one, or for a list',
          example: 'editor',
        }),
      })
      .meta({ description: 'What it was done to' }),
    asOf: z
      .string()
      .nullable()
      .meta({ description: 'The past moment that was viewed; null for the current state', example: null }),
    operation: z.string().nullable().meta({
      description: 'The operation that a dangerous request asked for; null for other entries',
      example: null,
    }),
    confirmationId: z.string().nullable().meta({
      description: 'The confirmation of a dangerous request; null for other entries',
      example: null,
    }),
    requestId: z.string(),
    times: z.int().meta({
      description: 'How often the actor viewed this page within ten minutes; 1 for everything else',
      example: 1,
    }),
    lastAt: momentOut
      .nullable()
      .meta({ description: 'The last of several views; null for one', example: null }),
    from: z
      .object({
        via: z.enum(vias).meta({
          example: 'dashboard',
          description:
            '`api` for a token, `command_line` for an operator on the host, `service` for work of keyledger itself',
        }),
        address: z
          .string()
          .nullable()
          .meta({
            description:
              'The network address of a change, a decision, an export or a sign-in over the dashboard or the API; null for ' +
              'others, for entries of earlier versions, and after the erasure of the person. Only for tokens with `danger`',
            example: '203.0.113.7',
          }),
      })
      .meta({ description: 'From where it was done' }),
    changes: z
      .array(
        z.object({
          field: z.string().meta({ description: 'The field that changed', example: 'leaseSeconds' }),
          before: fieldValue.meta({
            description: 'Its value before; null where it was absent',
            example: 604_800,
          }),
          after: fieldValue.meta({
            description: 'Its value after; null where it is absent',
            example: 1_209_600,
          }),
        }),
      )
      .meta({ description: 'The values that a change replaced. Secrets are not in it' }),
  })
  .meta({
    id: 'AuditEntry',
    description: 'One thing that was viewed, exported, decided or changed, and by whom',
  })

const listQuery = z.strictObject({
  ...pageQuery,
  actor: text(200).optional().meta({
    description: 'Only entries of this actor, in the form of the entries',
    example: 'member:mem_06f5w3k8hx7vq2m4n9t1r0s5zc',
  }),
  action: text(40).optional().meta({ description: 'Only entries of this action', example: 'changed' }),
  kind: text(40).optional().meta({ description: 'The kind of the target', example: 'key_type' }),
  from: momentIn.optional().meta({ description: 'Only entries from this time on' }),
  to: momentIn.optional().meta({ description: 'Only entries before this time' }),
  via: z.enum(vias).optional().meta({ description: 'Only entries that were done this way' }),
  target: text(200).optional().meta({ description: 'The id of the target' }),
})

/** The audit log: who viewed, exported and decided what. */
export function auditRoutes(app: ZodApp, ports: Ports<'db' | 'subjects'>, cursors: Cursors): void {
  app.get(
    '/v1/audit',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listAudit',
        tags: ['Audit'],
        summary: 'List who viewed, exported, decided and changed what, newest first',
        description:
          'Views in the dashboard and on the host, sign-ins, the outcomes of dangerous requests, and every change of ' +
          'products, key types, tokens, members, webhooks, integrations, mail and keys, with the values before and after.',
        querystring: listQuery,
        response: { 200: answer('A page of entries', pageOf(entryOut)), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId, scopes } = callerIn(request)
      const { actor, action, target: targetId, kind, via, from, to } = request.query
      const filter = { actor, action, targetId, kind, via, from: from && inUtc(from), to: to && inUtc(to) }
      return answerPage(
        cursors,
        [tenantId, 'audit', ...placeOf(filter)],
        request.query,
        (keyset) => auditPageOf(ports, tenantId, filter, keyset),
        async (entries) => {
          // Who may decide on dangerous requests may know where they came from.
          const addresses = scopes.includes('danger') ? await openSources(ports, tenantId, entries) : []
          return entries.map((entry, index) => entryView(entry, addresses[index] ?? null))
        },
      )
    },
  )
}

/** What a cursor is bound to; filters of earlier versions alone give the cursors of those versions. */
const placeOf = ({ actor, action, targetId, kind, from, to, via }: AuditFilter): (string | null)[] => {
  const newer = [kind, from, to, ...(via ? [via] : [])].map((part) => part ?? null)
  const place = [actor, action, targetId].map((part) => part ?? null)
  return newer.every((part) => part === null) ? place : [...place, ...newer]
}

const entryView = (
  { targetKind, targetId, via, sealedAddress: _, ...entry }: AuditEntry,
  address: string | null,
): z.infer<typeof entryOut> => ({
  ...entry,
  target: { kind: targetKind, id: targetId },
  from: { via, address },
})
