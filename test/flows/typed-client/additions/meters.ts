// What licenses use under their meters.

import {
  activateInstance,
  addCredit,
  addCustomerCredit,
  allowInstance,
  commitHold,
  consumeMeter,
  consumeMeterOfInstance,
  correctCustomerUse,
  correctUse,
  createCustomer,
  createKeyType,
  exportMeteredUse,
  holdMeter,
  linkLicense,
  listCustomerMeterLines,
  listCustomerMeters,
  listLicenseMeters,
  listMeterLines,
  mintLicense,
  readMeteredUseOfCustomer,
  readMeteredUseOfLicense,
  readMeteredUseOfProduct,
  releaseHold,
  reportUsesOfInstance,
  withdrawCredit,
  withdrawCustomerCredit,
} from '../client/index.ts'
import { expect, rehearsed } from '../program.ts'
import { appOf } from './samples.ts'

const meter = 'calls'
const terms = { meter, unit: 'calls', included: '10', period: 'month', overage: 'block' } as const
const keyType = { name: 'Metered', keyTypeId: 'metered', meters: [terms] }
await createKeyType({ path: { productId: 'editor' }, body: keyType })
const minted = await mintLicense({ body: { productId: 'editor', keyTypeId: 'metered' }, throwOnError: true })
const { license, licenseKey: license_key } = minted.data
const path = { id: license.id }
const ofMeter = { ...path, meter }

const of = { product_id: 'editor', license_key, meter }
const used = await consumeMeter({ body: { ...of, amount: '2.5', idempotency_key: 'one' } })
expect('a use is counted', used.data, ({ allowed, remaining }) => allowed && remaining === '7.5')
const hold = async (idempotency_key: string) => {
  const held = await holdMeter({ body: { ...of, amount: '4', idempotency_key, seconds: 60 } })
  return expect('an amount is held', held.data, ({ allowed }) => allowed).hold_id ?? ''
}
await commitHold({ body: { hold_id: await hold('two'), amount: '1.5' } })
await releaseHold({ body: { hold_id: await hold('three') } })
const keyed = { amount: '0.5', idempotencyKey: 'four' }
const correction = { path: ofMeter, body: { ...keyed, reason: 'counted twice' } }
await rehearsed((query) => correctUse({ ...correction, query }))
await correctUse(correction)
const newCredit = { path, body: { meter, amount: '5', idempotencyKey: 'order-1' } }
await rehearsed((query) => addCredit({ ...newCredit, query }))
const credit = await addCredit(newCredit)
const { creditId = '' } = credit.data ?? {}
const withdrawal = { path: { ...ofMeter, creditId }, body: { reason: 'refunded' } }
await rehearsed((query) => withdrawCredit({ ...withdrawal, query }))
await withdrawCredit(withdrawal)

const client = await appOf('editor')
const { data: seat } = await activateInstance({ ...client, body: { license_key, instance_name: 'Laptop' } })
const body = {
  license_key,
  instance_id: seat?.instance_id ?? '',
  meter,
  amount: '1',
  idempotency_key: 'five',
}
const ofApp = await consumeMeterOfInstance({ ...client, body })
expect('an app counts a use', ofApp.data, ({ allowed }) => allowed)

const allowed = await allowInstance({ ...client, body: { ...body, idempotency_key: 'six', seconds: 60 } })
const allowance =
  expect('an app gets an allowance', allowed.data, ({ granted }) => granted).allowance?.id ?? ''
const { license_key: _key, instance_id, ...use } = body
const reported = await reportUsesOfInstance({
  ...client,
  body: { license_key, instance_id, batch: 1, uses: [{ ...use, allowance }], returned: [allowance] },
})
expect('an app reports', reported.data, ({ uses }) => uses[0]?.allowed === true)

const meters = await listLicenseMeters({ path })
expect('4.5 are used', meters.data, (answer) => answer.meters[0]?.used === '4.5')
for (const [query, count] of [
  [{ order: 'oldest' }, 9],
  [{ limit: 1 }, 1],
] as const) {
  const lines = await listMeterLines({ path: ofMeter, query })
  expect('its lines are listed', lines.data, ({ items }) => items.length === count)
  const cursor = lines.data?.nextCursor
  if (cursor) await listMeterLines({ path: ofMeter, query: { cursor, limit: 1 } })
}

const team = await createCustomer({
  body: { email: 'team@example.com', meters: [{ ...terms, included: '20' }] },
})
const { customer } = expect(
  'a customer has a meter',
  team.data,
  (answer) => answer.customer.meters !== undefined,
)
const shared = { id: customer.id }
await linkLicense({ path: shared, body: { licenseId: license.id } })
const ofAll = await consumeMeter({ body: { ...of, amount: '2', idempotency_key: 'six' } })
expect('a license uses what its customer shares', ofAll.data, ({ remaining }) => remaining === '18')
const sharedMeter = { ...shared, meter }
const customerCorrection = { ...correction, path: sharedMeter }
await rehearsed((query) => correctCustomerUse({ ...customerCorrection, query }))
await correctCustomerUse(customerCorrection)
const pack = { path: shared, body: { meter, amount: '5', idempotencyKey: 'order-2' } }
await rehearsed((query) => addCustomerCredit({ ...pack, query }))
const bought = await addCustomerCredit(pack)
const back = { ...withdrawal, path: { ...sharedMeter, creditId: bought.data?.creditId ?? '' } }
await rehearsed((query) => withdrawCustomerCredit({ ...back, query }))
await withdrawCustomerCredit(back)
const standing = await listCustomerMeters({ path: shared })
expect('1.5 are used', standing.data, (answer) => answer.meters[0]?.used === '1.5')
const lines = await listCustomerMeterLines({ path: sharedMeter, query: { order: 'oldest', limit: 1 } })
expect('a line names its license', lines.data, ({ items }) => items[0]?.licenseId === license.id)
const cursor = lines.data?.nextCursor
if (cursor) await listCustomerMeterLines({ path: sharedMeter, query: { cursor, order: 'oldest' } })

const { NOW: to = '' } = process.env
const from = new Date(Date.parse(to) - 3_600_000).toISOString()
const range = { query: { from, to, granularity: 'hour' } } as const
type Used = { meters: { used: string }[] }
const uses = (used: string) => (answer: Used) => answer.meters.some((one) => one.used === used)
const ofLicense = await readMeteredUseOfLicense({ path, ...range })
expect('what a license used is read', ofLicense.data, uses('4.5'))
const ofProduct = await readMeteredUseOfProduct({ path: { productId: 'editor' }, ...range })
expect('what a product used is read', ofProduct.data, uses('4.5'))
const ofCustomer = await readMeteredUseOfCustomer({ path: shared, ...range })
expect('what a customer used is read', ofCustomer.data, uses('1.5'))
for (const filter of [{ product: 'editor', license: license.id }, { customer: customer.id }]) {
  const exported = await exportMeteredUse({ query: { of: 'lines', from, to, ...filter }, parseAs: 'text' })
  expect('what was used is exported', exported, ({ data }) => String(data).startsWith('customerId,licenseId'))
}
