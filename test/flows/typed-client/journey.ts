// A vendor's program, from the first product to a revocation.

import {
  activateDevice,
  createCustomer,
  createProduct,
  linkLicense,
  listLicenses,
  mintLicense,
  replaceEntitlementOverrides,
  revokeLicense,
  validateLicense,
  verifyToken,
} from './client/index.ts'
import { approved, connect, expect } from './program.ts'

connect()

const identity = await verifyToken()
expect('the token is known', identity.data, ({ scopes }) => scopes.includes('danger'))

await createProduct({
  body: {
    productId: 'editor',
    name: 'Editor',
    keyTypes: [{ keyTypeId: 'pro', name: 'Pro', deviceLimit: 1 }],
  },
})
const minted = await mintLicense({ body: { productId: 'editor', email: 'ada@example.com' } })
const { license, licenseKey } = expect(
  'a license is minted',
  minted.data,
  ({ license }) => license.status === 'active',
)

const onDevice = { product_id: 'editor', license_key: licenseKey, device_id: 'laptop' }
const activated = await activateDevice({ body: { ...onDevice, name: 'Laptop' } })
expect('a device is activated', activated.data, (answer) => answer.activated)
const second = await activateDevice({ body: { ...onDevice, device_id: 'desktop' } })
expect('the second device is one too many', second.data, ({ reason }) => reason === 'seat_limit_reached')

const created = await createCustomer({ body: { email: 'ada@example.com', name: 'Ada' } })
const { customer } = expect(
  'a customer is created',
  created.data,
  ({ customer }) => customer.licenseIds.length === 0,
)
await linkLicense({ path: { id: customer.id }, body: { licenseId: license.id } })
await replaceEntitlementOverrides({
  path: { id: customer.id },
  body: { overrides: [{ entitlement: 'beta', effect: 'grant' }] },
})
const validated = await validateLicense({ body: onDevice })
expect(
  'it is valid, with what its customer is granted',
  validated.data,
  (answer) => answer.valid && answer.entitlements.includes('beta'),
)

const revoked = await approved((headers) =>
  revokeLicense({ path: { id: license.id }, headers, body: { reason: 'no longer needed' } }),
)
expect('it is revoked', revoked, (answer) => answer.license.status === 'revoked')
const after = await validateLicense({ body: onDevice })
expect('it is valid no more', after.data, ({ valid, reason }) => !valid && reason === 'revoked')
const listed = await listLicenses({ query: { status: 'revoked' } })
expect('it is listed', listed.data, ({ items }) => items.length === 1 && items[0]?.id === license.id)
