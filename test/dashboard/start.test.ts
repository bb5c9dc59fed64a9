/**
 * Guarantee: the steps to the first validated license are ticked from what is there, show up on the home page until a
 * license was validated, and stay under Help.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectMarketplace, mapProduct } from '../../src/commands/integrations/integrations.ts'
import { newId } from '../../src/credentials/id.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { eventsIn, origin } from '../harness/ledger.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let owner: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  owner = clientOf(api.app)
  await owner.signIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
})
afterAll(() => api.close())

/** The titles of the steps that are done. */
async function done(path = '/dashboard'): Promise<string[]> {
  const { text } = await owner.get(path)
  return [...text.matchAll(/<li class="step done">.*?<summary>(.*?) <span/gs)].map(([, title = '']) => title)
}

const product = 'Create a product with a key type'
const provider = 'Connect a payment provider, or sell elsewhere'
const first = 'Make a test purchase, or issue a first license'
const validate = 'Validate a license'

test('each step is ticked by its fact, and the home page shows them until a license was validated', async () => {
  const { services } = api.ledger
  const { tenantId, token } = tenant
  expect(await done()).toStrictEqual([])
  await makeProduct(api.ask, token, 'editor', { keyTypes: [{ name: 'Pro' }] })
  expect(await done()).toStrictEqual([product])

  await connectMarketplace(services, tenantId, { provider: 'gumroad' }, 'op_connect', origin)
  const editor = await services.findProduct(tenantId, 'editor')
  if (!editor) throw new Error('the product is there')
  await mapProduct(services, editor, 'gumroad', { permalinks: ['editor'] }, origin)
  expect(await done()).toStrictEqual([product, provider])

  const page = await owner.get('/dashboard/start')
  const operation = /name="operation" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  const form = { product: 'editor', operation }
  expect((await owner.post('/dashboard/start/test-purchase', form)).status).toBe(303)
  const bought = async () =>
    (await api.ledger.db.query('select from test_purchases where tenant_id = $1', [tenantId])).rowCount
  await owner.post('/dashboard/start/test-purchase', form)
  expect(await bought()).toBe(1)
  const stages = await owner.get('/dashboard/start/test-purchase')
  expect(stages.text).toContain('hx-trigger="every 1s"')
  expect(stages.text).not.toContain('<html')

  const { licenseKey } = await mint(api.ask, token, 'editor', {})
  expect(await done()).toStrictEqual([product, provider, first])
  const body = { product_id: 'editor', license_key: licenseKey, device_id: 'laptop' }
  await api.ask('POST', '/v1/licenses/activate', { token, body: { ...body, name: 'Laptop' } })
  await api.ask('POST', '/v1/licenses/validate', { token, body })
  expect((await owner.get('/dashboard')).text).not.toContain('class="step')
  expect(await done('/dashboard/start')).toStrictEqual([product, provider, first, validate])
})

test('a product of another tenant cannot be bought', async () => {
  const other = await makeTenant(api.ledger)
  await makeProduct(api.ask, other.token, 'foreign')
  await owner.get('/dashboard/start')
  expect(
    (await owner.post('/dashboard/start/test-purchase', { product: 'foreign', operation: newId('req') }))
      .status,
  ).toBe(404)
})

test('selling elsewhere ticks the step of the provider, and dismissed steps stay under Help', async () => {
  const { tenantId } = await makeTenant(api.ledger)
  const member = clientOf(api.app)
  await member.signIn(await makeMember(api.ledger, tenantId, 'owner'))
  const ticked = '<li class="step done">'
  expect((await member.get('/dashboard')).text).not.toContain(ticked)
  await member.post('/dashboard/start/sell-elsewhere')
  await member.post('/dashboard/start/sell-elsewhere')
  const home = await member.get('/dashboard')
  expect(home.text).toContain(ticked)
  expect(home.text).not.toContain('I sell elsewhere')
  await member.post('/dashboard/start/dismiss')
  await member.post('/dashboard/start/dismiss')
  expect((await member.get('/dashboard')).text).not.toContain('class="step')
  expect((await member.get('/dashboard/start')).text).toContain(ticked)
  const recorded = await eventsIn(api.ledger.services.ledger, `tenant-${tenantId}`)
  expect(recorded.flatMap((entry) => (entry.readable ? entry.event.type : [])).slice(-2)).toStrictEqual([
    'SellingElsewhereChosen',
    'OnboardingDismissed',
  ])
})
