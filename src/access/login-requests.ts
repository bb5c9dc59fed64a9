import type { Pool } from 'pg'
import type { RandomBytes } from '../credentials/random.ts'
import { sha256 } from '../credentials/sha256.ts'
import { Scope } from '../domain/tokens/events.ts'
import { type NewCodes, newCodes } from './device-codes.ts'
import type { Fingerprint } from './fingerprint.ts'

/** How long the codes of a device authorization are valid, and the interval between two polls; seconds. */
export const loginLifetimeSeconds = 600
export const pollIntervalSeconds = 5
/** A poll that arrives this much early is still accepted, because network delays vary. */
const toleranceMs = 500

/** A pending device authorization of an API client: its name, scopes and address. */
export type LoginRequest = {
  deviceCodeHash: string
  clientName: string
  scopes: Scope[]
  address: string
  createdAt: string
  expiresAt: string
}

const columns = `device_code_hash as "deviceCodeHash", client_name as "clientName", scopes, address,
  created_at as "createdAt", expires_at as "expiresAt"`

const requestFrom = (row: LoginRequest): LoginRequest => ({ ...row, scopes: Scope.array().parse(row.scopes) })

/** Starts a device authorization. @returns both codes, which are not stored in clear */
export async function openLoginRequest(
  db: Pool,
  fingerprint: Fingerprint,
  random: RandomBytes,
  request: { clientName: string; scopes: readonly Scope[]; address: string },
  now: Date,
): Promise<Pick<NewCodes, 'deviceCode' | 'userCode'>> {
  const { deviceCode, letters, userCode } = newCodes(random)
  const { rowCount } = await db.query(
    `insert into vault.login_requests
       (device_code_hash, user_code_index, client_name, scopes, address, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [
      sha256(deviceCode),
      fingerprint('user code', letters),
      request.clientName,
      request.scopes,
      request.address,
      now,
      new Date(now.getTime() + loginLifetimeSeconds * 1000),
    ],
  )
  // Another pending request has the same user code, one of 20^8.
  if (rowCount === 0) return openLoginRequest(db, fingerprint, random, request, now)
  return { deviceCode, userCode }
}

/** Finds a pending request by its user code (normalized letters). */
export async function findByUserCode(
  db: Pool,
  fingerprint: Fingerprint,
  letters: string,
  now: Date,
): Promise<LoginRequest | undefined> {
  const { rows } = await db.query<LoginRequest>(
    `select ${columns} from vault.login_requests where user_code_index = $1 and expires_at > $2`,
    [fingerprint('user code', letters), now],
  )
  return rows[0] && requestFrom(rows[0])
}

export async function findByDeviceCodeHash(
  db: Pool,
  deviceCodeHash: string,
  now: Date,
): Promise<LoginRequest | undefined> {
  const { rows } = await db.query<LoginRequest>(
    `select ${columns} from vault.login_requests where device_code_hash = $1 and expires_at > $2`,
    [deviceCodeHash, now],
  )
  return rows[0] && requestFrom(rows[0])
}

/**
 * Records a poll by an API client.
 * @returns undefined for an unknown or expired code; else whether the poll came too soon after the last one
 */
export async function recordPoll(
  db: Pool,
  deviceCodeHash: string,
  now: Date,
): Promise<{ tooSoon: boolean } | undefined> {
  const { rows } = await db.query<{ tooSoon: boolean }>(
    `with before as (
       select last_polled_at from vault.login_requests
       where device_code_hash = $1 and expires_at > $2 for update
     )
     update vault.login_requests set last_polled_at = $2 from before where device_code_hash = $1
     returning coalesce(before.last_polled_at > $2::timestamptz - $3 * interval '1 ms', false) as "tooSoon"`,
    [deviceCodeHash, now, pollIntervalSeconds * 1000 - toleranceMs],
  )
  return rows[0]
}
