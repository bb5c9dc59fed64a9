// What licenses use under their meters.

import {
  activateInstance,
  addCredit,
  commitHold,
  consumeMeter,
  consumeMeterOfInstance,
  correctUse,
  createKeyType,
  getSdkKey,
  holdMeter,
  listLicenseMeters,
  listMeterLines,
  mintLicense,
  releaseHold,
  verifyToken,
  withdrawCredit,
} from '../client/index.ts'
import { approved, expect } from '../program.ts'

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
await correctUse({ path: ofMeter, body: { ...keyed, reason: 'counted twice' } })
const credit = await addCredit({ path, body: { meter, amount: '5', idempotencyKey: 'order-1' } })
const { creditId = '' } = credit.data ?? {}
await withdrawCredit({ path: { ...ofMeter, creditId }, body: { reason: 'refunded' } })

const sdkKey = await approved((headers) => getSdkKey({ headers }))
const { tenantId } = expect(
  'the token is known',
  (await verifyToken()).data,
  (answer) => answer.tenantId !== '',
)
const client = { path: { tenantId, productId: 'editor' }, auth: sdkKey.sdkKey }
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

const meters = await listLicenseMeters({ path })
expect('4.5 are used', meters.data, (answer) => answer.meters[0]?.used === '4.5')
for (const [query, count] of [
  [{ order: 'oldest' }, 8],
  [{ limit: 1 }, 1],
] as const) {
  const lines = await listMeterLines({ path: ofMeter, query })
  expect('its lines are listed', lines.data, ({ items }) => items.length === count)
  const cursor = lines.data?.nextCursor
  if (cursor) await listMeterLines({ path: ofMeter, query: { cursor, limit: 1 } })
}
