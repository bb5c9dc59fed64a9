// A vendor's program that uses only the generated client. It is compiled and run beside that client.

import { client } from './client/client.gen.ts'
import {
  activateDevice,
  createCustomer,
  createProduct,
  getConfirmation,
  linkLicense,
  listLicenses,
  mintLicense,
  replaceEntitlementOverrides,
  revokeLicense,
  validateLicense,
  verifyToken,
} from './client/index.ts'

const { ADDRESS: baseUrl = '', TOKEN: auth = '' } = process.env
client.setConfig({ baseUrl, auth, throwOnError: true })

function expect<T>(what: string, value: T | undefined, is: (value: T) => boolean): T {
  if (value === undefined || !is(value)) throw new Error(`${what}: ${JSON.stringify(value)}`)
  console.log(what)
  return value
}

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

const asked = await revokeLicense({ path: { id: license.id }, body: { reason: 'no longer needed' } })
const pending = expect(
  'a person has to approve the revocation',
  asked.data,
  (answer) => 'confirmation' in answer,
)
if (!('confirmation' in pending)) throw new Error('no confirmation')
const { id } = pending.confirmation
for (let status = 'pending'; status === 'pending'; ) {
  await new Promise((resolve) => setTimeout(resolve, 100))
  const polled = await getConfirmation({ path: { id } })
  status = expect('it is polled', polled.data, () => true).status
}
const revoked = await revokeLicense({
  path: { id: license.id },
  body: { reason: 'no longer needed' },
  headers: { 'X-Service-Confirmation': id },
})
expect('it is revoked', revoked.data, (answer) => 'license' in answer && answer.license.status === 'revoked')
const after = await validateLicense({ body: onDevice })
expect('it is valid no more', after.data, ({ valid, reason }) => !valid && reason === 'revoked')
const listed = await listLicenses({ query: { status: 'revoked' } })
expect('it is listed', listed.data, ({ items }) => items.length === 1 && items[0]?.id === license.id)
