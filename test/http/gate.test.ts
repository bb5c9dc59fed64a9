/**
 * Guarantee: a gated operation executes exactly once, after a person has approved exactly that request; it does not
 * execute before the approval, after a denial or an expiry, or for another request or token.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { confirmationStream, licenseStream } from '../../src/domain/streams.ts'
import { approve, deny, showApproval, withdraw } from '../../src/gate/approvals.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { eventsIn } from '../harness/ledger.ts'
import { makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const Pending = z.strictObject({
  confirmation: z.strictObject({
    id: z.string().regex(/^cnf_[0-9a-hjkmnp-tv-z]{26}$/),
    status: z.literal('pending'),
    approveUrl: z.string(),
    expiresInSeconds: z.int(),
  }),
})
const pendingId = ({ status, body }: Answer): string => {
  expect(status).toBe(202)
  return Pending.parse(body).confirmation.id
}

const person = { requestId: 'req_person', actor: 'member:mem_1' }
const ports = () => api.ledger.ports
const approved = async (id: string) => {
  await approve(ports(), tenant.tenantId, id, person)
  return id
}

type Options = { token?: string; confirmation?: string | undefined; body?: unknown; query?: string }
const revoke = (id: string, { token, confirmation, body, query = '' }: Options = {}) =>
  api.ask('POST', `/v1/licenses/${id}/revoke${query}`, {
    token: token ?? tenant.token,
    body,
    headers: confirmation === undefined ? {} : { 'x-service-confirmation': confirmation },
  })
const poll = (id: string, token = tenant.token) => api.ask('GET', `/v1/confirmations/${id}`, { token })
const license = async () => (await mint(api.ask, tenant.token, 'editor')).id
const statusOf = async (id: string) => {
  const { body } = await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })
  return z.object({ license: z.looseObject({ status: z.string() }) }).parse(body).license.status
}
const kept = async (confirmation: string) =>
  ports().secrets.open(tenant.tenantId, `confirmation.${confirmation}`)
const answered = ({ status, body }: Answer) => ({ status, body })

describe('an approved request', () => {
  test('is executed when it is sent again with the confirmation, and not before', async () => {
    const id = await license()
    const first = await revoke(id, { body: { reason: 'charged back' } })
    const confirmation = pendingId(first)
    expect(first.body).toStrictEqual({
      confirmation: {
        id: confirmation,
        status: 'pending',
        approveUrl: `http://localhost:8080/dashboard/approvals/${confirmation}`,
        expiresInSeconds: 600,
      },
    })
    expect(await statusOf(id)).toBe('active')
    expect(answered(await poll(confirmation))).toStrictEqual({
      status: 200,
      body: { id: confirmation, status: 'pending', expiresInSeconds: 600 },
    })
    await approved(confirmation)
    const polled = await poll(confirmation)
    expect(polled.headers['retry-after']).toBe('2')
    expect(polled.body).toStrictEqual({ id: confirmation, status: 'approved', expiresInSeconds: 0 })
    expect(await statusOf(id)).toBe('active')

    const second = await revoke(id, { body: { reason: 'charged back' }, confirmation })
    expect(second).toMatchObject({ status: 200, body: { license: { id, status: 'revoked' } } })
    expect(await statusOf(id)).toBe('revoked')
    expect((await poll(confirmation)).body).toMatchObject({ status: 'approved' })
  })
})

describe('a gated request is not executed', () => {
  /** Each gets a response other than 2xx, and the license stays active. */
  const refused = async (message: string, id: string, options: Options) => {
    expect(answered(await revoke(id, options))).toStrictEqual({ status: 403, body: { error: message } })
    expect(await statusOf(id)).toBe('active')
  }

  test('while the confirmation is pending', async () => {
    const id = await license()
    const confirmation = pendingId(await revoke(id))
    await refused('the confirmation is not approved yet; poll it until it is', id, { confirmation })
    await approved(confirmation)
    expect(await revoke(id, { confirmation })).toMatchObject({ status: 200 })
  })

  test('when the confirmation was denied', async () => {
    const id = await license()
    const confirmation = pendingId(await revoke(id))
    await deny(ports(), tenant.tenantId, confirmation, person)
    expect((await poll(confirmation)).body).toStrictEqual({
      id: confirmation,
      status: 'denied',
      expiresInSeconds: 0,
    })
    await refused('the confirmation was denied', id, { confirmation })
  })

  test('when the confirmation has expired after exactly 10 minutes', async () => {
    const id = await license()
    const confirmation = pendingId(await revoke(id))
    api.ledger.clock.advance(599_999)
    expect((await poll(confirmation)).body).toMatchObject({ status: 'pending', expiresInSeconds: 1 })
    api.ledger.clock.advance(1)
    expect((await poll(confirmation)).body).toMatchObject({ status: 'expired', expiresInSeconds: 0 })
    await refused('the confirmation has expired; send the request without it to get a new one', id, {
      confirmation,
    })
    await expect(approved(confirmation)).rejects.toMatchObject({ code: 'confirmation_expired' })
  })

  test('when the approval is exactly one hour old', async () => {
    const id = await license()
    const confirmation = await approved(pendingId(await revoke(id)))
    api.ledger.clock.advance(3_599_999)
    expect((await poll(confirmation)).body).toMatchObject({ status: 'approved' })
    api.ledger.clock.advance(1)
    expect((await poll(confirmation)).body).toStrictEqual({
      id: confirmation,
      status: 'expired',
      expiresInSeconds: 0,
    })
    await refused('the confirmation has expired; send the request without it to get a new one', id, {
      confirmation,
    })
  })

  test('when the approval was withdrawn; a used approval cannot be withdrawn', async () => {
    const id = await license()
    const confirmation = await approved(pendingId(await revoke(id)))
    await withdraw(ports(), tenant.tenantId, confirmation, person)
    await withdraw(ports(), tenant.tenantId, confirmation, person)
    expect((await poll(confirmation)).body).toMatchObject({ status: 'denied' })
    await refused('the confirmation was denied', id, { confirmation })
    expect(await kept(confirmation)).toBeUndefined()
    const used = await approved(pendingId(await revoke(id)))
    expect((await revoke(id, { confirmation: used })).status).toBe(200)
    await expect(withdraw(ports(), tenant.tenantId, used, person)).rejects.toMatchObject({
      code: 'confirmation_consumed',
    })
    const types = await eventsIn(ports().ledger, confirmationStream(confirmation))
    expect(types.at(-1)).toMatchObject({
      event: { type: 'ConfirmationWithdrawn', data: { by: 'member:mem_1' } },
    })
    const { items } = z
      .object({
        items: z.array(z.looseObject({ action: z.string(), confirmationId: z.string().nullable() })),
      })
      .parse((await api.ask('GET', '/v1/audit?action=withdrawn', { token: tenant.token })).body)
    expect(items.map(({ confirmationId }) => confirmationId)).toStrictEqual([confirmation])
  })

  test.each<[string, Options]>([
    ['another reason', { body: { reason: 'another' } }],
    ['no body', {}],
    ['an empty body', { body: {} }],
  ])('when the request has %s', async (_, options) => {
    const id = await license()
    const confirmation = await approved(pendingId(await revoke(id, { body: { reason: 'one' } })))
    const message = 'the confirmation is for a different request; repeat the original request exactly'
    await refused(message, id, { ...options, confirmation })
    const again = await revoke(id, { body: { reason: 'one' }, confirmation })
    expect(again.status).toBe(200)
  })

  test('when the request is for another license', async () => {
    const [asked, other] = [await license(), await license()]
    const confirmation = await approved(pendingId(await revoke(asked)))
    const message = 'the confirmation is for a different request; repeat the original request exactly'
    await refused(message, other, { confirmation })
  })

  const unknown = 'this token has no confirmation with this id; send the request without one'
  test('when another token of the same tenant requested it', async () => {
    const id = await license()
    const confirmation = await approved(pendingId(await revoke(id)))
    const token = await tenant.tokenWith('licenses:write', 'danger')
    await refused(unknown, id, { confirmation, token })
    expect(answered(await poll(confirmation, token))).toStrictEqual({
      status: 404,
      body: { error: 'confirmation not found' },
    })
  })

  test.each(['', 'cnf_1', 'cnf_00000000000000000000000000', 'lic_00000000000000000000000000', '\u00ff'])(
    'when the confirmation id is %j',
    async (confirmation) => refused(unknown, await license(), { confirmation }),
  )

  test('when the confirmation was already used', async () => {
    const id = await license()
    const confirmation = await approved(pendingId(await revoke(id)))
    expect(await revoke(id, { confirmation })).toMatchObject({ status: 200 })
    expect(answered(await revoke(id, { confirmation }))).toStrictEqual({
      status: 403,
      body: { error: 'the confirmation was already used; send the request without it to get a new one' },
    })
  })
})

describe('the order of refusals', () => {
  test('the scopes of the token are checked first', async () => {
    const token = await tenant.tokenWith('licenses:write')
    const id = 'lic_00000000000000000000000000'
    expect(answered(await revoke(id, { token, body: { nobody: 1 } }))).toStrictEqual({
      status: 403,
      body: { error: 'the token lacks the scope danger; create one that has it' },
    })
    const dangerous = await tenant.tokenWith('danger')
    expect((await revoke(id, { token: dangerous })).body).toStrictEqual({
      error: 'the token lacks the scope licenses:write; create one that has it',
    })
  })

  test('an invalid or impossible request opens no confirmation', async () => {
    const id = await license()
    const confirmation = await approved(pendingId(await revoke(id)))
    await revoke(id, { confirmation })
    const before = await confirmations()
    expect((await revoke(id)).status).toBe(409)
    expect((await revoke('lic_00000000000000000000000000')).status).toBe(404)
    expect((await revoke('%00')).status).toBe(404)
    expect((await revoke(id, { body: { reason: '' } })).status).toBe(400)
    expect((await revoke(id, { body: { why: 'x' } })).status).toBe(400)
    expect((await revoke(id, { body: { reason: '\ud800' } })).status).toBe(400)
    expect(await confirmations()).toBe(before)
  })

  test('a conflict is reported before any problem of the confirmation', async () => {
    const id = await license()
    const [first, second] = [pendingId(await revoke(id)), pendingId(await revoke(id))]
    await revoke(id, { confirmation: await approved(first) })
    expect(await revoke(id, { confirmation: second })).toMatchObject({ status: 409 })
    expect(await revoke(id, { confirmation: await approved(second) })).toMatchObject({ status: 409 })
    expect(await revoke(id, { confirmation: 'cnf_00000000000000000000000000' })).toMatchObject({
      status: 409,
    })
  })

  test('a GET of a gated POST returns 405', async () => {
    const id = await license()
    const { status, headers } = await api.ask('GET', `/v1/licenses/${id}/revoke`, { token: tenant.token })
    expect({ status, allow: headers.allow }).toStrictEqual({ status: 405, allow: 'POST' })
  })

  test('a deeply nested or non-finite body returns 400 on a route without a body schema', async () => {
    const id = await license()
    const remove = (raw: string) =>
      api.ask('DELETE', '/v1/products/editor/key-types/default', { token: tenant.token, raw })
    expect(await remove(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)).toMatchObject({ status: 400 })
    expect(await remove('[1e999]')).toMatchObject({ status: 400 })
    expect(await statusOf(id)).toBe('active')
  })

  const confirmations = async () => {
    const { rows } = await api.ledger.db.query<{ count: bigint }>('select count(*) from confirmations')
    return rows[0]?.count
  }
})

test("another tenant's confirmation gets the same response as an unknown one", async () => {
  const id = await license()
  const confirmation = await approved(pendingId(await revoke(id)))
  const stranger = await makeTenant(api.ledger)
  const absent = 'cnf_00000000000000000000000000'
  expect(answered(await poll(confirmation, stranger.token))).toStrictEqual(
    answered(await poll(absent, stranger.token)),
  )
  await makeProduct(api.ask, stranger.token, 'editor')
  const { id: own } = await mint(api.ask, stranger.token, 'editor')
  const used = (which: string) => revoke(own, { token: stranger.token, confirmation: which })
  const foreign = answered(await used(confirmation))
  expect(foreign.status).toBe(403)
  expect(foreign).toStrictEqual(answered(await used(absent)))
  for (const decide of [approve, deny, withdraw, showApproval] as const) {
    await expect(decide(ports(), stranger.tenantId, confirmation, person)).rejects.toMatchObject({
      code: 'confirmation_not_found',
    })
  }
})

describe('the storage of a gated request', () => {
  const secret = 'a reason that nobody else may read'

  test('seals the request until it is executed or denied, and then destroys it', async () => {
    const id = await license()
    const [denied, used] = [
      pendingId(await revoke(id, { body: { reason: secret } })),
      pendingId(await revoke(id, { body: { reason: secret } })),
    ]
    expect(await kept(denied)).toContain(secret)
    await deny(ports(), tenant.tenantId, denied, person)
    expect(await kept(denied)).toBeUndefined()
    await revoke(id, { body: { reason: secret }, confirmation: await approved(used) })
    expect(await kept(used)).toBeUndefined()
  })

  test('records the requester, the approver and the outcome in the log, without the body', async () => {
    const id = await license()
    const confirmation = pendingId(await revoke(id, { body: { reason: secret } }))
    await approved(confirmation)
    await revoke(id, { body: { reason: secret }, confirmation })
    const events = await eventsIn(ports().ledger, confirmationStream(confirmation))
    expect(JSON.stringify(events.map((entry) => entry.readable && entry.event))).not.toContain(secret)
    const actor = `token:${tenant.tokenId}`
    expect(
      events.map((entry) => (entry.readable ? [entry.event.type, entry.metadata.actor] : [])),
    ).toStrictEqual([
      ['ConfirmationRequested', actor],
      ['ConfirmationApproved', 'member:mem_1'],
      ['ConfirmationConsumed', actor],
      ['ConfirmationExecuted', actor],
    ])
    const [first] = events
    const requestId = first?.readable ? first.metadata.requestId : ''
    const caused = (await eventsIn(ports().ledger, licenseStream(id))).at(-1)
    expect(caused).toMatchObject({
      event: { type: 'LicenseRevoked' },
      metadata: { actor, causationId: confirmation, correlationId: requestId },
    })
  })
})
