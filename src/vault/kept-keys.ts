import type { Pool } from 'pg'
import type { KeptKeyPlace, KeptPeriod } from '../domain/licenses/keys.ts'
import type { KeyHashing } from './key-hashing.ts'
import type { Subjects } from './subjects.ts'

/**
 * The keys of licenses whose product has `keyRecovery`, to be mailed to their holders again. Each is sealed under its
 * holder's key, so that erasing the person destroys it.
 */
export type KeptKeys = {
  /**
   * Keeps a key before the event that gives it to the license. One whose event never follows is deleted some minutes
   * later. Nothing is kept for a person who was erased.
   */
  keep(place: KeptKeyPlace & { productId: string; period: number }, licenseKey: string): Promise<void>
  /**
   * @returns undefined when the key is not kept for this license and holder in this period of its product, and when the
   *   person was erased
   */
  open(place: KeptKeyPlace & { period: number }): Promise<string | undefined>
  /** Has the kept keys of a license checked again: those that it does not have any more are deleted. */
  recheck(licenseId: string): Promise<void>
  /** Notes that the license has this key, and deletes the former ones that were kept for it. */
  settle(place: KeptKeyPlace): Promise<void>
  destroy(place: KeptKeyPlace): Promise<void>
  /**
   * Deletes the keys of a product's earlier periods. Those from before keys had a period join the present one; a product that
   * keeps no keys loses them too.
   */
  clearPeriods(product: KeptPeriod): Promise<void>
}

const isPlace = 'tenant_id = $1 and subject_id = $2 and license_id = $3 and key_hash = $4'
const valuesOf = ({ tenantId, subjectId, licenseId, keyHash }: KeptKeyPlace): string[] => [
  tenantId,
  subjectId,
  licenseId,
  keyHash,
]

/** How many rows one statement changes, so that none holds locks for long. */
const changedAtOnce = 5000

/** Some rows of a product that fulfil a condition. */
const someWith = (condition: string): string => `ctid = any(array(
  select ctid from vault.kept_keys where tenant_id = $1 and product_id = $2 and ${condition} limit ${changedAtOnce}
))`

export function createKeptKeys(db: Pool, subjects: Subjects, keyHashing: Pick<KeyHashing, 'isOf'>): KeptKeys {
  /** Runs a statement until it finds no more rows. */
  async function untilDone(text: string, values: readonly unknown[]): Promise<void> {
    for (;;) {
      const { rowCount } = await db.query(text, [...values])
      if ((rowCount ?? 0) < changedAtOnce) return
    }
  }

  return {
    async keep(place, licenseKey) {
      const sealed = await subjects.sealLicenseKey(place.tenantId, place.subjectId, licenseKey)
      if (sealed === null) return
      await db.query({
        name: 'keep-license-key',
        text: `insert into vault.kept_keys (tenant_id, subject_id, license_id, key_hash, product_id, sealed, period)
               values ($1, $2, $3, $4, $5, $6, $7)
               on conflict (tenant_id, subject_id, license_id, key_hash)
               do update set sealed = excluded.sealed, period = excluded.period, settled = false, created_at = now()`,
        values: [...valuesOf(place), place.productId, sealed, place.period],
      })
    },
    async open(place) {
      const { rows } = await db.query<{ sealed: string }>({
        name: 'kept-license-key',
        text: `select sealed from vault.kept_keys where ${isPlace} and (period = $5 or period is null)`,
        values: [...valuesOf(place), place.period],
      })
      if (!rows[0]) return undefined
      const key = await subjects.openLicenseKey(place.tenantId, place.subjectId, rows[0].sealed)
      return key !== null && (await keyHashing.isOf(place.tenantId, key, place.keyHash)) ? key : undefined
    },
    async recheck(licenseId) {
      await db.query(
        'update vault.kept_keys set settled = false, created_at = now() where license_id = $1 and settled',
        [licenseId],
      )
    },
    async settle(place) {
      await db.query(
        `with others as (
           delete from vault.kept_keys where license_id = $3 and settled and not (${isPlace})
         )
         update vault.kept_keys set settled = true where ${isPlace}`,
        valuesOf(place),
      )
    },
    async destroy(place) {
      await db.query(`delete from vault.kept_keys where ${isPlace}`, valuesOf(place))
    },
    async clearPeriods({ tenantId, productId, period, keeps }) {
      const present = [tenantId, productId, period]
      if (keeps)
        await untilDone(`update vault.kept_keys set period = $3 where ${someWith('period is null')}`, present)
      else
        await untilDone(`delete from vault.kept_keys where ${someWith('period is null')}`, [
          tenantId,
          productId,
        ])
      await untilDone(`delete from vault.kept_keys where ${someWith('period < $3')}`, present)
    },
  }
}
