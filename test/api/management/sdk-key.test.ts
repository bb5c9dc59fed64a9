/**
 * Guarantee: a tenant has one live SDK key and one live checkout key. The SDK key is returned only to an approved
 * request and recognized only by its hash, and an operation repeated after a crash returns the same key.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createClientKeyLookup, readMaskedKeys } from '../../../projections/client-keys.ts'
import { knownClientKey } from '../../../src/api/payments/checkout.ts'
import { createKeyedMutex } from '../../../src/async/keyed-mutex.ts'
import { issueCheckoutKey, revealSdkKey, rotateSdkKey } from '../../../src/commands/client-keys.ts'
import { suspendTenant } from '../../../src/commands/tenants.ts'
import { tenantStream } from '../../../src/domain/streams.ts'
import { showApproval } from '../../../src/gate/approvals.ts'
import { createExecute } from '../../../src/ledger/execute.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { askApproveRepeat, pendingId } from '../../harness/gate.ts'
import { appendRaw, beginning, eventsIn, origin } from '../../harness/ledger.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  api.ledger.clock.set(beginning)
  tenant = await makeTenant(api.ledger)
})

const ports = () => api.ledger.ports
const Shown = z.strictObject({ sdkKey: z.string().regex(/^kl_sdk_[0-9A-Za-z]{38}$/) })
async function shown(method: 'GET' | 'POST'): Promise<string> {
  const url = method === 'GET' ? '/v1/sdk-key' : '/v1/sdk-key/rotate'
  const { status, body, headers } = await askApproveRepeat(api, tenant, method, url)
  expect(status).toBe(200)
  expect(headers['cache-control']).toBe('no-store')
  return Shown.parse(body).sdkKey
}
const whose = async (kind: 'sdk' | 'chk', key: string) =>
  (await knownClientKey(createClientKeyLookup(api.ledger.db), kind, key))?.tenantId
const keyEvents = async () =>
  (await eventsIn(ports().ledger, tenantStream(tenant.tenantId))).flatMap((entry) =>
    entry.readable && entry.event.type !== 'TenantCreated' ? [entry.event.type] : [],
  )
const secretsKept = async () => {
  const { rows } = await api.ledger.db.query<{ name: string }>(
    `select name from vault.secrets where tenant_id = $1 and name like 'sdk-key.%'`,
    [tenant.tenantId],
  )
  return rows.length
}

describe('the SDK key', () => {
  test('is created on the first read, and stays the same', async () => {
    const first = await shown('GET')
    expect(await shown('GET')).toBe(first)
    expect(await whose('sdk', first)).toBe(tenant.tenantId)
    expect(await keyEvents()).toStrictEqual(['SdkKeyIssued'])
  })

  test('is replaced by a rotation; the old key stops working at once', async () => {
    const first = await shown('GET')
    const second = await shown('POST')
    expect(second).not.toBe(first)
    expect(await whose('sdk', first)).toBeUndefined()
    expect(await whose('sdk', second)).toBe(tenant.tenantId)
    expect(await shown('GET')).toBe(second)
    expect(await secretsKept()).toBe(1)
  })

  test('is created by a rotation when there is none', async () => {
    const key = await shown('POST')
    expect(await shown('GET')).toBe(key)
  })

  test('is also shown to a suspended tenant', async () => {
    await suspendTenant(ports(), tenant.tenantId, null, origin)
    expect(await whose('sdk', await shown('POST'))).toBe(tenant.tenantId)
  })

  test.each(['GET', 'POST'] as const)(
    'is neither created nor shown before an approval (%s)',
    async (method) => {
      const url = method === 'GET' ? '/v1/sdk-key' : '/v1/sdk-key/rotate'
      const asked = await api.ask(method, url, { token: tenant.token })
      expect(asked.text).not.toContain('kl_sdk_')
      const approval = await showApproval(ports(), tenant.tenantId, pendingId(asked))
      expect(approval).toMatchObject({
        description: { summary: 'Create the first SDK key of “A tenant” and show it' },
        changedSinceRequest: false,
      })
      expect(await keyEvents()).toStrictEqual([])
      await shown('GET')
      expect(await showApproval(ports(), tenant.tenantId, pendingId(asked))).toMatchObject({
        changedSinceRequest: true,
      })
    },
  )

  test('is shown masked to the approver', async () => {
    const key = await shown('GET')
    const masked = `kl_sdk_…${key.slice(-4)}`
    const shownFor = async (method: 'GET' | 'POST', url: string) => {
      const id = pendingId(await api.ask(method, url, { token: tenant.token }))
      const { description, effect } = await showApproval(ports(), tenant.tenantId, id)
      return { ...description, sentences: effect?.sentences }
    }
    expect(await shownFor('GET', '/v1/sdk-key')).toStrictEqual({
      summary: `Show the SDK key ${masked} of “A tenant”`,
      sentences: [`The SDK key ${masked} is returned once, to the requester, and does not change`],
    })
    expect(await shownFor('POST', '/v1/sdk-key/rotate')).toStrictEqual({
      summary: `Rotate the SDK key ${masked} of “A tenant”`,
      sentences: [
        `The SDK key ${masked} stops working: apps that were built with it are rejected`,
        'The new key is returned once, to the requester',
      ],
    })
  })

  test('is never stored in plaintext', async () => {
    const key = await shown('GET')
    const events = await eventsIn(ports().ledger, tenantStream(tenant.tenantId))
    const { rows } = await api.ledger.db.query('select * from client_keys')
    const secrets = await api.ledger.db.query(
      `select name, encode(sealed, 'escape') as text from vault.secrets`,
    )
    const kept = JSON.stringify([events, rows, secrets.rows], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect(kept).toContain(key.slice(-4))
    expect(kept).not.toContain(key.slice(7))
  })

  test.each([
    ['integrations:read', 'GET', '/v1/sdk-key'],
    ['integrations:write', 'POST', '/v1/sdk-key/rotate'],
    ['integrations:write', 'PUT', '/v1/webhook'],
  ] as const)('needs %s and danger for %s %s', async (scope, method, url) => {
    const body = method === 'PUT' ? { url: null } : undefined
    for (const scopes of [[scope], ['danger']] as const) {
      const token = await tenant.tokenWith(...scopes)
      expect(await api.ask(method, url, { token, body })).toMatchObject({ status: 403 })
    }
    const token = await tenant.tokenWith(scope, 'danger')
    expect(await api.ask(method, url, { token, body })).toMatchObject({ status: 202 })
  })
})

describe('a repeated operation on the SDK key', () => {
  const reveal = (id: string) => revealSdkKey(ports(), tenant.tenantId, id, origin)
  const rotate = (id: string) => rotateSdkKey(ports(), tenant.tenantId, id, origin)

  test('continues with the stored secret when the first run stopped before the event', async () => {
    for (const run of [reveal, rotate]) {
      const dying = { ...ports(), execute: dieBeforeAppend() }
      const id = `cnf_${run.name}`
      const died = (run === reveal ? revealSdkKey : rotateSdkKey)(dying, tenant.tenantId, id, origin)
      await expect(died).rejects.toThrow('killed')
      const kept = await ports().secrets.open(tenant.tenantId, `sdk-key.${id}`)
      expect(kept).toMatch(/^kl_sdk_/)
      expect(await run(id)).toBe(kept)
      tenant = await makeTenant(api.ledger)
    }
  })

  test('shows the same key and records nothing when the first run was recorded', async () => {
    await reveal('cnf_1')
    const key = await rotate('cnf_2')
    for (let n = 0; n < 3; n++) expect(await rotate('cnf_2')).toBe(key)
    expect(await reveal('cnf_1')).toBe(key)
    expect(await keyEvents()).toStrictEqual(['SdkKeyIssued', 'SdkKeyRotated'])
  })

  test('destroys the previous key when the first run stopped before that', async () => {
    await reveal('cnf_1')
    const secrets = { ...ports().secrets, destroy: () => Promise.reject(new Error('killed')) }
    const dying = rotateSdkKey({ ...ports(), secrets }, tenant.tenantId, 'cnf_2', origin)
    await expect(dying).rejects.toThrow('killed')
    expect(await secretsKept()).toBe(2)
    expect(await whose('sdk', await rotate('cnf_2'))).toBe(tenant.tenantId)
    expect(await secretsKept()).toBe(1)
    expect(await keyEvents()).toStrictEqual(['SdkKeyIssued', 'SdkKeyRotated'])
  })

  test('shows the current key after another rotation and does not undo it', async () => {
    await rotate('cnf_1')
    const live = await rotate('cnf_2')
    expect(await rotate('cnf_1')).toBe(live)
    expect(await whose('sdk', live)).toBe(tenant.tenantId)
    expect(await secretsKept()).toBe(1)
  })

  test('makes one key when several processes run it concurrently', async () => {
    const racer = () => {
      const execute = createExecute(ports().ledger, api.ledger.readModels, createKeyedMutex())
      return rotateSdkKey({ ...ports(), execute }, tenant.tenantId, 'cnf_1', origin)
    }
    const keys = await Promise.all(Array.from({ length: 8 }, racer))
    expect(new Set(keys).size).toBe(1)
    expect(await keyEvents()).toStrictEqual(['SdkKeyIssued'])
  })

  test('creates one key when several first reads run concurrently', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, (_, n) => reveal(`cnf_${n}`)))
    expect(new Set(keys).size).toBe(1)
    expect(await keyEvents()).toStrictEqual(['SdkKeyIssued'])
  })

  test('needs a rotation when the vault has lost the key', async () => {
    await reveal('cnf_1')
    await ports().secrets.destroy(tenant.tenantId, 'sdk-key.cnf_1')
    await expect(reveal('cnf_2')).rejects.toThrow('sdk_key_lost')
    expect(await whose('sdk', await rotate('cnf_3'))).toBe(tenant.tenantId)
  })

  /** Reads the state, as every command does, and is killed before the append. */
  function dieBeforeAppend() {
    const { ledger } = ports()
    const dead = { ...ledger, append: () => Promise.reject(new Error('killed')) }
    return createExecute(dead, api.ledger.readModels, createKeyedMutex())
  }
})

describe('the checkout key', () => {
  const issue = async () => (await issueCheckoutKey(ports(), tenant.tenantId, origin)).checkoutKey

  test('is shown when it is issued, and replaces the previous one', async () => {
    const first = await issue()
    expect(first).toMatch(/^kl_chk_[0-9A-Za-z]{38}$/)
    expect(await whose('chk', first)).toBe(tenant.tenantId)
    const second = await issue()
    expect(await whose('chk', first)).toBeUndefined()
    expect(await whose('chk', second)).toBe(tenant.tenantId)
    expect(await keyEvents()).toStrictEqual(['CheckoutKeyIssued', 'CheckoutKeyRotated'])
  })

  test('is stored only as a hash', async () => {
    const key = await issue()
    const { rows } = await api.ledger.db.query('select 1 from vault.secrets where tenant_id = $1', [
      tenant.tenantId,
    ])
    expect(rows).toStrictEqual([])
    const events = await eventsIn(ports().ledger, tenantStream(tenant.tenantId))
    const text = JSON.stringify(events, (_, value: unknown) => (typeof value === 'bigint' ? '' : value))
    expect(text).not.toContain(key.slice(7))
  })

  test('is not accepted as an SDK key, nor an SDK key as a checkout key', async () => {
    const sdkKey = await shown('GET')
    const checkoutKey = await issue()
    expect(await whose('sdk', checkoutKey)).toBeUndefined()
    expect(await whose('chk', sdkKey)).toBeUndefined()
  })
})

describe('the lookup of a key', () => {
  test('returns its tenant and permissions', async () => {
    const find = createClientKeyLookup(api.ledger.db)
    const sdkKey = await shown('GET')
    const known = await knownClientKey(find, 'sdk', sdkKey)
    expect(known).toStrictEqual({
      tenantId: tenant.tenantId,
      kind: 'sdk',
      keyHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      tenantStatus: 'active',
      plan: 'unlimited',
      uncertain: false,
    })
    await suspendTenant(ports(), tenant.tenantId, null, origin)
    expect(await knownClientKey(find, 'sdk', sdkKey)).toMatchObject({ tenantStatus: 'suspended' })
  })

  test('is skipped for a malformed key', async () => {
    const sdkKey = await shown('GET')
    const asked: string[] = []
    const find = (hash: string) => {
      asked.push(hash)
      return Promise.resolve(undefined)
    }
    const wrong = sdkKey.slice(0, -1) + (sdkKey.endsWith('0') ? '1' : '0')
    for (const presented of ['', 'garbage', wrong, tenant.token]) {
      expect(await knownClientKey(find, 'sdk', presented)).toBeUndefined()
    }
    expect(asked).toStrictEqual([])
    await knownClientKey(find, 'sdk', sdkKey)
    expect(asked).toHaveLength(1)
  })

  test('is marked uncertain when the tenant has an event that cannot be read', async () => {
    const sdkKey = await shown('GET')
    const unreadable = {
      id: crypto.randomUUID(),
      type: 'SdkKeyRotated',
      contentType: 'application/json',
    } as const
    const position = await appendRaw(
      api.ledger,
      tenantStream(tenant.tenantId),
      [{ ...unreadable, data: {}, metadata: {} }],
      1n,
    )
    await api.ledger.readModels.advanceTo(position)
    const find = createClientKeyLookup(api.ledger.db)
    expect(await knownClientKey(find, 'sdk', sdkKey)).toMatchObject({ uncertain: true })
  })
})

test('the keys of a tenant are listed masked', async () => {
  const masked = () => readMaskedKeys(api.ledger.db, tenant.tenantId)
  expect(await masked()).toStrictEqual({ sdkKey: null, checkoutKey: null })
  const sdkKey = await shown('GET')
  const { checkoutKey } = await issueCheckoutKey(ports(), tenant.tenantId, origin)
  expect(await masked()).toStrictEqual({
    sdkKey: { displayKey: `kl_sdk_…${sdkKey.slice(-4)}`, issuedAt: beginning },
    checkoutKey: { displayKey: `kl_chk_…${checkoutKey.slice(-4)}`, issuedAt: beginning },
  })
})
