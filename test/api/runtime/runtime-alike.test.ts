/**
 * Guarantee: response times do not reveal whether a key was revoked or never existed: both run the same statements.
 * The test compares the statements, because measured times prove nothing.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newLicenseKey } from '../../../src/credentials/license-key.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, commandLicense } from '../../harness/ledger.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
/** On a plan with a limit, which an activation has to check. */
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger, 'free')
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

/** The statements of a call with their counts, and its other calls to the stores. */
async function traceOf(call: string, license_key: string, headers: Record<string, string> = {}) {
  const { db, ledger } = api.ledger.ports
  const spies = [vi.spyOn(ledger, 'append'), vi.spyOn(ledger, 'readStream'), vi.spyOn(ledger, 'head')]
  const query = vi.spyOn(db, 'query')
  const body = { product_id: 'editor', license_key, device_id: 'laptop' }
  const answer = await api.ask('POST', `/v1/licenses/${call}`, { token: tenant.token, body, headers })
  const statements = query.mock.calls.map(([asked]) => {
    const { name, text } = asked as unknown as { name?: string; text: string }
    return name ?? text ?? String(asked)
  })
  const stores = spies.map((spy) => spy.mock.calls.length)
  vi.restoreAllMocks()
  return { statements, stores, fields: Object.keys(answer.body as object), status: answer.status }
}

test.each(['validate', 'activate'])(
  '%s runs the same statements for a revoked key and for one that never existed',
  async (call) => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
    const body = { product_id: 'editor', license_key: licenseKey, device_id: 'laptop' }
    await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, body })
    await commandLicense(api.ledger, id, { type: 'RevokeLicense', reason: null, at: beginning })
    const never = newLicenseKey('ACME', api.ledger.ports.randomBytes).licenseKey

    const ofRevoked = await traceOf(call, licenseKey)
    const ofNever = await traceOf(call, never)
    expect(ofRevoked).toStrictEqual(ofNever)
    expect(ofRevoked.stores).toStrictEqual([0, 0, 0])
    expect(ofRevoked.statements.length).toBeGreaterThan(0)
    // An Idempotency-Key is stored for both, in the same steps.
    const keyed = (key: string) => ({ 'idempotency-key': `${call}-${key}` })
    expect(await traceOf(call, licenseKey, keyed('revoked'))).toStrictEqual(
      await traceOf(call, never, keyed('never')),
    )
  },
)

test('activate needs more SQL statements when a seat is free', async () => {
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor')
  const { statements, stores } = await traceOf('activate', licenseKey)
  expect(statements).toContain('count-seated-devices')
  expect(stores).not.toStrictEqual([0, 0, 0])
})
