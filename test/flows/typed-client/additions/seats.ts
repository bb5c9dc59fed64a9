import {
  createCustomer,
  createKeyType,
  linkLicense,
  mintLicense,
  readSeatsOfCustomer,
  readSeatsOfLicense,
  readSeatsOfProduct,
} from '../client/index.ts'
import { expect } from '../program.ts'
import { activate } from './samples.ts'

const productId = 'editor'
const floatingSeats = { seatSeconds: 3600, overdraft: null, scope: 'device' } as const
await createKeyType({
  path: { productId },
  body: { name: 'Team', keyTypeId: 'team', deviceLimit: 2, seatPolicy: 'floating', floatingSeats },
})
const minted = await mintLicense({ body: { productId, keyTypeId: 'team' } })
const { license, licenseKey } = expect('a license floats', minted.data, () => true)
const created = await createCustomer({ body: { email: 'team@example.com' } })
const { customer } = expect('its customer is created', created.data, () => true)
await linkLicense({ path: { id: customer.id }, body: { licenseId: license.id } })
for (const device of ['first', 'second', 'third']) await activate(licenseKey, device)

const query = { from: license.createdAt, to: '2099-01-01T00:00:00.000Z' }
const ofLicense = await readSeatsOfLicense({ path: { id: license.id }, query: { ...query, seats: 1 } })
expect('its seats are in use', ofLicense.data, ({ inUse, limit }) => inUse === 2 && limit === 2)
expect('one seat would have refused one taking', ofLicense.data, ({ whatIf }) => whatIf?.refused === 1)
const ofProduct = await readSeatsOfProduct({ path: { productId }, query })
expect('so of the product', ofProduct.data, ({ inUse }) => inUse === 2)
const ofCustomer = await readSeatsOfCustomer({ path: { id: customer.id }, query })
expect('so of the customer', ofCustomer.data, ({ points }) => points.at(-1)?.peak === 2)
