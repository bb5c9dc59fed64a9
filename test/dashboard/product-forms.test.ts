/**
 * Guarantee: products and key types are created and changed on pages by the same rules as through the API; a form
 * that is sent twice has its effect once, and a member reads what an edit changes for existing licenses first.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let client: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  client = clientOf(api.app)
  await client.signIn(await makeMember(api.ledger, tenant.tenantId, 'admin'))
})
afterAll(() => api.close())

const productOf = async (id: string) => {
  const { body } = await api.ask('GET', `/v1/products/${id}`, { token: tenant.token })
  return (body as { product: Record<string, unknown> }).product
}

test('an empty workspace leads to the form of a product', async () => {
  const seen = await client.get('/dashboard/products')
  expect(wordsOf(seen)).toContain('No products yet')
  expect(seen.text).toContain('href="/dashboard/new-product"')
})

describe('a new product', () => {
  const more = (text: string) => /<details( open)?[^>]*>\s*<summary>More<\/summary>/.exec(text)

  test('asks for its name, its prefix and one key type; the rest is collapsed unless it is wrong', async () => {
    const asked = ({ text }: { text: string }, until = more(text)?.index) =>
      [
        ...text
          .slice(text.indexOf('<main'), until)
          .matchAll(/<(?:input|select|textarea)[^>]*\sname="([^"]+)"/g),
      ]
        .map(([, name]) => name)
        .filter((name) => name !== '_csrf' && name !== 'operation')
    const page = await client.get('/dashboard/new-product')
    const keyType = ['keyTypeName', 'deviceLimit', 'durationCount', 'durationUnit']
    expect(asked(page)).toStrictEqual(['name', 'keyPrefix', ...keyType])
    expect(more(page.text)?.[1]).toBeUndefined()
    const wrong = { ...fieldsOf(page), name: 'Paper', trialDurationDays: 'x' }
    expect(more((await client.post('/dashboard/products', wrong)).text)?.[1]).toBe(' open')
    const nameless = { ...fieldsOf(page), name: '' }
    expect(more((await client.post('/dashboard/products', nameless)).text)?.[1]).toBeUndefined()
    await makeProduct(api.ask, tenant.token, 'paper')
    expect(asked(await client.get('/dashboard/products/paper/new-key-type'))).toStrictEqual(keyType)
  })

  test('is created with its first key type, once for a form that is sent twice', async () => {
    const fields = {
      ...fieldsOf(await client.get('/dashboard/new-product')),
      name: 'Paint',
      trialDurationDays: '14',
      keyTypeName: 'Pro',
      deviceLimit: '3',
      durationCount: '2',
      durationUnit: 'month',
      onExpiry: 'fallback',
      entitlements: 'sync\nexport, sync',
      fallbackEntitlements: 'export',
      sellInMultiples: 'on',
      maxQuantity: '50',
    }
    for (let sent = 0; sent < 2; sent++) {
      const seen = await client.post('/dashboard/products', fields)
      expect(seen).toMatchObject({ status: 303, location: '/dashboard/products/paint' })
    }
    expect(await productOf('paint')).toMatchObject({
      name: 'Paint',
      keyPrefix: 'PAINT',
      settings: { freeTierEnabled: false, trialDurationDays: 14 },
      keyTypes: [
        {
          keyTypeId: 'pro',
          name: 'Pro',
          deviceLimit: 3,
          duration: { count: 2, unit: 'month' },
          onExpiry: 'fallback',
          entitlements: ['export', 'sync'],
          fallbackEntitlements: ['export'],
          sellInMultiples: true,
          maxQuantity: 50,
          price: null,
        },
      ],
    })
  })

  test('with a taken ID or wrong fields is shown again with what was typed', async () => {
    const fields = fieldsOf(await client.get('/dashboard/new-product'))
    const taken = await client.post('/dashboard/products', { ...fields, name: 'Paint' })
    expect(taken.status).toBe(422)
    expect(wordsOf(taken)).toContain('There is a product with the ID paint already.')
    const wrong = await client.post('/dashboard/products', {
      ...fieldsOf(taken),
      name: '',
      productId: 'Not An Id',
      deviceLimit: '0',
      entitlements: 'UPPER',
    })
    expect(wrong.status).toBe(422)
    for (const sentence of [
      'Enter a name.',
      'Use lowercase letters, digits and hyphens.',
      '“UPPER” cannot be used.',
    ])
      expect(wordsOf(wrong)).toContain(sentence)
    expect(fieldsOf(wrong)).toMatchObject({ productId: 'Not An Id', deviceLimit: '0', entitlements: 'UPPER' })
    const fixed = await client.post('/dashboard/products', { ...fieldsOf(taken), productId: 'paint-2' })
    expect(fixed).toMatchObject({ status: 303, location: '/dashboard/products/paint-2' })
  })
})

describe('values of entitlements', () => {
  const edit = '/dashboard/products/values/key-types/default/edit'
  const keyType = async () => ((await productOf('values')).keyTypes as object[])[0]
  test('are typed behind the names, shown as they were typed, and kept when something else changes', async () => {
    await makeProduct(api.ask, tenant.token, 'values')
    const fields = {
      ...fieldsOf(await client.get(edit)),
      entitlements: 'export, sync\nprojects = 25\r\ntier=gold  plus\nlabel = "7"',
      fallbackEntitlements: 'projects\nread = true',
    }
    expect((await client.post(edit, fields)).status).toBe(303)
    const saved = {
      entitlements: ['export', 'label', 'projects', 'sync', 'tier'],
      fallbackEntitlements: ['projects', 'read'],
      entitlementValues: { projects: 25, tier: 'gold  plus', label: '7', read: true },
    }
    expect(await keyType()).toMatchObject(saved)
    const opened = fieldsOf(await client.get(edit))
    expect(opened).toMatchObject({
      entitlements: 'export\nlabel = "7"\nprojects = 25\nsync\ntier = gold  plus',
      fallbackEntitlements: 'projects\nread = true',
    })
    expect(wordsOf(await client.get('/dashboard/products/values'))).toContain('projects = 25')
    expect((await client.post(edit, { ...opened, keyTypeName: 'Renamed' })).status).toBe(303)
    expect(await keyType()).toMatchObject({ ...saved, name: 'Renamed' })
  })
  test('are shown to change before they are saved, when licenses have them', async () => {
    const { id } = await mint(api.ask, tenant.token, 'values')
    expect(wordsOf(await client.get(`/dashboard/licenses/${id}`))).toContain('projects = 25')
    const opened = fieldsOf(await client.get(edit))
    const fields = { ...opened, entitlements: opened.entitlements?.replace('= 25', '= 50') ?? '' }
    const review = await client.post(edit, fields)
    expect(review.status).toBe(200)
    expect(wordsOf(review)).toContain('Value of “projects” for its licenses: 25 becomes 50')
    expect((await client.post(edit, { ...fields, reviewed: 'yes' })).status).toBe(303)
    expect(await keyType()).toMatchObject({ entitlementValues: { projects: 50 } })
    const unchanged = await client.post(edit, fieldsOf(await client.get(edit)))
    expect(unchanged.status).toBe(303)
  })
  test.each([
    ['seats = false', '', '“seats” has no value that can be used.'],
    ['seats =', '', '“seats” has no value that can be used.'],
    ['seats = 9007199254740993', '', '“seats” has no value that can be used.'],
    ['Seats = 5', '', '“Seats” cannot be used.'],
    ['seats = 5\nseats = 6', '', '“seats” has two different values.'],
    ['seats = 5', 'seats = 6', '“seats” has two different values.'],
  ])('%j and %j are shown again', async (entitlements, fallbackEntitlements, words) => {
    const fields = { ...fieldsOf(await client.get(edit)), entitlements, fallbackEntitlements }
    const again = await client.post(edit, fields)
    expect(again.status).toBe(422)
    expect(wordsOf(again)).toContain(words)
    expect(fieldsOf(again)).toMatchObject({ entitlements, fallbackEntitlements })
  })
})

describe('a product', () => {
  test('is changed, and a form that is older than another change is shown again', async () => {
    await makeProduct(api.ask, tenant.token, 'editor')
    const fields = fieldsOf(await client.get('/dashboard/products/editor/edit'))
    const changed = {
      ...fields,
      name: 'Editor',
      trialDurationDays: '0',
      freeTierEnabled: 'on',
      keyRecovery: 'on',
      leaseCount: '3',
    }
    api.ledger.clock.advance(1000)
    const send = () => client.post('/dashboard/products/editor/edit', changed)
    expect((await send()).status).toBe(303)
    expect((await send()).status).toBe(303)
    expect(await productOf('editor')).toMatchObject({
      name: 'Editor',
      settings: {
        freeTierEnabled: true,
        trialDurationDays: 0,
        leaseSeconds: 259_200,
        onRefund: 'revoke',
        keyRecovery: true,
      },
    })
    expect(wordsOf(await client.get('/dashboard/products/editor'))).toContain(
      'License keys kept, can be mailed again',
    )
    const late = await client.post('/dashboard/products/editor/edit', { ...fields, name: 'Old editor' })
    expect(late.status).toBe(422)
    expect(wordsOf(late)).toContain('The product was changed since you opened this page.')
    expect((await client.post('/dashboard/products/editor/edit', fieldsOf(late))).status).toBe(303)
    expect(await productOf('editor')).toMatchObject({ name: 'Old editor' })
  })

  test('is put into test mode and out of it, with keys that are never shown again', async () => {
    await client.get('/dashboard/products/editor/test-mode')
    const live = await client.post('/dashboard/products/editor/test-keys', {
      publishableKey: 'pk_live_1',
      secretKey: 'sk_live_do-not-show',
    })
    expect(live.status).toBe(422)
    expect(live.text).not.toContain('sk_live_do-not-show')
    const keys = { publishableKey: 'pk_test_1', secretKey: 'sk_test_do-not-show' }
    expect((await client.post('/dashboard/products/editor/test-keys', keys)).status).toBe(303)
    const seen = await client.get('/dashboard/products/editor/test-mode')
    expect(wordsOf(seen)).toContain('Publishable key pk_test_1 Secret key set')
    expect(seen.text).not.toContain('sk_test_do-not-show')
    await client.post('/dashboard/products/editor/test-mode', { mode: 'off' })
    expect(await productOf('editor')).toMatchObject({ settings: { testMode: { enabled: false } } })
  })
})

test('when holders are told of the expiry is typed as days, and shown', async () => {
  await makeProduct(api.ask, tenant.token, 'noticing')
  const edit = '/dashboard/products/noticing/edit'
  const save = async (expiringDays: string) =>
    client.post(edit, { ...fieldsOf(await client.get(edit)), expiringDays })
  for (const wrong of ['0', '400', 'soon', '1 2 3 4 5 6 7 8 9 10 11'])
    expect((await save(wrong)).status, wrong).toBe(422)
  expect((await save('3, 14')).status).toBe(303)
  expect(fieldsOf(await client.get(edit))).toMatchObject({ expiringDays: '14, 3' })
  expect(wordsOf(await client.get('/dashboard/products/noticing'))).toContain('14 and 3 days before')
  expect(await productOf('noticing')).toMatchObject({ settings: { expiringNotice: { days: [14, 3] } } })
  expect((await save('')).status).toBe(303)
  expect(await productOf('noticing')).not.toMatchObject({ settings: { expiringNotice: {} } })
})

test('the rules about key sharing are typed as limits and networks, shown, and taken away', async () => {
  await makeProduct(api.ask, tenant.token, 'watched')
  const edit = '/dashboard/products/watched/edit'
  const save = async (fields: Record<string, string>) =>
    client.post(edit, { ...fieldsOf(await client.get(edit)), ...fields })
  for (const wrong of [
    { networksPerDay: '0' },
    { hopsPerWeek: 'many' },
    { allowedNetworks: '203.0.113.0/40' },
  ])
    expect((await save(wrong)).status, JSON.stringify(wrong)).toBe(422)
  const typed = {
    networksPerDay: '3',
    hopsPerWeek: '5',
    allowedNetworks: '203.0.113.0/24, 2001:db8::/48',
    suspendShared: 'on',
  }
  expect((await save(typed)).status).toBe(303)
  expect(fieldsOf(await client.get(edit))).toMatchObject(typed)
  expect(wordsOf(await client.get('/dashboard/products/watched'))).toContain(
    '3 networks a day, 5 moves a week; beyond that suspended',
  )
  expect(await productOf('watched')).toMatchObject({
    settings: {
      keySharing: {
        networksPerDay: 3,
        hopsPerWeek: 5,
        action: 'suspend',
        allow: ['203.0.113.0/24', '2001:db8::/48'],
      },
    },
  })
  const { suspendShared: _, ...left } = fieldsOf(await client.get(edit))
  const cleared = { ...left, networksPerDay: '', hopsPerWeek: '', allowedNetworks: '' }
  expect((await client.post(edit, cleared)).status).toBe(303)
  expect(await productOf('watched')).not.toHaveProperty('settings.keySharing')
})

describe('a key type', () => {
  const edit = '/dashboard/products/shop/key-types/pro/edit'

  test('is added once for a form that is sent twice', async () => {
    await makeProduct(api.ask, tenant.token, 'shop')
    const fields = {
      ...fieldsOf(await client.get('/dashboard/products/shop/new-key-type')),
      keyTypeName: 'Pro',
      entitlements: 'export',
      startsAt: 'first_activation',
    }
    for (let sent = 0; sent < 2; sent++)
      expect((await client.post('/dashboard/products/shop/key-types', fields)).status).toBe(303)
    const other = await client.post('/dashboard/products/shop/key-types', { ...fields, deviceLimit: '9' })
    expect(other.status).toBe(422)
    expect(wordsOf(other)).toContain('This form was already sent with other values.')
    expect(await productOf('shop')).toMatchObject({
      keyTypes: [{ keyTypeId: 'default' }, { keyTypeId: 'pro', deviceLimit: 1, entitlements: ['export'] }],
    })
  })

  test('without licenses is saved at once', async () => {
    // Without a duration there was nothing to start.
    expect(fieldsOf(await client.get(edit))).toMatchObject({ startsAt: 'issue' })
    const term = { durationCount: '1', startsAt: 'first_activation' }
    expect((await client.post(edit, { ...fieldsOf(await client.get(edit)), ...term })).status).toBe(303)
    expect(fieldsOf(await client.get(edit))).toMatchObject({ startsAt: 'first_activation' })
    expect(wordsOf(await client.get('/dashboard/products/shop'))).toContain(
      '1 year from the first activation',
    )
    const fields = { ...fieldsOf(await client.get(edit)), entitlements: 'export\nsync' }
    expect((await client.post(edit, fields)).status).toBe(303)
  })

  test('with live licenses is saved once the member has read what changes for them', async () => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'shop', { keyTypeId: 'pro' })
    expect(wordsOf(await client.get(`/dashboard/licenses/${id}`))).toContain(
      '1 year after the first activation',
    )
    expect(wordsOf(await client.get(`/dashboard/licenses/${id}/change/edit`))).toContain(
      'As now: 1 year after the first activation Never',
    )
    const form = await client.get(edit)
    expect(wordsOf(form)).toContain('1 live license has this key type.')
    const review = await client.post(edit, {
      ...fieldsOf(form),
      entitlements: 'sync\nscan',
      deviceLimit: '5',
    })
    expect(review.status).toBe(200)
    expect(wordsOf(review)).toContain(
      '1 license loses “export” 1 license gets “scan” Key type “pro” of “shop” changes; 1 live license uses it ' +
        'Device limit of new licenses: 1 becomes 5 1 live license keeps its terms until',
    )
    expect(await productOf('shop')).toMatchObject({ keyTypes: [{}, { entitlements: ['export', 'sync'] }] })
    const back = await client.post(edit, { ...fieldsOf(review), reviewed: 'back' })
    expect(fieldsOf(back)).toMatchObject({ entitlements: 'sync\nscan', deviceLimit: '5' })
    expect((await client.post(edit, { ...fieldsOf(review), reviewed: 'yes' })).status).toBe(303)
    expect(await productOf('shop')).toMatchObject({
      keyTypes: [{}, { entitlements: ['scan', 'sync'], deviceLimit: 5 }],
    })
    // What the page said is what happens.
    const body = { product_id: 'shop', license_key: licenseKey, device_id: 'd' }
    const activated = await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, body })
    expect(activated.body).toMatchObject({ activated: true })
    const validated = await api.ask('POST', '/v1/licenses/validate', { token: tenant.token, body })
    expect(validated.body).toMatchObject({ entitlements: ['scan', 'sync'] })
    const second = { ...body, device_id: 'another' }
    const full = await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, body: second })
    expect(full.body).toMatchObject({ activated: false })
  })

  test('is deleted by a request that waits for an approval, unless a live license references it', async () => {
    await client.get(edit)
    const inUse = await client.post('/dashboard/products/shop/key-types/pro/delete')
    expect(inUse.location).toBe('/dashboard/products/shop')
    expect(wordsOf(await client.get('/dashboard/products/shop'))).toContain(
      'Live licenses reference this key type',
    )
    const asked = await client.post('/dashboard/products/shop/key-types/default/delete')
    expect(asked.location).toMatch(/^\/dashboard\/approvals\/cnf_/)
    expect(wordsOf(await client.get(asked.location ?? ''))).toContain('Delete the key type')
    expect(await productOf('shop')).toMatchObject({ keyTypes: [{ keyTypeId: 'default' }, {}] })
  })
})

test("another workspace's product gets the response of an unknown one", async () => {
  const other = await makeTenant(api.ledger)
  await makeProduct(api.ask, other.token, 'foreign')
  await client.get('/dashboard/account')
  for (const path of [
    'edit',
    'test-mode',
    'test-keys',
    'key-types',
    'key-types/default/edit',
    'key-types/default/delete',
  ])
    expect((await client.post(`/dashboard/products/foreign/${path}`)).status).toBe(404)
})
