import { defineTable, type RowIn, type Written } from '../table.ts'

export const audit = defineTable(
  'audit',
  {
    // Its order: many things happen in one millisecond.
    position: 'bigint not null',
    eventId: 'uuid not null',
    tenantId: 'text not null',
    at: 'timestamptz not null',
    actor: 'text not null',
    action: 'text not null',
    targetKind: 'text not null',
    targetId: 'text',
    asOf: 'text',
    // What a dangerous request asked for, by its name.
    operation: 'text',
    confirmationId: 'text',
    requestId: 'text not null',
    // Views of one page by one person within ten minutes are one row: how many, and the last of them.
    times: 'int not null',
    lastAt: 'timestamptz',
    lastPosition: 'bigint',
    // Of a change: the values that it replaced, as [{field, before, after}].
    changes: 'json',
    // Of administration and sign-ins by requests: the network address, sealed under the key of this person.
    subjectId: 'text',
    address: 'text',
  },
  {
    key: ['position'],
    over: 'nothing',
    indexes: {
      audit_of_tenant: '(tenant_id, position desc)',
      audit_of_target: '(tenant_id, target_id, position desc) where target_id is not null',
      audit_of_actor: '(tenant_id, actor, position desc)',
      audit_of_kind: '(tenant_id, target_kind, position desc)',
      audit_by_time: '(tenant_id, at)',
      audit_of_confirmation: "(confirmation_id) where action = 'asked'",
      audit_of_view:
        "(tenant_id, actor, target_kind, coalesce(target_id, ''), position desc) where action = 'viewed'",
    },
  },
)

export type AuditRow = RowIn<typeof audit>
/** What is written to it. */
export type AuditEntry = Written<AuditRow>

/** The present values of what is administered, which the next change is compared with. */
export const auditStates = defineTable(
  'audit_states',
  {
    stream: 'text not null',
    // Its kind and id: one stream holds a product and its key types.
    part: 'text not null',
    tenantId: 'text not null',
    revision: 'int not null',
    fields: 'json not null',
  },
  { key: ['stream', 'part'], over: 'older row', fillFactor: 85 },
)
