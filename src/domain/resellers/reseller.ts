import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import { Refusal } from '../refusal.ts'
import type { Quota, ResellerEvent } from './events.ts'

/** A quota, and how many of its licenses are used. */
export type UsedQuota = Quota & { used: number }

/** Those who sell licenses of a vendor to customers of their own. */
export type Reseller =
  | { status: 'absent' }
  | {
      status: 'open' | 'closed'
      resellerId: string
      tenantId: string
      name: string
      /** Those that were removed stay while nothing of them was used. */
      quotas: readonly UsedQuota[]
      /** The licenses that count in a quota. */
      taken: Readonly<Record<string, Pick<Quota, 'productId' | 'keyTypeId'>>>
      createdAt: string
      closedAt: string | null
    }

type KeyTypeOf = { productId: string; keyTypeId: string }

export type ResellerCommand =
  | {
      type: 'CreateReseller'
      resellerId: string
      tenantId: string
      name: string
      quotas: readonly Quota[]
      at: string
    }
  /** What is undefined stays. */
  | { type: 'ChangeReseller'; name?: string | undefined; quotas?: readonly Quota[] | undefined; at: string }
  | ({ type: 'TakeLicense'; licenseId: string; at: string } & KeyTypeOf)
  | { type: 'ReturnLicense'; licenseId: string; at: string }
  | { type: 'CloseReseller'; at: string }

export const absentReseller: Reseller = { status: 'absent' }

const isOf =
  ({ productId, keyTypeId }: KeyTypeOf) =>
  (quota: KeyTypeOf): boolean =>
    quota.productId === productId && quota.keyTypeId === keyTypeId

/**
 * A license counts in its quota from before it is minted. What became of it later changes nothing, so that a refund or a revocation
 * gives nothing back. Closing is final.
 * @throws Refusal `reseller_exists`, `reseller_not_found`, `reseller_closed`, `reseller_quota_used`, `reseller_quota_below_used`
 */
function decideReseller(reseller: Reseller, command: ResellerCommand): ResellerEvent[] {
  if (command.type === 'CreateReseller') {
    if (reseller.status !== 'absent') throw new Refusal('reseller_exists')
    const { type: _, quotas, ...data } = command
    return [{ type: 'ResellerCreated', data: { ...data, quotas: [...quotas] } }]
  }
  if (reseller.status === 'absent') throw new Refusal('reseller_not_found')
  const { at } = command
  switch (command.type) {
    case 'ChangeReseller': {
      if (reseller.status === 'closed') throw new Refusal('reseller_closed')
      const before = { name: reseller.name, quotas: reseller.quotas.map(withoutUse) }
      const name = command.name ?? before.name
      const quotas = [...(command.quotas ?? before.quotas)]
      if (sameJson({ name, quotas }, before)) return []
      for (const had of reseller.quotas) {
        if ((quotas.find(isOf(had))?.licenses ?? 0) < had.used) throw new Refusal('reseller_quota_below_used')
      }
      return [{ type: 'ResellerChanged', data: { name, quotas, at } }]
    }
    case 'TakeLicense': {
      const { licenseId, productId, keyTypeId } = command
      if (reseller.taken[licenseId] !== undefined) return []
      if (reseller.status === 'closed') throw new Refusal('reseller_closed')
      const quota = reseller.quotas.find(isOf(command))
      if (quota === undefined || quota.used >= quota.licenses) throw new Refusal('reseller_quota_used')
      return [{ type: 'ResellerLicenseTaken', data: { productId, keyTypeId, licenseId, at } }]
    }
    case 'ReturnLicense': {
      const { licenseId } = command
      const keyType = reseller.taken[licenseId]
      if (keyType === undefined) return []
      return [{ type: 'ResellerLicenseReturned', data: { ...keyType, licenseId, at } }]
    }
    case 'CloseReseller':
      return reseller.status === 'closed' ? [] : [{ type: 'ResellerClosed', data: { at } }]
  }
}

const withoutUse = ({ used: _, ...quota }: UsedQuota): Quota => quota

/** Never refuses: what is recorded has happened. */
function evolveReseller(reseller: Reseller, event: ResellerEvent): Reseller {
  if (event.type === 'ResellerCreated') {
    const { at, quotas, ...data } = event.data
    const unused = quotas.map((quota) => ({ ...quota, used: 0 }))
    return { ...data, status: 'open', quotas: unused, taken: {}, createdAt: at, closedAt: null }
  }
  if (reseller.status === 'absent') return reseller
  switch (event.type) {
    case 'ResellerChanged': {
      const { name, quotas } = event.data
      const used = quotas.map((quota) => ({ ...quota, used: reseller.quotas.find(isOf(quota))?.used ?? 0 }))
      return { ...reseller, name, quotas: used }
    }
    case 'ResellerLicenseTaken': {
      const { licenseId, productId, keyTypeId } = event.data
      const taken = { ...reseller.taken, [licenseId]: { productId, keyTypeId } }
      return { ...reseller, taken, quotas: usedMore(reseller.quotas, event.data, 1) }
    }
    case 'ResellerLicenseReturned': {
      const { [event.data.licenseId]: _, ...taken } = reseller.taken
      return { ...reseller, taken, quotas: usedMore(reseller.quotas, event.data, -1) }
    }
    case 'ResellerClosed':
      return { ...reseller, status: 'closed', closedAt: event.data.at }
  }
}

const usedMore = (quotas: readonly UsedQuota[], keyType: KeyTypeOf, by: number): UsedQuota[] =>
  quotas.map((quota) => (isOf(keyType)(quota) ? { ...quota, used: Math.max(0, quota.used + by) } : quota))

/** The rules of reseller streams. */
export const resellers: Decider<Reseller, ResellerCommand, 'reseller'> = {
  category: 'reseller',
  initial: absentReseller,
  decide: decideReseller,
  evolve: evolveReseller,
}
