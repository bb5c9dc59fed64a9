/**
 * Guarantee: license events go to the URL of an approved request, and only to public addresses over https. The
 * signing secret is returned once, when it is new; the previous one is valid for 24 hours; a repeated operation changes
 * nothing.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { findWebhook } from '../../../projections/webhooks.ts'
import { createKeyedMutex } from '../../../src/async/keyed-mutex.ts'
import { removeWebhook, setWebhook } from '../../../src/commands/webhooks.ts'
import { webhookStream } from '../../../src/domain/streams.ts'
import { showApproval } from '../../../src/gate/approvals.ts'
import { createExecute } from '../../../src/ledger/execute.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { askApproveRepeat, pendingId } from '../../harness/gate.ts'
import { beginning, eventsIn, origin } from '../../harness/ledger.ts'

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

const url = 'https://public.example.com/hook'
const all = [
  'license.created',
  'license.activated',
  'license.deactivated',
  'license.expired',
  'license.renewed',
  'license.updated',
  'license.refunded',
  'license.reinstated',
  'license.suspended',
  'license.resumed',
  'license.revoked',
  'license.reminted',
]
const ports = () => api.ledger.ports
const read = async () => {
  const { status, body } = await api.ask('GET', '/v1/webhook', { token: tenant.token })
  return { status, body }
}
const put = (body: unknown) => api.ask('PUT', '/v1/webhook', { token: tenant.token, body })
const approved = async (body: unknown) => {
  const answer = await askApproveRepeat(api, tenant, 'PUT', '/v1/webhook', { body })
  return { status: answer.status, body: answer.body }
}
const Secret = z.looseObject({ secret: z.string().regex(/^whsec_[A-Za-z0-9+/]{43}=$/) })
const secretIn = ({ body }: { body: unknown }) => Secret.parse(body).secret
const masked = (secret: string) => `whsec_…${secret.slice(-5, -1)}`
const events = async () =>
  (await eventsIn(ports().ledger, webhookStream(tenant.tenantId))).map((entry) =>
    entry.readable ? entry.event.type : '',
  )
const secretsKept = async () => {
  const { rows } = await api.ledger.db.query<{ name: string }>(
    `select name from vault.secrets where tenant_id = $1 and name like 'webhook-secret.%'`,
    [tenant.tenantId],
  )
  return rows.length
}

describe('webhook settings', () => {
  test('are null at first', async () =>
    expect(await read()).toStrictEqual({ status: 200, body: { webhook: null } }))

  test('are created with all events and a secret that is shown once', async () => {
    const answer = await approved({ url })
    const secret = secretIn(answer)
    const webhook = { url, events: all, secret: masked(secret), version: '2026-11-01', updatedAt: beginning }
    expect(answer).toStrictEqual({ status: 200, body: { webhook, secret } })
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
    expect(await read()).toStrictEqual({ status: 200, body: { webhook } })
  })

  test('keep their secret and events when the URL changes', async () => {
    const secret = secretIn(await approved({ url, events: ['license.revoked', 'license.created'] }))
    api.ledger.clock.advance(1000)
    const moved = 'https://public.example.com/elsewhere'
    expect(await approved({ url: moved })).toStrictEqual({
      status: 200,
      body: {
        webhook: {
          url: moved,
          events: ['license.created', 'license.revoked'],
          secret: masked(secret),
          version: '2026-11-01',
          updatedAt: '2026-03-01T12:00:01.000Z',
        },
      },
    })
    expect(await approved({ url: moved, events: all })).toMatchObject({ body: { webhook: { events: all } } })
  })

  test('record nothing when they are unchanged', async () => {
    await approved({ url })
    const before = await read()
    api.ledger.clock.advance(1000)
    expect(await approved({ url })).toStrictEqual(before)
    expect(await events()).toStrictEqual(['WebhookConfigured'])
  })

  test('are removed with their secrets; the next settings get a new secret', async () => {
    const secret = secretIn(await approved({ url }))
    expect(await approved({ url: null })).toStrictEqual({ status: 200, body: { webhook: null } })
    expect(await read()).toStrictEqual({ status: 200, body: { webhook: null } })
    expect(await secretsKept()).toBe(0)
    expect(await approved({ url: null })).toStrictEqual({ status: 200, body: { webhook: null } })
    expect(secretIn(await approved({ url }))).not.toBe(secret)
    expect(await events()).toStrictEqual(['WebhookConfigured', 'WebhookRemoved', 'WebhookConfigured'])
  })

  test('of another tenant are neither shown nor changed', async () => {
    await approved({ url })
    const mine = await read()
    const owner = tenant
    tenant = await makeTenant(api.ledger)
    expect(await read()).toStrictEqual({ status: 200, body: { webhook: null } })
    await approved({ url: null })
    tenant = owner
    expect(await read()).toStrictEqual(mine)
  })

  test('do not change before they are approved', async () => {
    expect(await put({ url })).toMatchObject({ status: 202 })
    expect(await read()).toStrictEqual({ status: 200, body: { webhook: null } })
    expect(await secretsKept()).toBe(0)
  })
})

describe('a rotation of the secret', () => {
  test('returns a new secret once and keeps the previous one for a day', async () => {
    const first = secretIn(await approved({ url }))
    const answer = await approved({ url, rotateSecret: true })
    const second = secretIn(answer)
    expect(second).not.toBe(first)
    expect(answer).toMatchObject({ body: { webhook: { url, secret: masked(second) } } })
    const { endpoint } = await findWebhook(api.ledger.db, tenant.tenantId)
    const kept = (operationId: string | undefined) =>
      ports().secrets.open(tenant.tenantId, `webhook-secret.${operationId}`)
    expect(await kept(endpoint?.secret.operationId)).toBe(second)
    expect(endpoint?.former?.validUntil).toBe('2026-03-02T12:00:00.000Z')
    expect(await kept(endpoint?.former?.operationId)).toBe(first)
  })

  test('keeps only the last two secrets; a change after a day destroys the previous one', async () => {
    await approved({ url })
    await approved({ url, rotateSecret: true })
    await approved({ url, rotateSecret: true })
    expect(await secretsKept()).toBe(2)
    api.ledger.clock.advance(86_400_000)
    await approved({ url: `${url}2` })
    expect(await secretsKept()).toBe(1)
  })
})

describe('a repeated operation on the webhook', () => {
  const set = (id: string, more = {}) =>
    setWebhook(ports(), tenant.tenantId, { url, events: undefined, rotateSecret: false, ...more }, id, origin)

  test('continues with the stored secret when the first run stopped before the event', async () => {
    const dead = { ...ports().ledger, append: () => Promise.reject(new Error('killed')) }
    const dying = { ...ports(), execute: createExecute(dead, api.ledger.readModels, createKeyedMutex()) }
    const asked = { url, events: undefined, rotateSecret: false }
    await expect(setWebhook(dying, tenant.tenantId, asked, 'cnf_1', origin)).rejects.toThrow('killed')
    const kept = await ports().secrets.open(tenant.tenantId, 'webhook-secret.cnf_1')
    expect(kept).toMatch(/^whsec_/)
    expect(await set('cnf_1')).toMatchObject({ secret: kept })
  })

  test('shows the same secret and records nothing when the first run was recorded', async () => {
    const first = await set('cnf_1')
    expect(await set('cnf_1')).toStrictEqual(first)
    const rotated = await set('cnf_2', { rotateSecret: true })
    expect(await set('cnf_2', { rotateSecret: true })).toStrictEqual(rotated)
    expect(await events()).toStrictEqual(['WebhookConfigured', 'WebhookSecretRotated'])
  })

  test('does not undo later changes', async () => {
    await set('cnf_1')
    const moved = await set('cnf_2', { url: `${url}2`, rotateSecret: true })
    const { secret: _, ...settings } = moved
    expect(await set('cnf_1')).toStrictEqual(settings)
    await removeWebhook(ports(), tenant.tenantId, 'cnf_3', origin)
    expect(await set('cnf_1')).toStrictEqual({ webhook: null })
    await set('cnf_4')
    await removeWebhook(ports(), tenant.tenantId, 'cnf_3', origin)
    expect(await findWebhook(api.ledger.db, tenant.tenantId)).toMatchObject({ endpoint: { url } })
  })

  test('sets one secret when several processes run it concurrently', async () => {
    const racer = () => {
      const execute = createExecute(ports().ledger, api.ledger.readModels, createKeyedMutex())
      const asked = { url, events: undefined, rotateSecret: false }
      return setWebhook({ ...ports(), execute }, tenant.tenantId, asked, 'cnf_1', origin)
    }
    const answers = await Promise.all(Array.from({ length: 8 }, racer))
    expect(new Set(answers.map(({ secret }) => secret)).size).toBe(1)
    expect(await events()).toStrictEqual(['WebhookConfigured'])
  })
})

describe('the approver', () => {
  const { host } = new URL(url)
  const shownToApprover = async (body: unknown) => {
    const { description, effect } = await showApproval(ports(), tenant.tenantId, pendingId(await put(body)))
    return { ...description, sentences: effect?.sentences }
  }

  test('sees the URL, the events, and the effect on the secret', async () => {
    expect(await shownToApprover({ url, events: ['license.created'] })).toStrictEqual({
      summary: `Deliver license events to ${host}`,
      target: { host, url },
      sentences: [
        `New webhook deliveries go to ${host}: license.created`,
        'Each license.created contains the raw license key of its sale',
        'Its signing secret is returned once, to the requester',
      ],
    })
    await approved({ url })
    expect(
      await shownToApprover({ url: `${url}2`, events: ['license.revoked'], rotateSecret: true }),
    ).toStrictEqual({
      summary: `Deliver license events to ${host}`,
      target: { host, url: `${url}2` },
      details: [
        ['URL now', url],
        ['Events', 'license.revoked'],
      ],
      sentences: [
        `The webhook endpoint at ${host} changes`,
        `Webhook deliveries go to another URL at ${host}`,
        expect.stringMatching(/^Events that it no longer gets: license\.created, /),
        `The signing secret of the webhook endpoint at ${host} is replaced; the current one also signs for another 24 hours`,
        'The new secret is returned once, to the requester',
      ],
    })
  })

  test.each([
    ['https://good.example\\@evil.example/', 'good.example'],
    ['https://good.example.evil.example/https://good.example/', 'good.example.evil.example'],
    ['https://xn--80ak6aa92e.com/', 'xn--80ak6aa92e.com'],
    ['https://\u0430\u0440\u0440\u04cf\u0435.com/apple.com', 'xn--80ak6aa92e.com'],
    ['https://GOOD.example:8443/a', 'good.example:8443'],
    ['https://good\u3002example/', 'good.example'],
  ])('sees the actual host: for %s it is %s', async (asked, parsed) => {
    expect(await shownToApprover({ url: asked })).toMatchObject({
      summary: `Deliver license events to ${parsed}`,
      target: { host: parsed, url: asked },
    })
  })

  test.each(['https://good.example@evil.example/', 'https://good.example%2F:x@evil.example/'])(
    'is never asked about a URL with credentials: %s',
    async (asked) => {
      expect(await put({ url: asked })).toMatchObject({ status: 422 })
    },
  )

  test('sees that deliveries stop', async () => {
    await approved({ url })
    expect(await shownToApprover({ url: null })).toStrictEqual({
      summary: `Stop delivering license events to ${host}`,
      sentences: [`Webhook deliveries to ${host} stop`, 'Its signing secret is destroyed'],
    })
  })

  test('is warned when the settings have changed since', async () => {
    const waiting = pendingId(await put({ url }))
    const changed = async () => (await showApproval(ports(), tenant.tenantId, waiting)).changedSinceRequest
    expect(await changed()).toBe(false)
    await approved({ url: `${url}2` })
    expect(await changed()).toBe(true)
  })
})

describe('a request to change the webhook', () => {
  const long = `${url}?${'a'.repeat(2048 - url.length - 1)}`

  test.each<[unknown, number, RegExp]>([
    [{}, 400, /^url (?:must|is) /],
    [{ url: 'hooks' }, 400, /must be a URL/],
    [{ url: `${url} ` }, 400, /without white space/],
    [{ url: 'https://public.\nexample.com' }, 400, /without white space/],
    [{ url: `${long}a` }, 400, /^url (?:must|is) /],
    [{ url, events: [] }, 400, /^events (?:must|is) /],
    [{ url, events: ['license.minted'] }, 400, /^events\[0\] must be one of /],
    [{ url, rotateSecret: 'yes' }, 400, /^rotateSecret (?:must|is) /],
    [{ url, secret: 'mine' }, 400, /^unknown field /],
    [{ url: 'http://public.example.com/' }, 422, /https:\/\//],
    [{ url: 'https://ada:secret@public.example.com/' }, 422, /user name or a password/],
    [{ url: 'https://127.0.0.1/' }, 422, /public address/],
    [{ url: 'https://[::ffff:93.184.215.14]/' }, 422, /public address/],
    [{ url: 'https://localhost:8443/' }, 422, /public address/],
    [{ url: 'https://private.example.com/' }, 422, /public address/],
    [{ url: 'https://rebinding.example.com/' }, 422, /public address/],
    [{ url: null, rotateSecret: true }, 422, /omit events and rotateSecret/],
    [{ url: null, events: ['license.created'] }, 422, /omit events and rotateSecret/],
  ])('with %j returns %i', async (body, status, message) => {
    const answer = await put(body)
    expect(answer.status).toBe(status)
    expect(z.object({ error: z.string() }).parse(answer.body).error).toMatch(message)
  })

  test.each([
    long,
    'https://not-yet-known.example.com/',
    'https://93.184.215.14:8443/a',
    'https://exämple.com/',
  ])('with the URL %s is accepted', async (fine) =>
    expect(await put({ url: fine })).toMatchObject({ status: 202 }),
  )
})

test('the secret is never stored in plaintext', async () => {
  const secret = secretIn(await approved({ url }))
  const log = await eventsIn(ports().ledger, webhookStream(tenant.tenantId))
  const { rows } = await api.ledger.db.query('select * from webhooks')
  const sealed = await api.ledger.db.query(`select name, encode(sealed, 'escape') as text from vault.secrets`)
  const kept = JSON.stringify([log, rows, sealed.rows], (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(kept).toContain(masked(secret))
  expect(kept).not.toContain(secret.slice(6, -5))
})
