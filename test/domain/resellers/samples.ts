import type { ResellerCommand } from '../../../src/domain/resellers/reseller.ts'

export const at = '2026-03-01T12:00:00.000Z'
export const quota = { productId: 'editor', keyTypeId: 'default', licenses: 2 }

export const create = {
  type: 'CreateReseller',
  resellerId: 'rsl_1',
  tenantId: 'acme',
  name: 'Northwind',
  quotas: [quota],
  at,
} as const
export const take = {
  type: 'TakeLicense',
  licenseId: 'lic_1',
  productId: 'editor',
  keyTypeId: 'default',
  at,
} as const

/** At least one of each type. */
export const resellerCommands: readonly ResellerCommand[] = [
  create,
  { type: 'ChangeReseller', name: 'Northwind Software', at },
  { type: 'ChangeReseller', quotas: [{ ...quota, licenses: 5 }], at },
  take,
  { ...take, licenseId: 'lic_2' },
  { type: 'ReturnLicense', licenseId: 'lic_1', at },
  { type: 'CloseReseller', at },
]
