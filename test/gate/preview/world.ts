import fc from 'fast-check'
import { endPaidPeriod } from '../../../src/commands/licenses/ends.ts'
import { createToken } from '../../../src/commands/tokens.ts'
import { WebhookEventName } from '../../../src/domain/webhooks/events.ts'
import { type Answer, makeTenant, type TestApi, type TestTenant } from '../../harness/api.ts'
import { askApproveRepeat } from '../../harness/gate.ts'
import { commandLicense, origin } from '../../harness/ledger.ts'
import { importRows, makeCustomer, makeProduct, mint } from '../../http/samples.ts'

const names = ['basic', 'export', 'sync'] as const
const someNames = fc.subarray([...names])
const keyTypePlan = fc.record({
  entitlements: someNames,
  fallbackEntitlements: someNames,
  onExpiry: fc.constantFrom('expire' as const, 'fallback' as const),
})
const licensePlan = fc.record({
  keyType: fc.constantFrom('pro', 'day'),
  origin: fc.constantFrom('minted', 'imported'),
  ofCustomer: fc.boolean(),
  devices: fc.integer({ min: 0, max: 3 }),
  freed: fc.boolean(),
  fate: fc.constantFrom('nothing', 'nothing', 'revoked', 'suspended'),
})
const endpointPlan = fc.record({
  events: fc.subarray([...WebhookEventName.options], { minLength: 1 }),
  isAll: fc.boolean(),
})

/** The state of a tenant before an operation. */
export const worldPlan = fc.record({
  pro: keyTypePlan,
  day: keyTypePlan,
  licenses: fc.array(licensePlan, { minLength: 1, maxLength: 4 }),
  overrides: fc.array(
    fc.record({ entitlement: fc.constantFrom(...names), effect: fc.constantFrom('grant', 'revoke') }),
    { maxLength: 2 },
  ),
  endpoints: fc.array(endpointPlan, { maxLength: 2 }),
  hasSdkKey: fc.boolean(),
  days: fc.constantFrom(0, 3),
  change: fc.record({
    entitlements: someNames,
    fallbackEntitlements: someNames,
    deviceLimit: fc.integer({ min: 1, max: 9 }),
  }),
})
export type WorldPlan = typeof worldPlan extends fc.Arbitrary<infer Plan> ? Plan : never
type LicensePlan = WorldPlan['licenses'][number]

export type World = {
  tenant: TestTenant
  licenseIds: string[]
  customerId: string
  spareToken: { id: string; token: string }
}

const dayMs = 86_400_000

/** Makes the state that is planned, in a new tenant. */
export async function makeWorld(api: TestApi, plan: WorldPlan): Promise<World> {
  const { ask, ledger } = api
  const tenant = await makeTenant(ledger)
  const { token } = tenant
  await makeProduct(ask, token, 'editor', {
    keyTypes: [
      { keyTypeId: 'pro', name: 'Pro', deviceLimit: 3, ...plan.pro },
      { keyTypeId: 'day', name: 'Day', deviceLimit: 3, duration: { count: 1, unit: 'day' }, ...plan.day },
      { keyTypeId: 'spare', name: 'Spare' },
    ],
  })
  const customerId = await makeCustomer(ask, token)
  await ok(
    ask('PATCH', `/v1/customers/${customerId}/entitlements`, { token, body: { overrides: plan.overrides } }),
  )
  for (const [index, { events, isAll }] of plan.endpoints.entries()) {
    await addEndpoint(api, tenant, `hook-${index}`, isAll ? WebhookEventName.options : events)
  }
  const licenseIds: string[] = []
  for (const [index, license] of plan.licenses.entries()) {
    licenseIds.push(
      await makeLicense(api, tenant, license, index, license.ofCustomer ? customerId : undefined),
    )
  }
  const made = await createToken(
    ledger.ports,
    { tenantId: tenant.tenantId, name: 'spare', scopes: ['licenses:read'], expiresAt: null },
    origin,
  )
  if (plan.hasSdkKey) await revealSdkKey(api, tenant)
  ledger.clock.advance(plan.days * dayMs)
  await recordEnds(api, licenseIds)
  return { tenant, licenseIds, customerId, spareToken: { id: made.tokenId, token: made.token } }
}

async function makeLicense(
  api: TestApi,
  { token }: TestTenant,
  plan: LicensePlan,
  index: number,
  customerId: string | undefined,
): Promise<string> {
  const { ask, ledger } = api
  const devices = Array.from({ length: plan.devices }, (_, device) => `device-${device}`)
  const person = { email: 'ada@example.com', keyTypeId: plan.keyType }
  let id: string
  if (plan.origin === 'imported') {
    const row = {
      licenseKey: `OLD-4711-${index}`,
      ...person,
      devices: devices.map((deviceId) => ({ deviceId })),
    }
    const { results } = await importRows(ask, token, 'editor', [row])
    id = results[0]?.id ?? ''
  } else {
    const minted = await mint(ask, token, 'editor', { ...person, customerId })
    id = minted.id
    for (const device_id of devices) {
      const body = { product_id: 'editor', license_key: minted.licenseKey, device_id }
      await ok(ask('POST', '/v1/licenses/activate', { token, body }))
    }
  }
  const at = ledger.ports.now().toISOString()
  const [first] = devices
  if (plan.freed && first) await commandLicense(ledger, id, { type: 'DeactivateDevice', deviceId: first, at })
  if (plan.fate === 'revoked') await commandLicense(ledger, id, { type: 'RevokeLicense', reason: null, at })
  if (plan.fate === 'suspended')
    await commandLicense(ledger, id, { type: 'SuspendLicense', reason: null, at })
  return id
}

async function addEndpoint(api: TestApi, tenant: TestTenant, name: string, events: readonly string[]) {
  const body = { url: `https://public.example.com/${name}`, events }
  await ok(askApproveRepeat(api, tenant, 'POST', '/v1/webhook-endpoints', { body }))
}

const revealSdkKey = (api: TestApi, tenant: TestTenant) =>
  ok(askApproveRepeat(api, tenant, 'GET', '/v1/sdk-key'))

/** Records the terms that are over, as the process manager does. */
export async function recordEnds({ ledger }: TestApi, licenseIds: readonly string[]): Promise<void> {
  for (const id of licenseIds) await endPaidPeriod(ledger.ports, { licenseId: id, isNews: false }, origin)
}

async function ok(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
  return answer
}
