/**
 * Guarantee: an approval rotates a provider's secret once, despite kills; the previous secret is destroyed, and
 * Gumroad's new URL is in one response only.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { rotateSecret } from '../../../src/commands/integrations/integrations.ts'
import { sha256 } from '../../../src/credentials/sha256.ts'
import type { Provider } from '../../../src/domain/integrations/provider.ts'
import { integrationStream } from '../../../src/domain/streams.ts'
import { approve, showApproval } from '../../../src/gate/approvals.ts'
import { confirmationProcesses } from '../../../src/reactions/confirmations.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { approver, askApproveRepeat, confirmed, pendingId } from '../../harness/gate.ts'
import { eventsIn, origin } from '../../harness/ledger.ts'
import { makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
})

const PingUrl = z.object({ pingUrl: z.string() })
const ask = (provider: string, body?: unknown) =>
  api.ask('POST', `/v1/integrations/${provider}/rotate-secret`, { token: tenant.token, body })
const connect = async (provider: string, body?: unknown) =>
  (await api.ask('POST', `/v1/integrations/${provider}/connect`, { token: tenant.token, body })).body
const tokenOf = (body: unknown) => new URL(PingUrl.parse(body).pingUrl).searchParams.get('token') ?? ''
const path = (provider: Provider) => `/v1/integrations/${provider}/rotate-secret`

async function recorded(provider: Provider) {
  const entries = await eventsIn(api.ledger.ports.ledger, integrationStream(tenant.tenantId, provider))
  return entries.map((entry) => (entry.readable ? entry.event.type : entry.problem))
}
/** The hash with which a ping's token is compared. */
async function pingHash(): Promise<string | undefined> {
  const { rows } = await api.ledger.db.query<{ hash: string }>(
    `select state->'credentials'->'pingToken'->>'hash' as hash from integrations where tenant_id = $1`,
    [tenant.tenantId],
  )
  return rows[0]?.hash
}
async function kept(provider: Provider): Promise<string[]> {
  const { rows } = await api.ledger.db.query<{ name: string }>(
    'select name from vault.secrets where tenant_id = $1 and name like $2 order by name',
    [tenant.tenantId, `integration.${provider}.%`],
  )
  const values = await Promise.all(
    rows.map(({ name }) => api.ledger.ports.secrets.open(tenant.tenantId, name)),
  )
  return values.map(String)
}

test('a rotation changes nothing before its approval', async () => {
  const first = tokenOf(await connect('gumroad'))
  expect(await ask('gumroad')).toMatchObject({ status: 202, body: { confirmation: { status: 'pending' } } })
  expect(await recorded('gumroad')).toStrictEqual(['MarketplaceConnected'])
  expect(await kept('gumroad')).toStrictEqual([first])
})

test('a rotation of Gumroad returns a ping URL with a new token', async () => {
  const first = tokenOf(await connect('gumroad'))
  const answer = await askApproveRepeat(api, tenant, 'POST', path('gumroad'))
  expect(answer).toMatchObject({
    status: 200,
    body: { integration: { provider: 'gumroad', connected: true } },
  })
  const second = tokenOf(answer.body)
  expect(second).not.toBe(first)
  expect(await pingHash()).toBe(sha256(second))
  expect(await kept('gumroad')).toStrictEqual([second])
  expect(await recorded('gumroad')).toStrictEqual(['MarketplaceConnected', 'PingTokenRotated'])
})

test.each(['lemonsqueezy', 'paddle', 'polar'] as const)(
  'a rotation of %s stores the secret that was sent',
  async (provider) => {
    await connect(provider, { webhookSecret: 'first_secret' })
    const body = { webhookSecret: 'second_secret' }
    const answer = await askApproveRepeat(api, tenant, 'POST', path(provider), { body })
    expect(answer).toMatchObject({ status: 200 })
    expect(Object.keys(answer.body as object)).toStrictEqual(['integration'])
    expect(await kept(provider)).toStrictEqual(['second_secret'])
    expect(await recorded(provider)).toStrictEqual(['MarketplaceConnected', 'WebhookSecretRotated'])
  },
)

test.each([
  ['ebay', undefined, 404, 'provider not found'],
  ['stripe', undefined, 422, 'ask the operator to set KEYLEDGER_STRIPE_WEBHOOK_SECRET'],
  ['gumroad', undefined, 409, 'connect it first'],
  ['gumroad', { webhookSecret: 'mine' }, 400, 'Gumroad has no webhook secret'],
  ['paddle', undefined, 400, 'webhookSecret: required'],
  ['paddle', {}, 400, 'webhookSecret: required'],
  ['paddle', { webhookSecret: 'a b' }, 400, 'visible characters'],
  ['paddle', { webhookSecret: 'a', apiKey: 'b' }, 400, 'unknown field'],
  ['paddle', { webhookSecret: 'a' }, 409, 'connect it first'],
])('a rotation of %s with %j opens no confirmation', async (provider, body, status, message) => {
  const { status: answered, body: said } = await ask(provider, body)
  expect({ answered, said }).toStrictEqual({
    answered: status,
    said: { error: expect.stringContaining(message) as string },
  })
})

test('a rotation also requires the scope danger', async () => {
  await connect('gumroad')
  const token = await tenant.tokenWith('integrations:write')
  expect(await api.ask('POST', path('gumroad'), { token })).toMatchObject({
    status: 403,
    body: { error: expect.stringContaining('danger') as string },
  })
})

test('the approver sees the effect and no secret', async () => {
  await connect('paddle', { webhookSecret: 'first_secret' })
  await makeProduct(api.ask, tenant.token, 'editor')
  const mapping = { prices: { pri_1: 'default' } }
  await api.ask('POST', '/v1/products/editor/integrations/paddle', { token: tenant.token, body: mapping })
  const id = pendingId(await ask('paddle', { webhookSecret: 'second_canary_secret' }))
  const approval = await showApproval(api.ledger.ports, tenant.tenantId, id)
  expect(approval).toMatchObject({
    title: "Rotate a payment provider's secret",
    description: { summary: 'Rotate the secret of the connection to paddle' },
    effect: {
      sentences: [
        'The current secret of paddle stops working; 1 product is sold through it',
        'Notifications that paddle signs with the current secret are rejected at once',
      ],
    },
    changedSinceRequest: false,
  })
  expect(JSON.stringify(approval)).not.toContain('canary')
  expect(
    await askApproveRepeat(api, tenant, 'POST', path('paddle'), { body: { webhookSecret: 'third' } }),
  ).toMatchObject({ status: 200 })
  expect(await showApproval(api.ledger.ports, tenant.tenantId, id)).toMatchObject({
    changedSinceRequest: true,
  })
})

describe('a killed rotation', () => {
  /** Executes what a killed process had approved and consumed, as the next process does. */
  const resume = async () => {
    const failed: unknown[] = []
    const [resume] = confirmationProcesses(api.ledger.ports, {
      graceMs: 0,
      onFailure: (t) => failed.push(t),
    })
    api.ledger.clock.advance(1)
    await resume?.poll()
    expect(failed).toStrictEqual([])
  }

  test.each([
    ['before the vault was written', 'vault'],
    ['between the vault and the event', 'append'],
    ['between the event and the end of the confirmation', 'end'],
  ])('%s is completed once', async (_, at) => {
    await connect('gumroad')
    const confirmation = pendingId(await ask('gumroad'))
    await approve(api.ledger.ports, tenant.tenantId, confirmation, approver)
    const { ports } = api.ledger
    const { secrets, execute } = ports
    const killed = () => Promise.reject(new Error('the process was killed'))
    if (at === 'vault') ports.secrets = { ...secrets, keep: killed }
    ports.execute = (...args) => {
      const [{ category }] = args
      const stopsHere = at === 'append' ? 'integration' : at === 'end' ? 'confirmation' : 'nothing'
      // An earlier call consumes the confirmation; its end follows the integration's event.
      const isEnd = stopsHere === 'confirmation' && rotated
      if (category === stopsHere && (stopsHere !== 'confirmation' || isEnd)) return killed()
      if (category === 'integration') rotated = true
      return execute(...args)
    }
    let rotated = false
    expect(await confirmed(api.ask, tenant, 'POST', path('gumroad'), confirmation)).toMatchObject({
      status: 500,
    })
    ports.secrets = secrets
    ports.execute = execute

    await resume()
    expect(await recorded('gumroad')).toStrictEqual(['MarketplaceConnected', 'PingTokenRotated'])
    const [token = '', ...others] = await kept('gumroad')
    expect(others).toStrictEqual([])
    expect(await pingHash()).toBe(sha256(token))
    expect(await confirmed(api.ask, tenant, 'POST', path('gumroad'), confirmation)).toMatchObject({
      status: 403,
    })
  })
})

test('one operation rotates once when it runs 10 times concurrently and again later', async () => {
  await connect('gumroad')
  const { ports } = api.ledger
  const run = () => rotateSecret(ports, tenant.tenantId, { provider: 'gumroad' }, 'cnf_once', origin)
  const answers = await Promise.all(Array.from({ length: 10 }, run))
  expect(new Set(answers.map(({ pingToken }) => pingToken)).size).toBe(1)
  expect(await recorded('gumroad')).toStrictEqual(['MarketplaceConnected', 'PingTokenRotated'])
  const other = await rotateSecret(ports, tenant.tenantId, { provider: 'gumroad' }, 'cnf_other', origin)
  // Its token is rotated meanwhile, and not returned again.
  expect((await run()).pingToken).toBeUndefined()
  expect(await kept('gumroad')).toStrictEqual([other.pingToken])
  expect(await recorded('gumroad')).toHaveLength(3)
})
