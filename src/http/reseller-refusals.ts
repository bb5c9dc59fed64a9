import type { RefusalCode } from '../domain/refusal.ts'

/** The responses to refusals about resellers. */
export const resellerRefusals = {
  reseller_exists: [409, 'this reseller already exists'],
  reseller_not_found: [404, 'reseller not found'],
  reseller_closed: [409, 'the reseller is closed for good; create another one'],
  reseller_quota_used: [
    409,
    'the quota of this key type is used up, or there is none; ask the vendor for more',
  ],
  reseller_quota_below_used: [
    422,
    'a quota would be below what is used of it; send at least as many licenses as are used',
  ],
  reseller_terms: [
    422,
    'a reseller mints and creates by the terms of the vendor; omit quantity, deviceLimit, expiresAt, updatesUntil and meters',
  ],
  reseller_needs_customer: [
    422,
    'a license of a reseller belongs to a customer of theirs; send customerId or email',
  ],
  member_of_reseller: [
    409,
    'this member belongs to a reseller and keeps that role; remove the member instead',
  ],
} satisfies Partial<Record<RefusalCode, [status: number, message: string]>>
