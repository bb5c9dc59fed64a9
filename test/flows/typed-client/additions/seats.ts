import {
  addPeople,
  assignSeat,
  createCustomer,
  createKeyType,
  formOrganization,
  linkLicense,
  listSeatedPeople,
  mintLicense,
  readSeatsOfCustomer,
  readSeatsOfLicense,
  readSeatsOfProduct,
  replacePersonalKey,
  unassignSeat,
} from '../client/index.ts'
import { expect, rehearsed } from '../program.ts'
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

const namedSeats = { devicesPerPerson: 1, reassignEveryDays: 0 }
await createKeyType({
  path: { productId },
  body: { name: 'People', keyTypeId: 'people', deviceLimit: 2, namedSeats },
})
await formOrganization({ path: { id: customer.id } })
const added = await addPeople({
  path: { id: customer.id },
  body: { people: [{ email: 'katherine@example.com' }], invite: false },
})
const [person] = expect('a person is added', added.data, ({ people }) => people.length === 1).people
const personId = person?.id ?? ''
const ofPeople = await mintLicense({ body: { productId, keyTypeId: 'people', customerId: customer.id } })
const named = expect('people have its seats', ofPeople.data, ({ license: one }) => one.seatPolicy === 'named')
const path = { id: named.license.id }
const assigned = await assignSeat({ path, body: { personId } })
const { licenseKey: own } = expect('the person has a seat', assigned.data, ({ seat }) => seat.id === personId)
const seated = await listSeatedPeople({ path, query: { order: 'oldest' } })
expect('they are listed', seated.data, ({ items }) => items[0]?.email === 'katherine@example.com')
const ofPerson = { ...path, personId }
const replaced = await replacePersonalKey({ path: ofPerson })
expect('they have a new key', replaced.data, (answer) => answer.licenseKey !== own)
await rehearsed((query) => unassignSeat({ path: ofPerson, query }))
const taken = await unassignSeat({ path: ofPerson })
expect('the seat is taken', taken.data, ({ unassigned }) => unassigned)
