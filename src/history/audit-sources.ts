import type { AuditEntry } from '../../projections/audit/queries.ts'
import type { Subjects } from '../vault/subjects.ts'

/**
 * The network addresses of entries, in order, for display only: null where none is recorded or the person was erased.
 */
export const openSources = (
  { subjects }: { subjects: Subjects },
  tenantId: string,
  entries: readonly AuditEntry[],
): Promise<(string | null)[]> =>
  subjects.openAddresses(
    tenantId,
    entries.map(({ sealedAddress }) => sealedAddress),
  )
