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
