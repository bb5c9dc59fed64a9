import type { Pool } from 'pg'
import type { RandomBytes } from '../credentials/random.ts'
import { sha256 } from '../credentials/sha256.ts'
import { type NewCodes, newCodes } from './device-codes.ts'
import type { Fingerprint } from './fingerprint.ts'

/** How long an app waits for a person, and the interval between two polls; seconds. */
export const activationLifetimeSeconds = 600
export const activationPollSeconds = 5

type Place = { tenantId: string; productId: string }

/** An app that waits for a license. */
export type WaitingApp = Place & { deviceCodeHash: string; deviceName: string }

/** The license that a person chose. `personId` is who they are in an organization, where seats are of people and each has a key. */
export type Chosen = { licenseId: string; subjectId: string; personId: string | null }

/** Lets an app wait for a license of its product. @returns both codes, which are not stored in clear */
export async function openBrowserActivation(
  db: Pool,
  fingerprint: Fingerprint,
  random: RandomBytes,
  { tenantId, productId, deviceName }: Place & { deviceName: string },
  now: Date,
): Promise<Pick<NewCodes, 'deviceCode' | 'userCode'>> {
  const { deviceCode, letters, userCode } = newCodes(random)
  const { rowCount } = await db.query(
    `insert into vault.browser_activations
       (device_code_hash, user_code_index, tenant_id, product_id, device_name, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [
      sha256(deviceCode),
      fingerprint('activation code', letters),
      tenantId,
      productId,
      deviceName,
      now,
      new Date(now.getTime() + activationLifetimeSeconds * 1000),
    ],
  )
  // Another waiting app has the same user code, one of 20^8.
  if (rowCount === 0)
    return openBrowserActivation(db, fingerprint, random, { tenantId, productId, deviceName }, now)
  return { deviceCode, userCode }
}

/** Finds an app of the tenant that waits, by the normalized letters of its user code. */
export async function findWaitingApp(
  db: Pool,
  fingerprint: Fingerprint,
  tenantId: string,
  letters: string,
  now: Date,
): Promise<WaitingApp | undefined> {
  const { rows } = await db.query<WaitingApp>(
    `select device_code_hash as "deviceCodeHash", tenant_id as "tenantId", product_id as "productId",
       device_name as "deviceName"
     from vault.browser_activations
     where user_code_index = $1 and tenant_id = $2 and expires_at > $3 and decided_at is null`,
    [fingerprint('activation code', letters), tenantId, now],
  )
  return rows[0]
}

/** Decides for a waiting app, once. @param chosen undefined to deny it @returns false when it was decided before, or has ended */
export async function decideForApp(
  db: Pool,
  { deviceCodeHash }: Pick<WaitingApp, 'deviceCodeHash'>,
  chosen: Chosen | undefined,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update vault.browser_activations set decided_at = $2, license_id = $3, subject_id = $4, person_id = $5
     where device_code_hash = $1 and expires_at > $2 and decided_at is null`,
    [deviceCodeHash, now, chosen?.licenseId ?? null, chosen?.subjectId ?? null, chosen?.personId ?? null],
  )
  return rowCount === 1
}

/** What became of an app that waits, until its code ends. @returns undefined for a code that has ended, or never was */
export async function decisionFor(
  db: Pool,
  { tenantId, productId }: Place,
  deviceCode: string,
  now: Date,
): Promise<'pending' | 'denied' | Chosen | undefined> {
  const { rows } = await db.query<Decision>(
    `select decided_at is not null as "isDecided", license_id as "licenseId", subject_id as "subjectId",
       person_id as "personId"
     from vault.browser_activations
     where device_code_hash = $1 and tenant_id = $2 and product_id = $3 and expires_at > $4`,
    [sha256(deviceCode), tenantId, productId, now],
  )
  const [found] = rows
  if (!found) return undefined
  if (!found.isDecided) return 'pending'
  const { licenseId, subjectId, personId } = found
  return licenseId === null || subjectId === null ? 'denied' : { licenseId, subjectId, personId }
}

type Decision = { isDecided: boolean } & { [Name in keyof Chosen]: string | null }
