import { z } from 'zod'
import { Moment, Slug } from '../values.ts'

/** What somebody did with what is kept: looked at it, searched for it, took it away, or had a secret of it shown. */
export const AuditAction = z.enum(['viewed', 'searched', 'exported', 'revealed'])
export type AuditAction = z.infer<typeof AuditAction>

/** What was looked at. Of a list, a search or an archive `id` says which, and never whom it was searched for. */
export const AuditTarget = z.strictObject({
  kind: z.enum([
    'license',
    'licenses',
    'customer',
    'customers',
    'sale',
    'sales',
    'device',
    'devices',
    'delivery',
    'deliveries',
    'mail',
    'mails',
    'member',
    'members',
    'evidence',
    'audit',
    'search',
  ]),
  id: z.string().min(1).max(200).nullable(),
})
export type AuditTarget = z.infer<typeof AuditTarget>

/**
 * Everything an `audit-<tenant>.<id>` stream may hold: one look. `RebuildStarted` stands in older logs only, from when
 * owners could start rebuilds. A recorded shape is never edited: add a new type.
 */
export const AuditEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('Looked'),
    data: z.strictObject({
      auditId: z.string().min(1),
      tenantId: Slug,
      action: AuditAction,
      target: AuditTarget,
      /** The moment that was looked back to, or the event, as it was asked for; null for the present. */
      asOf: z.string().min(1).max(64).nullable(),
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('RebuildStarted'),
    data: z.strictObject({ auditId: z.string().min(1), tenantId: Slug, at: Moment }),
  }),
])
export type AuditEvent = z.infer<typeof AuditEvent>
