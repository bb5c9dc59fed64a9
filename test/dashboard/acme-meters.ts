import { makeProduct, mint } from '../http/samples.ts'
import type { TestDashboard } from './dashboard.ts'

const meters = [
  { meter: 'api-calls', unit: 'calls', included: '10000', period: 'month', overage: 'allow', rollover: true },
  { meter: 'render-minutes', unit: 'minutes', included: '0', period: 'license', overage: 'block' },
]

/** A month of an API whose license uses calls, with packs of minutes, until the clock's time. */
export async function meterSome({ ask, ledger: { clock } }: TestDashboard['api'], token: string) {
  const end = clock.now().getTime()
  const day = 86_400_000
  clock.set(new Date(end - 26 * day).toISOString())
  const keyTypes = [{ name: 'Metered', deviceLimit: 1, meters }]
  await makeProduct(ask, token, 'acme-api', { name: 'Acme API', keyPrefix: 'API', keyTypes })
  const license = await mint(ask, token, 'acme-api', { email: 'api@northwind.example' })
  const path = `/v1/licenses/${license.id}`
  const post = (url: string, body: object) => ask('POST', url, { token, body })
  const of = { product_id: 'acme-api', license_key: license.licenseKey }
  for (const [order, expiresAt] of [
    ['1001', '2026-06-30T23:59:59.000Z'],
    ['1002', null],
  ] as const)
    await post(`${path}/credits`, {
      ...{ meter: 'render-minutes', amount: '500', expiresAt, order, idempotencyKey: order },
    })
  for (let ago = 25; ago >= 0; ago--) {
    clock.set(new Date(end - ago * day).toISOString())
    const weekend = new Date(end - ago * day).getUTCDay() % 6 === 0
    const calls = String(Math.round((weekend ? 180 : 400) + 60 * Math.sin(ago)))
    const minutes = ((30 - ago) * 1.25).toFixed(2)
    await post('/v1/licenses/consume', {
      ...of,
      meter: 'api-calls',
      amount: calls,
      idempotency_key: `calls-${ago}`,
    })
    await post('/v1/licenses/consume', {
      ...of,
      meter: 'render-minutes',
      amount: minutes,
      idempotency_key: `frame-${ago}`,
    })
  }
  await post('/v1/licenses/hold', {
    ...of,
    meter: 'render-minutes',
    amount: '12',
    idempotency_key: 'hold',
    seconds: 86_400,
  })
  await post(`${path}/meters/api-calls/corrections`, {
    ...{ amount: '25', reason: 'Counted twice by the gateway', idempotencyKey: 'twice' },
  })
  return license
}
