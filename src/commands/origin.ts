import type { Pool } from 'pg'
import { findCurrentAndFormerMembers } from '../../projections/members.ts'
import type { RunMark, SealSource, Source } from '../ledger/execute.ts'
import type { Cause } from '../ledger/ledger.ts'
import type { Ports } from '../ports.ts'
import type { Subjects } from '../vault/subjects.ts'

/** Where a command comes from; part of the metadata of every event that it causes. */
export type Origin = {
  requestId: string
  actor: string
  /** The id of a confirmation or an event that led to it; the request's id if absent. */
  causationId?: string
  /** The first request of the chain; this one if absent. */
  correlationId?: string
  /** Where the request came from; absent for the command line and for work of the service itself. */
  source?: (() => Source) | undefined
  /**
   * For a request with an Idempotency-Key, or the execution of a confirmation: whether an earlier attempt may
   * have run in part, and the id that identifies such attempts.
   */
  run?: RunMark
}

/** Builds the metadata of a command. A request begins its own chain unless its origin says otherwise. */
export function causeOf(origin: Origin, at: string): Cause & Pick<Origin, 'source'> {
  const { requestId, actor, causationId = requestId, correlationId = requestId, source } = origin
  return { requestId, actor, causationId, correlationId, at, source }
}

/** The present time in the format of the log. */
export function momentOf(ports: Ports<'now'>): string {
  const ms = ports.now().getTime()
  if (ms !== spelled.ms) spelled = { ms, text: new Date(ms).toISOString() }
  return spelled.text
}

/** Cached, since formatting a time costs as much as a hash and many calls share a millisecond. */
let spelled = { ms: Number.NaN, text: '' }

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
