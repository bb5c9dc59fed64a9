import type { Pool } from 'pg'
import { isPaused } from './due.ts'

/**
 * Whether the stored key of license `l` is needed at the moment `now`: a delivery that carries it is pending, or was
 * abandoned recently and may be requested again. After a remint the old key is not needed for such a request. A
 * paused endpoint keeps the key of a pending delivery for 30 days.
 */
const isNeeded = (now: string) => `(
  exists (
    select from owed_deliveries o where o.license_id = l.license_id and o.event = 'license.created'
  )
  or exists (
    select from deliveries d
    where d.license_id = l.license_id and d.event = 'license.created'
      and (
        d.status = 'pending' and (d.created_at > ${now} - interval '30 days' or not ${isPaused('d')})
        or d.key_until > ${now} and not exists (
          select from license_history h where h.license_id = l.license_id and h.type = 'LicenseReminted'
        )
      )
  )
)`

/**
 * Whether license `l` has a mail with its present key that is pending at the moment `now`, or was abandoned recently and
 * may be requested again.
 */
const isToBeMailed = (now: string) => `(
  exists (
    select from owed_deliveries o where o.license_id = l.license_id and o.event = 'license.key_mail'
  )
  or exists (
    select from deliveries d
    where d.license_id = l.license_id and d.event = 'license.key_mail'
      and (d.status = 'pending' or d.key_until > ${now})
  )
)`

/** Whether no mail needs the present key of a license any more; false for an unknown license. */
export async function isMailedKeySpent(db: Pool, licenseId: string, now: string): Promise<boolean> {
  const { rows } = await db.query<{ spent: boolean }>({
    name: 'is-mailed-key-spent',
    text: `select not ${isToBeMailed('$2::timestamptz')} as spent from licenses l where l.license_id = $1`,
    values: [licenseId, now],
  })
  return rows[0]?.spent ?? false
}

/**
 * Lists keys in the vault that no mail needs any more, by their names. A key is sealed before the event that asks for
 * its mail, so one of the last ten minutes may still be needed.
 * @param prefix of their names; the license's id, a dot and the key's hash follow it
 */
export async function listSpentMailedKeys(
  db: Pool,
  prefix: string,
  now: string,
  { except, most }: { except: readonly string[]; most: number },
): Promise<{ tenantId: string; name: string }[]> {
  const { rows } = await db.query<{ tenantId: string; name: string }>(
    `select s.tenant_id as "tenantId", s.name
     from vault.secrets s
       left join licenses l on l.tenant_id = s.tenant_id and s.name = $1 || l.license_id || '.' || l.key_hash
         and l.license_id = split_part(substr(s.name, length($1) + 1), '.', 1)
     where starts_with(s.name, $1) and s.created_at < now() - interval '10 minutes'
       and (l.license_id is null or not ${isToBeMailed('$2::timestamptz')})
       and s.name <> all($3)
     limit $4`,
    [prefix, now, except, most],
  )
  return rows
}

/** Whether the stored key of a license is no longer needed; false for a license that is not in the read models yet. */
export async function isKeySpent(db: Pool, licenseId: string, now: string): Promise<boolean> {
  const { rows } = await db.query<{ spent: boolean }>({
    name: 'is-key-spent',
    text: `select not ${isNeeded('$2::timestamptz')} as spent from licenses l where l.license_id = $1`,
    values: [licenseId, now],
  })
  return rows[0]?.spent ?? false
}

/**
 * Lists licenses whose stored key is no longer needed.
 * @param prefix of the names of stored keys in the vault; the license id follows it
 */
export async function listSpentKeys(
  db: Pool,
  prefix: string,
  now: string,
  { except, most }: { except: readonly string[]; most: number },
): Promise<{ tenantId: string; licenseId: string }[]> {
  const { rows } = await db.query<{ tenantId: string; licenseId: string }>(
    `select l.tenant_id as "tenantId", l.license_id as "licenseId"
     from vault.secrets s
       join licenses l on l.tenant_id = s.tenant_id and l.license_id = substr(s.name, length($1) + 1)
     where starts_with(s.name, $1) and not ${isNeeded('$2::timestamptz')}
       and l.license_id <> all($3)
     limit $4`,
    [prefix, now, except, most],
  )
  return rows
}
