import {
  type AuditEntry,
  type AuditFilter,
  isAuditPosition,
  listAudit,
} from '../../projections/audit/queries.ts'
import type { Keyset, PageOf } from '../../projections/page.ts'
import type { Ports } from '../ports.ts'
import { invalid } from './problem.ts'

/**
 * A page of the audit log, in the order of the log.
 * @throws Problem 400 for a cursor from before the log was moved or restored
 */
export async function auditPageOf(
  { db }: Ports<'db'>,
  tenantId: string,
  filter: AuditFilter,
  keyset: Keyset,
): Promise<PageOf<AuditEntry>> {
  if (keyset.after && !(await isAuditPosition(db, tenantId, keyset.after))) {
    throw invalid('this cursor is from before the log was moved or restored; start again without it')
  }
  return listAudit(db, tenantId, filter, keyset)
}
