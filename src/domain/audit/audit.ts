import type { Decider } from '../decider.ts'
import type { AuditEvent } from './events.ts'

/** Whether the view is recorded. Each stream holds one view. */
type AuditedView = { status: 'absent' | 'recorded' }

type RecordView = Extract<AuditEvent, { type: 'Looked' }>['data']

/** The rules of audit streams, one for each audited view. */
export const audits: Decider<AuditedView, RecordView, 'audit'> = {
  category: 'audit',
  initial: { status: 'absent' },
  decide: ({ status }, data) => (status === 'absent' ? [{ type: 'Looked', data }] : []),
  evolve: () => ({ status: 'recorded' }),
}
