/**
 * Guarantee: each step to the first validated license is ticked when the vendor has done that thing, and by nothing else: what is
 * tried with the product of the first start ticks none. What was done stays done. The steps show up on the home page until a
 * license was validated, and stay under Help.
 */
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findTenant } from '../../projections/tenants.ts'
import { greet } from '../../src/app/start/first-start.ts'
import { connectMarketplace, mapProduct } from '../../src/commands/integrations/integrations.ts'
import { revokeLicense } from '../../src/commands/licenses/licenses.ts'
import { parseConfig } from '../../src/config.ts'
import { newId } from '../../src/credentials/id.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { eventsIn, origin, temporaryDirectory } from '../harness/ledger.ts'
import { sdkKeyOf } from '../http/apps.ts'
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
async function done(path = '/dashboard', of = owner): Promise<string[]> {
  const { text } = await of.get(path)
  return [...text.matchAll(/<li class="step done">.*?<summary>(.*?) <span/gs)].map(([, title = '']) => title)
}

const named = 'Name your workspace'
const product = 'Create a product with a key type'
const provider = 'Connect a payment provider, or sell elsewhere'
const first = 'Make a test purchase, or issue a first license'
const sdkKey = 'Put the SDK key into your app'
const validate = 'Validate a license'

/** The last step done is written in batches. */
const written = () => Promise.all([api.ledger.ports.usage.flush(), api.ledger.ports.tokenUse.flush()])

test('each step is ticked by its fact alone, and the home page shows them until a license was validated', async () => {
  const { ports } = api.ledger
  const { tenantId, token } = tenant
  expect(await done()).toStrictEqual([named])
  await makeProduct(api.ask, token, 'editor', { keyTypes: [{ name: 'Pro' }] })
  expect(await done()).toStrictEqual([named, product])

  const { id, licenseKey } = await mint(api.ask, token, 'editor', {})
  expect(await done()).toStrictEqual([named, product, first])
  // A license that has ended was issued all the same.
  await revokeLicense(ports, tenantId, id, null, origin)
  expect(await done()).toStrictEqual([named, product, first])

  await connectMarketplace(ports, tenantId, { provider: 'gumroad' }, 'op_connect', origin)
  expect(await done()).toStrictEqual([named, product, provider, first])

  const key = await sdkKeyOf(api.ledger, tenantId)
  expect(await done()).toStrictEqual([named, product, provider, first])
  const app = { 'x-service-sdk-key': key }
  const config = await api.ask('GET', `/${tenantId}/editor/config`, { headers: app })
  expect(config.status).toBe(200)
  await written()
  expect(await done()).toStrictEqual([named, product, provider, first, sdkKey])

  const { licenseKey: other } = await mint(api.ask, token, 'editor', {})
  const body = { product_id: 'editor', license_key: other, device_id: 'laptop' }
  await api.ask('POST', '/v1/licenses/activate', { token, body: { ...body, name: 'Laptop' } })
  await api.ask('POST', '/v1/licenses/validate', { token, body: { ...body, license_key: licenseKey } })
  await written()
  expect(await done()).toStrictEqual([named, product, provider, first, sdkKey])
  await api.ask('POST', '/v1/licenses/validate', { token, body })
  await written()
  expect((await owner.get('/dashboard')).text).not.toContain('class="step')
  const all = [named, product, provider, first, sdkKey, validate]
  expect(await done('/dashboard/start')).toStrictEqual(all)
  api.ledger.clock.advance(60 * 86_400_000)
  owner = clientOf(api.app)
  await owner.signIn(await makeMember(api.ledger, tenantId, 'owner'))
  expect(await done('/dashboard/start')).toStrictEqual(all)
})

test('a form that is sent twice starts one test purchase', async () => {
  const { ports } = api.ledger
  const { tenantId, token } = await makeTenant(api.ledger)
  const buyer = clientOf(api.app)
  await buyer.signIn(await makeMember(api.ledger, tenantId, 'owner'))
  await makeProduct(api.ask, token, 'editor', { keyTypes: [{ name: 'Pro' }] })
  await connectMarketplace(ports, tenantId, { provider: 'gumroad' }, 'op_connect', origin)
  const editor = await ports.findProduct(tenantId, 'editor')
  if (!editor) throw new Error('the product is there')
  await mapProduct(ports, editor, 'gumroad', { permalinks: ['editor'] }, origin)
  const page = await buyer.get('/dashboard/start')
  const operation = /name="operation" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  const form = { product: 'editor', operation }
  expect((await buyer.post('/dashboard/start/test-purchase', form)).status).toBe(303)
  await buyer.post('/dashboard/start/test-purchase', form)
  const bought = await api.ledger.db.query('select from test_purchases where tenant_id = $1', [tenantId])
  expect(bought.rowCount).toBe(1)
  const stages = await buyer.get('/dashboard/start/test-purchase')
  expect(stages.text).toContain('hx-trigger="every 1s"')
  expect(stages.text).not.toContain('<html')
  // It runs, and has not succeeded.
  expect(await done('/dashboard/start', buyer)).toStrictEqual([named, product, provider])
})

test("the calls of the README on a first start's product tick no step, and `--name` ticks the first", async () => {
  const installation = await openTestApi()
  const dataDirectory = temporaryDirectory()
  try {
    const { ledger, ask } = installation
    const start = async (name?: string) => {
      const texts: string[] = []
      const print = async (text: string) => void texts.push(text)
      const config = parseConfig({ KEYLEDGER_DATA_DIR: dataDirectory })
      await greet(config, ledger, 'http://localhost:8080', print, name)
      return texts.join('')
    }
    const token = /kl_pat_\w+/.exec(await start())?.[0] ?? ''
    const { licenseKey } = await mint(ask, token, 'demo-app', { email: 'ada@example.com' })
    const body = { product_id: 'demo-app', license_key: licenseKey, device_id: 'laptop' }
    for (const call of ['activate', 'validate', 'deactivate'])
      await ask('POST', `/v1/licenses/${call}`, {
        token,
        body: { ...body, ...(call === 'activate' && { name: 'Laptop' }) },
      })
    await Promise.all([ledger.ports.usage.flush(), ledger.ports.tokenUse.flush()])
    const member = clientOf(installation.app)
    await member.signIn(await makeMember(ledger, 'demo', 'owner'))
    expect(await done('/dashboard', member)).toStrictEqual([])
    const home = await member.get('/dashboard')
    expect(home.text).toContain('Name your workspace')

    // A later start keeps the name, and says how it is changed.
    expect(await start("Ada's Tools")).toContain(
      String.raw`npx keyledger tenant rename TENANT 'Ada'\''s Tools'`,
    )
    expect(await done('/dashboard', member)).toStrictEqual([])
    const saved = await member.post('/dashboard/settings/name', {
      name: ' Demo ',
      return: '/dashboard/start',
    })
    expect(saved).toMatchObject({ status: 303, location: '/dashboard/start' })
    expect(await done('/dashboard', member)).toStrictEqual([named])
    expect((await member.post('/dashboard/settings/name', { name: ' ' })).text).toContain('Enter a name.')
  } finally {
    await installation.close()
    rmSync(dataDirectory, { recursive: true })
  }
})

test('a first start with a name gives it to the workspace, and pages, mails and the portal use a new one', async () => {
  const installation = await openTestApi()
  const dataDirectory = temporaryDirectory()
  try {
    const { ledger, ask } = installation
    const config = parseConfig({ KEYLEDGER_DATA_DIR: dataDirectory })
    const texts: string[] = []
    const print = async (text: string) => void texts.push(text)
    await greet(config, ledger, 'http://localhost:8080', print, 'Acme Tools')
    const token = /kl_pat_\w+/.exec(texts.join(''))?.[0] ?? ''
    const member = clientOf(installation.app)
    await member.signIn(await makeMember(ledger, 'demo', 'owner'))
    expect(await done('/dashboard', member)).toStrictEqual([named])
    expect((await ask('GET', '/v1/workspace', { token })).body).toMatchObject({
      workspace: { tenantId: 'demo', name: 'Acme Tools', plan: 'unlimited', status: 'active' },
    })
    await ask('PUT', '/v1/portal', { token, body: { enabled: true } })
    const renamed = await ask('PATCH', '/v1/workspace', { token, body: { name: 'Acme & Sons' } })
    expect(renamed).toMatchObject({ status: 200, body: { workspace: { name: 'Acme & Sons' } } })
    for (const path of ['/dashboard', '/dashboard/settings', '/dashboard/account', '/portal/demo/sign-in'])
      expect((await member.get(path)).text).toContain('Acme &amp; Sons')
    expect((await findTenant(ledger.db, 'demo'))?.name).toBe('Acme & Sons')
    const refused = await ask('PATCH', '/v1/workspace', { token, body: { name: '' } })
    expect(refused.status).toBe(400)
  } finally {
    await installation.close()
    rmSync(dataDirectory, { recursive: true })
  }
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
  expect(await done('/dashboard', member)).toStrictEqual([named])
  await member.post('/dashboard/start/sell-elsewhere')
  await member.post('/dashboard/start/sell-elsewhere')
  expect(await done('/dashboard', member)).toStrictEqual([named, provider])
  expect((await member.get('/dashboard')).text).not.toContain('I sell elsewhere')
  await member.post('/dashboard/start/dismiss')
  await member.post('/dashboard/start/dismiss')
  expect((await member.get('/dashboard')).text).not.toContain('class="step')
  expect(await done('/dashboard/start', member)).toStrictEqual([named, provider])
  const recorded = await eventsIn(api.ledger.ports.ledger, `tenant-${tenantId}`)
  expect(recorded.flatMap((entry) => (entry.readable ? entry.event.type : [])).slice(-2)).toStrictEqual([
    'SellingElsewhereChosen',
    'OnboardingDismissed',
  ])
})
