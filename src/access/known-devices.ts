import type { Pool } from 'pg'

/** How long a browser stays known after a sign-in (milliseconds). */
export const knownDeviceMs = 180 * 86_400_000

/**
 * Records that a member signed in with a browser, under a new hash. The browser's earlier hash stops working,
 * even if another party has a copy. Other members that the browser is known for keep it.
 * @param earlierHash the browser's hash until now
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

/**
 * Whether a browser is known.
 * @param memberId the member that it has to be known for; any member when absent
 */
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
