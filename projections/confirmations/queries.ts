import type { Pool } from 'pg'
import type { RequestedConfirmation } from '../../src/domain/confirmation/confirmation.ts'

/** A confirmation, with the name of the token that asked. */
export type ConfirmationEntry = { confirmation: RequestedConfirmation; tokenName: string | null }

const entry = `
  select c.state as confirmation, t.state->>'name' as "tokenName"
  from confirmations c left join tokens t on t.token_id = c.state->>'tokenId'`

/** @param tenantId null for an operator on the host, who stands above the tenants */
export async function findConfirmation(
  db: Pool,
  tenantId: string | null,
  confirmationId: string,
): Promise<ConfirmationEntry | undefined> {
  const { rows } = await db.query<ConfirmationEntry>({
    name: 'find-confirmation',
    text: `${entry} where c.confirmation_id = $1 and ($2::text is null or c.tenant_id = $2)`,
    values: [confirmationId, tenantId],
  })
  return rows[0]
}

/** More than a person goes through in the lifetime of a confirmation. */
const mostListed = 100

/** Those that can still be decided, the one that expires first at the top; of every tenant when it is null. */
export async function listPendingConfirmations(
  db: Pool,
  tenantId: string | null,
  now: string,
): Promise<ConfirmationEntry[]> {
  const { rows } = await db.query<ConfirmationEntry>(
    `${entry}
     where c.status = 'pending' and c.expires_at > $1 and ($2::text is null or c.tenant_id = $2)
     order by c.expires_at, c.confirmation_id limit ${mostListed}`,
    [now, tenantId],
  )
  return rows
}

/** As many as one round of a reaction takes on. */
const mostAtOnce = 100

/** Pending ones whose time is over, which is not recorded yet. */
export function listOverdueConfirmations(db: Pool, now: string): Promise<string[]> {
  return ids(db, `status = 'pending' and expires_at <= $1 order by expires_at`, now)
}

/** Those that were consumed before a moment and have not been executed. */
export function listUnexecutedConfirmations(db: Pool, consumedBefore: string): Promise<string[]> {
  return ids(db, `status = 'consumed' and consumed_at <= $1 order by consumed_at`, consumedBefore)
}

/** Those that members have asked for and that were approved before a moment: nobody sends them a second time. */
export function listApprovedOfMembers(db: Pool, approvedBefore: string): Promise<string[]> {
  const condition = `status = 'approved' and decided_at <= $1 and starts_with(state ->> 'tokenId', 'mem_')`
  return ids(db, `${condition} order by decided_at`, approvedBefore)
}

async function ids(db: Pool, condition: string, moment: string): Promise<string[]> {
  const { rows } = await db.query<{ confirmation_id: string }>(
    `select confirmation_id from confirmations where ${condition} limit ${mostAtOnce}`,
    [moment],
  )
  return rows.map((row) => row.confirmation_id)
}

/**
 * Sealed requests that are still kept although their confirmation is over, or was never recorded: whoever should
 * have destroyed or recorded them has died. A fresh one may be about to be recorded.
 */
export async function listLeftoverRequests(
  db: Pool,
): Promise<{ tenantId: string; confirmationId: string; unknown: boolean }[]> {
  const { rows } = await db.query<{ tenantId: string; confirmationId: string; unknown: boolean }>(
    `select s.tenant_id as "tenantId", substr(s.name, length('confirmation.') + 1) as "confirmationId",
       c.status is null as unknown
     from vault.secrets s
     left join confirmations c
       on c.confirmation_id = substr(s.name, length('confirmation.') + 1) and c.tenant_id = s.tenant_id
     where s.name like 'confirmation.%'
       and (c.status in ('denied', 'expired', 'executed')
         or c.status is null and s.created_at < now() - interval '1 hour')
     order by s.created_at limit ${mostAtOnce}`,
  )
  return rows
}

/** Those that were asked for a license, by the place of its id in their path, the oldest first. */
export async function listConfirmationsOfLicense(
  db: Pool,
  tenantId: string,
  licenseId: string,
): Promise<string[]> {
  const { rows } = await db.query<{ confirmation_id: string }>({
    name: 'confirmations-of-license',
    text: `select confirmation_id from confirmations
           where tenant_id = $1 and state -> 'parameters' ->> 'id' = $2 order by created_at, confirmation_id`,
    values: [tenantId, licenseId],
  })
  return rows.map(({ confirmation_id }) => confirmation_id)
}
