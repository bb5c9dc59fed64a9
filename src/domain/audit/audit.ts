import type { Decider } from '../decider.ts'
import type { AuditEvent } from './events.ts'

/** Whether the view or sign-in is recorded. Each stream holds one. */
type Audited = { status: 'absent' | 'recorded' }

/** What is to be recorded: the event itself. */
type RecordAudited = Exclude<AuditEvent, { type: 'RebuildStarted' }>

/** The rules of audit streams, one for each audited view and sign-in. */
export const audits: Decider<Audited, RecordAudited, 'audit'> = {
  category: 'audit',
  initial: { status: 'absent' },
  decide: ({ status }, event) => (status === 'absent' ? [event] : []),
  evolve: () => ({ status: 'recorded' }),
}
