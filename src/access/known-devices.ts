import type { Pool } from 'pg'

/** How long a browser is known after a member signed in with it. */
export const knownDeviceMs = 180 * 86_400_000

/**
 * Remembers that a member signed in with a browser, under a new hash: what the browser held before is of no use from
 * now on, whoever else knows it. Other members that it was known for stay so.
 * @param earlierHash what the browser was known by until now
 */
export async function rememberDevice(
  db: Pool,
  device: { deviceHash: string; earlierHash: string | undefined; memberId: string },
  now: Date,
): Promise<void> {
  const { deviceHash, earlierHash, memberId } = device
  await db.query(
    `with replaced as (delete from vault.known_devices where device_hash = $2 and member_id = $3),
       moved as (update vault.known_devices set device_hash = $1 where device_hash = $2 and member_id <> $3)
     insert into vault.known_devices (device_hash, member_id, expires_at) values ($1, $3, $4)`,
    [deviceHash, earlierHash ?? null, memberId, new Date(now.getTime() + knownDeviceMs)],
  )
}

/** @param memberId whether it is known for this member; for any at all when absent */
export async function isKnownDevice(
  db: Pool,
  deviceHash: string | undefined,
  now: Date,
  memberId?: string,
): Promise<boolean> {
  const { rows } = await db.query<{ known: boolean }>(
    `select exists (
       select from vault.known_devices
       where device_hash = $1 and expires_at > $2 and ($3::text is null or member_id = $3)
     ) as known`,
    [deviceHash ?? null, now, memberId ?? null],
  )
  return rows[0]?.known === true
}
