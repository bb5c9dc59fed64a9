import type { Pool } from 'pg'
import {
  approvalLifetimeSeconds,
  confirmations,
  type RequestedConfirmation,
} from '../src/domain/confirmations/confirmation.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

const documents = defineDocuments(evolvedBy(confirmations), {
  table: 'confirmations',
  begun: (confirmation) => (confirmation.status === 'absent' ? undefined : confirmation),
  columns: {
    confirmationId: 'text not null unique',
    tenantId: 'text not null',
    status: 'text not null',
    expiresAt: 'timestamptz not null',
    decidedAt: 'timestamptz',
    consumedAt: 'timestamptz',
    createdAt: 'timestamptz not null',
  },
  indexes: {
    confirmations_of_tenant: '(tenant_id, created_at desc, confirmation_id desc)',
    // What reactions look for; next to nothing stands in any of them for long. An approved one expires as well.
    confirmations_pending: "(expires_at) where status = 'pending'",
    confirmations_approved: "(decided_at) where status = 'approved'",
    confirmations_consumed: "(consumed_at) where status = 'consumed'",
  },
})

export const confirmationsProjector = projectorOf(documents)

/** A confirmation, with the name of the token that requested it; null when a member requested it. */
export type ConfirmationEntry = { confirmation: RequestedConfirmation; tokenName: string | null }

const entry = `
  select c.state as confirmation, t.state->>'name' as "tokenName"
  from confirmations c left join tokens t on t.token_id = c.state->>'tokenId'`

/** @param tenantId null for an operator on the host, who may read every tenant */
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

/** More than a person can decide before they expire. */
const maxListed = 100

/** Lists undecided confirmations, earliest expiry first, at most 100. @param tenantId null for all tenants */
export async function listPendingConfirmations(
  db: Pool,
  tenantId: string | null,
  now: string,
): Promise<ConfirmationEntry[]> {
  const { rows } = await db.query<ConfirmationEntry>(
    `${entry}
     where c.status = 'pending' and c.expires_at > $1 and ($2::text is null or c.tenant_id = $2)
     order by c.expires_at, c.confirmation_id limit ${maxListed}`,
    [now, tenantId],
  )
  return rows
}

/** Lists undecided confirmations of all tenants, earliest expiry first. @param ofEach the most of one tenant */
export async function listFirstPending(db: Pool, now: string, ofEach: number): Promise<ConfirmationEntry[]> {
  const { rows } = await db.query<ConfirmationEntry>(
    `select p.confirmation, t.state->>'name' as "tokenName"
     from (
       select state as confirmation, expires_at, confirmation_id,
         row_number() over (partition by tenant_id order by expires_at, confirmation_id) as place
       from confirmations where status = 'pending' and expires_at > $1
     ) p left join tokens t on t.token_id = p.confirmation->>'tokenId'
     where p.place <= $2 order by p.expires_at, p.confirmation_id`,
    [now, ofEach],
  )
  return rows
}

/** Counts a tenant's undecided confirmations. */
export async function countPendingConfirmations(db: Pool, tenantId: string, now: string): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>({
    name: 'count-pending-confirmations',
    text: `select count(*) from confirmations
           where status = 'pending' and expires_at > $2 and tenant_id = $1`,
    values: [tenantId, now],
  })
  return Number(rows[0]?.count ?? 0n)
}

/** Confirmations that expired undecided or approved but unused, and whose expiry is not recorded yet. */
export async function listOverdueConfirmations(db: Pool, now: string, wanted: Wanted): Promise<string[]> {
  const unusedSince = new Date(Date.parse(now) - approvalLifetimeSeconds * 1000).toISOString()
  return [
    ...(await ids(db, `status = 'pending' and expires_at <= $1`, 'expires_at', [now], wanted)),
    ...(await ids(db, `status = 'approved' and decided_at <= $1`, 'decided_at', [unusedSince], wanted)),
  ]
}

type TimeRange = { from: string; until: string }

/** At most `most`, without those in `except`. */
type Wanted = { except: readonly string[]; most: number }

/** Confirmations that were consumed outside of the time range and not executed. */
export function listUnexecutedConfirmations(
  db: Pool,
  { from, until }: TimeRange,
  wanted: Wanted,
): Promise<string[]> {
  const condition = `status = 'consumed' and (consumed_at <= $1 or consumed_at > $2)`
  return ids(db, condition, 'consumed_at', [from, until], wanted)
}

/**
 * Confirmations that members requested and that were approved outside of the time range. keyledger executes these
 * itself: no client sends the request again.
 */
export function listApprovedOfMembers(
  db: Pool,
  { from, until }: TimeRange,
  streamed: readonly string[],
  wanted: Wanted,
): Promise<string[]> {
  const isMembers = `status = 'approved' and starts_with(state ->> 'tokenId', 'mem_') and state ->> 'operation' <> all($3)`
  const condition = `${isMembers} and (decided_at <= $1 or decided_at > $2)`
  return ids(db, condition, 'decided_at', [from, until, streamed], wanted)
}

async function ids(
  db: Pool,
  condition: string,
  order: 'expires_at' | 'consumed_at' | 'decided_at',
  values: readonly unknown[],
  { except, most }: Wanted,
): Promise<string[]> {
  const next = values.length
  const { rows } = await db.query<{ confirmation_id: string }>(
    `select confirmation_id from confirmations
     where ${condition} and confirmation_id <> all($${next + 1}) order by ${order} limit $${next + 2}`,
    [...values, except, most],
  )
  return rows.map((row) => row.confirmation_id)
}

/**
 * Sealed requests whose confirmation has ended or was never recorded: the process that should have deleted or recorded
 * them died. Those without a confirmation are listed after an hour, since a recent one may be recorded any moment.
 */
export async function listLeftoverRequests(
  db: Pool,
  { except, most }: Wanted,
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
       and substr(s.name, length('confirmation.') + 1) <> all($1)
     order by s.created_at limit $2`,
    [except, most],
  )
  return rows
}

/** The ids of confirmations for a license, oldest first. The license is the `id` in the path of their request. */
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
