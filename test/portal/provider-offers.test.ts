/**
 * Guarantee: the sign-in page of the portal offers providers by the domain of an address alone, and names no organization. Where a provider
 * does not work, the mailed link does.
 */
import { describe, expect, test } from 'vitest'
import { removeProvider } from '../../src/commands/sign-in-providers.ts'
import type { Seen } from '../dashboard/client.ts'
import { origin, uniqueId } from '../harness/ledger.ts'
import { addTestProvider, organizationSettings } from '../harness/sign-in-providers.ts'
import { portalAtProvider } from './at-provider.ts'

const shop = portalAtProvider()
const { at, person, signIn } = shop
const visitor = () => shop.portal.visitor()

test('a provider that is not reachable gets a page with 503, and the link by mail works', async () => {
  const { ledger } = shop.portal.api
  const { tenantId } = shop.portal.tenant
  const gone = await shop.makeOrganization('buyer@away.example')
  const audience = { customerId: gone }
  const more = { audience, settings: { ...organizationSettings, domains: ['away.example'] } }
  await addTestProvider(ledger, tenantId, 'away', 'http://localhost:1', more)
  const seen = await visitor().get(at('away'))
  expect(seen).toMatchObject({ status: 503, headers: { 'retry-after': '60' } })
  expect(seen.text).toContain('Acme Login cannot be reached')
  await removeProvider(ledger.ports, tenantId, 'away', uniqueId('req'), origin)
})

describe('the sign-in page', () => {
  const ask = async (fields: Record<string, string>) => {
    const client = visitor()
    await client.get(`${shop.portal.home}/sign-in`)
    return client.post(`${shop.portal.home}/sign-in`, fields)
  }

  test('offers the provider of all customers, and names no organization', async () => {
    const { text } = await visitor().get(`${shop.portal.home}/sign-in`)
    expect(text).toContain(`href="${at('everyone')}"`)
    expect(text).toContain('Sign in with Everyone')
    expect(text).not.toContain('Acme Login')
  })

  test('offers a provider by the domain of the address alone, known or not', async () => {
    const email = person({})
    await signIn()
    const plain = ({ status, text }: Seen, typed: string) => ({
      status,
      text: text.replaceAll(typed, 'ADDRESS').replace(/name="_csrf" value="[^"]+"/g, ''),
    })
    const known = await ask({ email })
    expect(known.text).toContain(`href="${at()}"`)
    expect(known.text).toContain(`href="${at('everyone')}"`)
    const unknown = await ask({ email: 'nobody@ACME.example' })
    expect(plain(unknown, 'nobody@ACME.example')).toStrictEqual(plain(known, email))
    expect(shop.portal.mailsTo(email)).toStrictEqual([])
    expect((await ask({ email: 'nobody@sub.acme.example' })).text).toContain('Check your inbox')
  })

  test('mails a link all the same to who wants one', async () => {
    const email = person({})
    await signIn()
    const seen = await ask({ email, by: 'link' })
    expect(seen.text).toContain('Check your inbox')
    await expect.poll(() => shop.portal.mailsTo(email)).toHaveLength(1)
  })
})

test('a sign-in leads on to what was scanned before it, once', async () => {
  const client = visitor()
  client.cookies.set('keyledger-portal-scanned', 'v4.public.scanned')
  expect(await signIn(client)).toMatchObject({
    status: 303,
    location: `${shop.portal.home}/file?request=v4.public.scanned`,
  })
  expect(await signIn(client)).toMatchObject({ status: 303, location: shop.portal.home })
})

test('a link to a person who is gone, which a race with an erasure leaves, is replaced', async () => {
  person({})
  const { db } = shop.portal.api.ledger
  expect((await signIn()).status).toBe(303)
  await db.query(`update vault.customer_identities set subject_id = 'sub_gone'`)
  expect((await signIn()).status).toBe(303)
  const { rowCount } = await db.query(
    `select from vault.customer_identities i join vault.subject_keys k using (tenant_id, subject_id)`,
  )
  expect(rowCount).toBe(1)
})
