/**
 * Guarantee: the settings are the same bytes in every response of every process while one signature is valid; they
 * are signed again long before it expires, and never contain more than was configured.
 */
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { rotateSigningKey } from '../../../src/commands/signing-keys.ts'
import { closeTenant } from '../../../src/commands/tenants.ts'
import { type Keyset, verifySettings } from '../../../src/sdk/javascript/index.ts'
import { createSignSettings } from '../../../src/signing/settings.ts'
import { createSigner } from '../../../src/signing/signer.ts'
import {
  askOf,
  createTestApp,
  makeTenant,
  openTestApi,
  type TestApi,
  type TestTenant,
} from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

type Vendor = TestTenant & {
  app: App
  sdkKey: string
  set(change: object): Promise<unknown>
  keys(): Promise<Keyset>
}

async function vendor(fields: object = { trialDurationDays: 14 }): Promise<Vendor> {
  const tenant = await makeTenant(api.ledger)
  const { tenantId, token } = tenant
  await makeProduct(api.ask, token, 'editor', { ...fields })
  const sdkKey = await sdkKeyOf(api.ledger, tenantId)
  return {
    ...tenant,
    sdkKey,
    app: appOf(api.ask, { tenantId, productId: 'editor' }, sdkKey),
    set: (body) => api.ask('PATCH', '/v1/products/editor', { token, body }),
    keys: async () => (await api.ask('GET', `/${tenantId}/.well-known/service-keys`)).body as Keyset,
  }
}

const unixNow = () => Math.floor(api.ledger.clock.now().getTime() / 1000)
const Signed = z.object({
  trial_duration_days: z.int(),
  free_tier_enabled: z.boolean(),
  kid: z.string(),
  issued_at: z.int(),
  expires_at: z.int(),
  signature: z.string(),
})

/** The bytes of the settings within a response. */
function settingsIn(text: string): string {
  const from = text.indexOf('"trial_duration_days"')
  const end = text.indexOf('"', text.indexOf('"signature":"', from) + 13)
  return from < 0 ? '' : text.slice(from, end + 1)
}

async function verified({ tenantId, keys }: Vendor, answer: unknown, now = unixNow()) {
  return verifySettings(answer, { tenantId, productId: 'editor' }, await keys(), now)
}

describe('config', () => {
  test('is unsigned when no trial length is configured', async () => {
    const { app } = await vendor({ freeTierEnabled: true })
    const { body, headers } = await app.config()
    expect(body).toStrictEqual({ free_tier_enabled: true })
    expect(headers['cache-control']).toBe('private, max-age=300')
  })

  test.each([0, 14])('is signed for 24 hours when the trial length is %i days', async (days) => {
    const own = await vendor({ trialDurationDays: days })
    const { body, headers } = await own.app.config()
    expect(Signed.strict().parse(body)).toMatchObject({
      trial_duration_days: days,
      free_tier_enabled: false,
      issued_at: unixNow(),
      expires_at: unixNow() + 86_400,
    })
    expect(headers['cache-control']).toBe('private, max-age=43200')
    expect(await verified(own, body)).toStrictEqual({
      ok: true,
      settings: { freeTierEnabled: false, trialDurationDays: days },
    })
  })

  test('omits the trial length after it is removed', async () => {
    const own = await vendor()
    await own.set({ trialDurationDays: null })
    expect((await own.app.config()).body).toStrictEqual({ free_tier_enabled: false })
  })
})

test('validate returns the same bytes as config, also with a 422 and from another process', async () => {
  const own = await vendor()
  const { licenseKey } = await mint(api.ask, own.token, 'editor')
  const activated = await own.app.post('activate', { license_key: licenseKey, instance_name: 'Mac' })
  const { instance_id } = z.object({ instance_id: z.string() }).parse(activated.body)
  const signer = createSigner(api.ledger.ports.secrets)
  const ports = { ...api.ledger.ports, signer, signSettings: createSignSettings(signer) }
  const other = await createTestApp(api.ledger, ports)
  const otherApp = appOf(askOf(other), { tenantId: own.tenantId, productId: 'editor' }, own.sdkKey)
  const expected = settingsIn((await own.app.config()).text)
  expect(expected).not.toBe('')
  for (const hours of [0, 3, 11]) {
    api.ledger.clock.advance(hours === 0 ? 0 : 3_600_000 * 3)
    for (const app of [own.app, otherApp]) {
      const held = { license_key: licenseKey, instance_id }
      expect(settingsIn((await app.post('validate', held)).text)).toBe(expected)
      const refused = await app.post('validate', { ...held, instance_id: 'ins_absent' })
      expect(refused.status).toBe(422)
      expect(settingsIn(refused.text)).toBe(expected)
      expect(settingsIn((await app.config()).text)).toBe(expected)
    }
  }
  await other.close()
})

describe('the signature of the settings', () => {
  test('is renewed exactly 12 hours before it expires', async () => {
    const own = await vendor()
    const { clock } = api.ledger
    const before = Signed.parse((await own.app.config()).body)
    clock.set(new Date((before.issued_at + 43_199) * 1000).toISOString())
    const last = await own.app.config()
    expect(last.body).toStrictEqual(before)
    expect(last.headers['cache-control']).toBe('private, max-age=1')
    clock.advance(1000)
    const renewed = Signed.parse((await own.app.config()).body)
    expect(renewed).toMatchObject({
      issued_at: before.issued_at + 43_200,
      expires_at: before.expires_at + 43_200,
    })
    expect(await verified(own, before, before.expires_at)).toMatchObject({ ok: true })
    expect(await verified(own, before, before.expires_at + 1)).toStrictEqual({ ok: false, reason: 'over' })
  })

  test('is renewed at once when the settings change, and kept when only fields that apps do not see change', async () => {
    const own = await vendor()
    const before = Signed.parse((await own.app.config()).body)
    api.ledger.clock.advance(5000)
    await own.set({ leaseSeconds: 60, name: 'Another' })
    expect((await own.app.config()).body).toStrictEqual(before)
    await own.set({ freeTierEnabled: true })
    expect(Signed.parse((await own.app.config()).body)).toMatchObject({
      free_tier_enabled: true,
      issued_at: before.issued_at + 5,
    })
  })
})

describe('the keyset', () => {
  test('is public and can be cached for five minutes', async () => {
    const { tenantId } = await vendor()
    const url = `/${tenantId}/.well-known/service-keys`
    const { status, body, headers } = await api.ask('GET', url)
    expect(status).toBe(200)
    expect(Object.keys((body as Keyset).keys)).toHaveLength(1)
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/) as unknown,
    })
    const again = await api.ask('GET', url, { headers: { 'if-none-match': String(headers.etag) } })
    expect({ status: again.status, text: again.text }).toStrictEqual({ status: 304, text: '' })
  })

  test('returns 404 for an unknown tenant, and still works for a closed one', async () => {
    expect((await api.ask('GET', '/nobody/.well-known/service-keys')).status).toBe(404)
    const own = await vendor()
    const { keys } = await own.keys()
    await closeTenant(api.ledger.ports, own.tenantId, null, origin)
    expect((await own.keys()).keys).toStrictEqual(keys)
  })

  test('contains the next key before it signs, and the previous key until its last lease has expired', async () => {
    const own = await vendor()
    const { clock, ports } = api.ledger
    const before = Signed.parse((await own.app.config()).body)
    await rotateSigningKey(ports, own.tenantId, origin)
    const [, next] = Object.keys((await own.keys()).keys)
    clock.advance(299_999)
    expect(Signed.parse((await own.app.config()).body).kid).toBe(before.kid)
    clock.advance(1)
    const after = Signed.parse((await own.app.config()).body)
    expect(after).toMatchObject({ kid: next, issued_at: before.issued_at + 300 })
    expect(await verified(own, before)).toMatchObject({ ok: true })
    expect(await verified(own, after)).toMatchObject({ ok: true })
    clock.advance(604_800_000 - 1)
    expect((await own.keys()).keys).toHaveProperty(before.kid)
    clock.advance(1)
    expect(Object.keys((await own.keys()).keys)).toStrictEqual([next])
  })

  test('loses retired signing keys: a rotation destroys their seeds', async () => {
    const own = await vendor()
    await own.app.config()
    const { clock, db, ports } = api.ledger
    const seeds = async () => {
      const { rows } = await db.query<{ name: string }>(
        "select name from vault.secrets where tenant_id = $1 and name like 'signing-key.%' order by name",
        [own.tenantId],
      )
      return rows.map(({ name }) => name)
    }
    await rotateSigningKey(ports, own.tenantId, origin)
    expect(await seeds()).toStrictEqual(['signing-key.1', 'signing-key.2'])
    clock.advance(360_000)
    await rotateSigningKey(ports, own.tenantId, origin)
    expect(await seeds()).toStrictEqual(['signing-key.2', 'signing-key.3'])
  })

  test('creates one key when many first requests run concurrently', async () => {
    const { tenantId } = await makeTenant(api.ledger)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.ask('GET', `/${tenantId}/.well-known/service-keys`)),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })
})

test('when the vault has lost the signing key, settings are unsigned, activate returns 500, and the error is logged', async () => {
  const own = await vendor()
  const { licenseKey } = await mint(api.ask, own.token, 'editor')
  await own.app.config()
  await api.ledger.ports.secrets.destroy(own.tenantId, 'signing-key.1')
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line) => void lines.push(line) })
  const signer = createSigner(api.ledger.ports.secrets)
  const ports = { ...api.ledger.ports, signer, signSettings: createSignSettings(signer) }
  const other = await createTestApp(api.ledger, ports, { log })
  const app = appOf(askOf(other), { tenantId: own.tenantId, productId: 'editor' }, own.sdkKey)
  const { status, body, headers } = await app.config()
  expect({ status, body }).toStrictEqual({ status: 200, body: { free_tier_enabled: false } })
  expect(headers['cache-control']).toBe('no-store')
  expect(lines.map((line) => z.object({ msg: z.string() }).parse(JSON.parse(line)).msg)).toStrictEqual([
    'config.signing_failed',
  ])
  const activated = await app.post('activate', { license_key: licenseKey, instance_name: 'Mac' })
  expect({ status: activated.status, body: activated.body }).toStrictEqual({
    status: 500,
    body: { error: 'the tenant is not fully configured: its signing key cannot be used' },
  })
  await other.close()
  const { body: usage } = await api.ask('GET', '/v1/licenses', { token: own.token })
  expect(usage).toMatchObject({ items: [{ seatsUsed: 0 }] })
})
