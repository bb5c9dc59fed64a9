/**
 * Guarantee: a vendor creates the endpoint at a provider with one form and a key, by the rules of the API. What keeps it
 * from being created is said in words, and no key is shown again.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findIntegration } from '../../projections/integrations.ts'
import type { ProviderWithApi } from '../../src/domain/integrations/provider.ts'
import { paymentProviders } from '../../src/payments/registry.ts'
import { makeTenant, type TestTenant } from '../harness/api.ts'
import { endpointsAt } from '../harness/endpoints.ts'
import { barelyKey, goodKey } from '../harness/providers.ts'
import { openSellingApi, type SellingApi } from '../harness/selling-api.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

const baseUrl = 'https://licenses.example.com'

let api: SellingApi
let tenant: TestTenant
let member: Client
let ownKey: string
let visits = 0
beforeAll(async () => {
  api = await openSellingApi({ baseUrl })
})
afterAll(() => api.close())
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  ownKey = `rk_live_page_${++visits}`
  api.standIns.stripe.keys.add(ownKey)
  api.standIns.polar.health = 'well'
  member = clientOf(api.app, `192.0.2.${visits}`)
  await member.signIn(await makeMember(api.ledger, tenant.tenantId, 'developer'))
})

const path = (provider: string) => `/dashboard/integrations/${provider}`
const addressOf = (provider: ProviderWithApi) =>
  provider === 'stripe'
    ? `${baseUrl}/api/stripe/webhook/${tenant.tenantId}`
    : `${baseUrl}/webhooks/${provider}/${tenant.tenantId}`
const there = (provider: ProviderWithApi) =>
  endpointsAt(api.standIns[provider].endpoints, addressOf(provider))
const statusOf = async (provider: ProviderWithApi) =>
  (await findIntegration(api.ledger.db, tenant.tenantId, provider))?.status

async function send(provider: ProviderWithApi, endpointKey: string, more: Record<string, string> = {}) {
  const { operation = '' } = fieldsOf(await member.get(path(provider)))
  return member.post(`${path(provider)}/endpoint`, { operation, endpointKey, ...more })
}

test.each([
  ['stripe', 'Stripe'],
  ['polar', 'Polar'],
] as const)('%s is connected with a key alone, beside the manual way', async (provider, name) => {
  const shown = await member.get(path(provider))
  expect(wordsOf(shown)).toContain(`Create the endpoint at ${name}`)
  expect(wordsOf(shown)).toContain('Or set it up by hand')
  const { operation = '' } = fieldsOf(shown)
  const form = { operation, endpointKey: provider === 'stripe' ? ownKey : goodKey }
  for (let sent = 0; sent < 2; sent++)
    expect(await member.post(`${path(provider)}/endpoint`, form)).toMatchObject({
      status: 303,
      location: path(provider),
    })
  expect(there(provider)).toHaveLength(1)
  expect(wordsOf(await member.get(path(provider)))).toContain(`${name} is connected`)
})

test('disconnecting removes the endpoint, or says that it could not', async () => {
  expect(await send('polar', goodKey)).toMatchObject({ status: 303 })
  expect(wordsOf(await member.get(path('polar')))).toContain(
    'The endpoint that keyledger created at Polar is removed there.',
  )
  await member.post(`${path('polar')}/disconnect`)
  expect(there('polar')).toStrictEqual([])
  expect(wordsOf(await member.get(path('polar')))).toContain('and the endpoint was removed there.')
  await send('polar', goodKey)
  const id = there('polar')[0]?.id ?? ''
  api.standIns.polar.health = 'cut'
  await member.post(`${path('polar')}/disconnect`)
  expect(await statusOf('polar')).toBe('disconnected')
  expect(wordsOf(await member.get(path('polar')))).toContain(
    `did not remove the endpoint ${id}. Remove it at Polar.`,
  )
})

test('Gumroad offers no such form', async () => {
  expect((await member.get(path('gumroad'))).text).not.toContain('/endpoint"')
  expect((await member.post(`${path('gumroad')}/endpoint`)).status).toBe(422)
})

describe('the form is shown again', () => {
  test('with a box to replace an endpoint whose secret is unknown', async () => {
    const manual = { id: `manual_${visits}`, secret: 'by_hand', enabled: true, store: '1' }
    const events = [...paymentProviders.stripe.events]
    api.standIns.stripe.endpoints.set(manual.id, { ...manual, url: addressOf('stripe'), events })
    const refused = await send('stripe', ownKey)
    expect(refused.status).toBe(422)
    expect(wordsOf(refused)).toContain('already has an endpoint with this address')
    expect(wordsOf(refused)).toContain('Replace the endpoint at Stripe')
    expect(refused.text).not.toContain(ownKey)
    const unchecked = await send('stripe', ownKey)
    expect(unchecked.status).toBe(422)
    expect(await send('stripe', ownKey, { endpointReplace: 'on' })).toMatchObject({ status: 303 })
    expect(there('stripe')).toHaveLength(1)
    expect(there('stripe')[0]?.id).not.toBe(manual.id)
  })

  test.each([
    ['wrong', 'rejects the key'],
    [barelyKey, 'This key lacks one of the permissions that are listed above.'],
    ['', 'Paste the key'],
  ])('with what is wrong with the key %j', async (key, words) => {
    const answer = await send('polar', key)
    expect(answer.status).toBe(422)
    expect(wordsOf(answer)).toContain(words)
    expect(answer.text).toMatch(/id="endpointKey-error"/)
    if (key !== '') expect(answer.text).not.toContain(`"${key}"`)
    expect(await statusOf('polar')).toBeUndefined()
  })

  test('when the provider does not answer', async () => {
    api.standIns.polar.health = 'cut'
    const answer = await send('polar', goodKey)
    expect(answer.status).toBe(422)
    expect(wordsOf(answer)).toContain('Polar does not respond; nothing was changed, so retry.')
    expect(there('polar')).toStrictEqual([])
  })

  test('with the stores of an account that has several, and what was typed', async () => {
    const { stores } = api.standIns.lemonsqueezy
    stores.set('2', 'Other')
    const answer = await send('lemonsqueezy', goodKey, { endpointStore: '7' })
    stores.delete('2')
    expect(answer.status).toBe(422)
    expect(wordsOf(answer)).toContain('1 (Acme), 2 (Other)')
    expect(fieldsOf(answer)).toMatchObject({ endpointStore: '7' })
  })
})
