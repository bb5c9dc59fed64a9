import type { Pool } from 'pg'
import { findCurrentAndFormerMembers } from '../../projections/members.ts'
import type { SealSource } from '../ledger/execute.ts'
import type { Subjects } from '../vault/subjects.ts'

/**
 * Seals the address of a request under the key of the person behind it: the member, or the member who made the token.
 * For a token that was made on the command line it is a key of the tenant, which no erasure destroys.
 */
export const sealSourceWith =
  (db: Pool, subjects: Subjects): SealSource =>
  async ({ tenantId, memberId, address }) => {
    const subjectId =
      memberId === null
        ? await subjects.tenantSubject(tenantId)
        : (await findCurrentAndFormerMembers(db, tenantId, [memberId]))[0]?.subjectId
    const sealed = subjectId && (await subjects.sealAddress(tenantId, subjectId, address))
    return subjectId && sealed ? { subjectId, address: sealed } : undefined
  }
