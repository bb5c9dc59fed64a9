/**
 * Guarantee: a vendor sees what each provider still lacks, and the mails that are kept without a mail server, which
 * only members with the permission can read.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issueCheckoutKey } from '../../src/commands/client-keys.ts'
import { changeProductWith } from '../../src/commands/products.ts'
import { newId } from '../../src/credentials/id.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { connectAccount } from '../harness/selling-api.ts'
import { makeProduct } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let owner: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro' }, { name: 'Team' }] })
  owner = await clientAs('owner', '192.0.2.1')
})
afterAll(() => api.close())

async function clientAs(role: 'owner' | 'auditor', address: string): Promise<Client> {
  const client = clientOf(api.app, address)
  await client.signIn(await makeMember(api.ledger, tenant.tenantId, role))
  return client
}

const post = (url: string, body: unknown) => api.ask('POST', url, { token: tenant.token, body })

/** What the page shows for one provider. */
async function shown(name: string): Promise<string> {
  const { text } = await owner.get('/dashboard/integrations')
  const part = new RegExp(`<h2>${name}</h2>.*?</section>`, 's').exec(text)?.[0] ?? ''
  return part.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
}

describe('integrations', () => {
  test('show what is missing until nothing is', async () => {
    expect(await shown('Polar')).toMatch(/not connected.*Not connected\. Connect/)
    await post('/v1/integrations/polar/connect', { webhookSecret: 'polar_whs_1' })
    expect(await shown('Polar')).toMatch(/connected, not ready.*No product is mapped/)
    await post('/v1/products/editor/integrations/polar', { products: { one: 'pro', two: 'team' } })
    expect(await shown('Polar')).toMatch(/ready.*\/webhooks\/polar\/.*Products.*one, two/)
    expect(await shown('Polar')).not.toContain('Missing setup')
    await changeProductWith(api.ledger.ports, tenant.tenantId, 'editor', origin, (at) => ({
      type: 'DeleteKeyType',
      keyTypeId: 'team',
      inUse: false,
      at,
    }))
    expect(await shown('Polar')).toContain(
      'The mapping of editor points to a product or key type that no longer exists',
    )
  })

  test('tell what the card provider needs, and its operator where an account was connected through the platform', async () => {
    const text = await shown('Stripe')
    for (const words of ['Not connected', 'No key type has a price', 'Your website has no checkout key']) {
      expect(text).toContain(words)
    }
    expect(text).not.toContain('KEYLEDGER_STRIPE')
    await connectAccount(api.ledger.ports, tenant.tenantId, 'acct_1')
    const connected = await shown('Stripe')
    for (const words of ['KEYLEDGER_STRIPE_SECRET_KEY', 'KEYLEDGER_STRIPE_WEBHOOK_SECRET']) {
      expect(connected).toContain(words)
    }
    await issueCheckoutKey(api.ledger.ports, tenant.tenantId, origin)
    expect(await shown('Stripe')).not.toContain('Your website has no checkout key')
  })

  test('show that Paddle needs an API key for email addresses', async () => {
    await post('/v1/integrations/paddle/connect', { webhookSecret: 'pdl_1' })
    expect(await shown('Paddle')).toContain('needs an API key')
  })
})

describe('the mailbox', () => {
  const deliveryId = newId('whd')
  const secret = 'ACME-AAAAA-BBBBB'
  beforeAll(() =>
    api.ledger.ports.mailing.mailer.send({
      tenantId: tenant.tenantId,
      deliveryId,
      at: '2026-03-01T12:00:00.000Z',
      from: { name: 'Acme', email: 'licenses@acme.example' },
      replyTo: null,
      to: { name: 'Ada', email: 'ada@example.com' },
      subject: 'Your key <b>',
      text: secret,
      html: `<p style="color:red">${secret}</p><script>alert(1)</script>`,
    }),
  )
  const path = `/dashboard/mailbox/${deliveryId}`

  test('shows the mails that would have been sent', async () => {
    expect((await owner.get('/dashboard')).text).toContain('href="/dashboard/mailbox"')
    const list = await owner.get('/dashboard/mailbox')
    expect(list.text).toContain(`href="${path}"`)
    expect(list.text).toContain('Your key &lt;b>')
    expect(list.text).not.toContain(secret)
    expect((await owner.get(path)).text).toContain(secret)
  })

  test('shows HTML without any effect', async () => {
    const { status, headers, text } = await owner.get(`${path}/html`)
    expect(status).toBe(200)
    expect(text).toContain('<p style="color:red">')
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox",
    )
    expect(headers['cache-control']).toBe('no-store')
  })

  test('is only shown to members who may configure mail, and not to other workspaces', async () => {
    const auditor = await clientAs('auditor', '192.0.2.2')
    expect((await auditor.get('/dashboard')).text).not.toContain('href="/dashboard/mailbox"')
    for (const url of ['/dashboard/mailbox', path, `${path}/html`])
      expect((await auditor.get(url)).status).toBe(403)
    const { tenantId } = await makeTenant(api.ledger)
    const stranger = clientOf(api.app, '192.0.2.3')
    await stranger.signIn(await makeMember(api.ledger, tenantId, 'owner'))
    expect((await stranger.get('/dashboard/mailbox')).text).not.toContain(deliveryId)
    expect((await stranger.get(path)).status).toBe(404)
    expect((await stranger.get(`${path}/html`)).status).toBe(404)
  })
})
