/**
 * Guarantee: customers, their links to licenses and their overrides are changed on pages by the same rules as through
 * the API, and a form that is sent twice has its effect once.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let client: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  client = clientOf(api.app)
  await client.signIn(await makeMember(api.ledger, tenant.tenantId, 'support'))
})
afterAll(() => api.close())

const customerOf = async (path = '') => {
  const { body } = await api.ask('GET', path.replace('/dashboard', '/v1'), { token: tenant.token })
  return (body as { customer: Record<string, unknown> }).customer
}

test('a new customer is created once for a form that is sent twice, and changed', async () => {
  expect((await client.get('/dashboard/customers')).text).toContain('href="/dashboard/new-customer"')
  const fields = fieldsOf(await client.get('/dashboard/new-customer'))
  const wrong = await client.post('/dashboard/new-customer', { ...fields, email: 'ada', name: 'Ada' })
  expect(wrong.status).toBe(422)
  expect(fieldsOf(wrong)).toMatchObject({ email: 'ada', name: 'Ada' })
  const right = { ...fieldsOf(wrong), email: 'ada@example.com', metadata: 'crm: 4711' }
  const { location } = await client.post('/dashboard/new-customer', right)
  expect(await client.post('/dashboard/new-customer', right)).toMatchObject({ status: 303, location })
  expect(await customerOf(location)).toMatchObject({
    email: 'ada@example.com',
    name: 'Ada',
    metadata: { crm: '4711' },
  })
  const edit = fieldsOf(await client.get(`${location}/edit`))
  expect(edit).toMatchObject({ email: 'ada@example.com', metadata: 'crm: 4711' })
  const changed = { ...edit, email: 'countess@example.com', name: '' }
  expect(await client.post(`${location}/edit`, changed)).toMatchObject({ status: 303, location })
  expect(await customerOf(location)).toMatchObject({ email: 'countess@example.com', name: null })
})

test('two customers are merged, and the merge is undone', async () => {
  const create = async (email: string) =>
    `/dashboard/customers/${await makeCustomer(api.ask, tenant.token, { email })}`
  const [one, two] = [await create('twin@example.com'), await create('staying@example.com')]
  const idIn = (path: string) => path.slice('/dashboard/customers/'.length)
  const { id } = await mint(api.ask, tenant.token, 'editor', { customerId: idIn(one) })
  expect((await client.get(one)).text).toContain(`href="${one}/merge"`)
  expect(wordsOf(await client.get(`${one}/merge`))).toContain('has 1 license')
  const itself = await client.post(`${one}/merge`, { customerId: idIn(one) })
  expect(wordsOf(itself)).toContain('This is the customer itself.')
  const nobody = await client.post(`${one}/merge`, { customerId: 'nobody@example.com' })
  expect(nobody.status).toBe(422)
  const merged = await client.post(`${one}/merge`, { customerId: 'staying@example.com' })
  expect(merged).toMatchObject({ status: 303, location: two })
  expect((await client.get(two)).text).toContain(id)
  expect((await client.get(two)).text).toContain(`href="${one}"`)
  const page = await client.get(one)
  expect(wordsOf(page)).toContain('Merged into')
  expect(page.text).not.toContain(`href="${one}/merge"`)
  expect(await client.post(`${one}/unmerge`, fieldsOf(page))).toMatchObject({ status: 303, location: one })
  expect(await customerOf(one)).not.toHaveProperty('mergedInto')
  expect(await customerOf(one)).toMatchObject({ licenseIds: [id] })
})

test('licenses are linked and unlinked', async () => {
  const own = `/dashboard/customers/${await makeCustomer(api.ask, tenant.token)}`
  const other = `/dashboard/customers/${await makeCustomer(api.ask, tenant.token)}`
  const { id: licenseId } = await mint(api.ask, tenant.token, 'editor')
  await client.get(`${own}/links`)
  const absent = await client.post(`${own}/link`, { licenseId: 'lic_00000000000000000000000000' })
  expect(absent.status).toBe(422)
  expect(wordsOf(absent)).toContain('No license matches.')
  for (let sent = 0; sent < 2; sent++)
    expect((await client.post(`${own}/link`, { licenseId })).status).toBe(303)
  expect(await customerOf(own)).toMatchObject({ licenseIds: [licenseId] })
  const taken = await client.post(`${other}/link`, { licenseId })
  expect(wordsOf(taken)).toContain('This license belongs to another customer.')
  for (let sent = 0; sent < 2; sent++)
    expect((await client.post(`${own}/unlink`, { licenseId })).status).toBe(303)
  expect(await customerOf(own)).toMatchObject({ licenseIds: [] })
})

test('a license is picked by a part of what it is known by, and its key is never shown again', async () => {
  const own = `/dashboard/customers/${await makeCustomer(api.ask, tenant.token)}`
  const free = async (name: string) => {
    const email = `${name}@babbage.example`
    const { id: licenseId, licenseKey } = await mint(api.ask, tenant.token, 'editor', { email, name })
    return { licenseId, licenseKey }
  }
  const [charles, henry] = [await free('charles'), await free('henry')]
  const link = (fields: Record<string, string>) => client.post(`${own}/link`, fields)
  await client.get(`${own}/links`)
  const several = await link({ licenseId: 'babbage' })
  expect(several.status).toBe(422)
  expect(wordsOf(several)).toContain('Several licenses match. Choose one.')
  expect(wordsOf(several)).toContain('editor, charles@babbage.example, with a customer by its address')
  const offered = fieldsOf(several)
  // A choice counts only for the text that it was offered for.
  const other = await link({ ...offered, licenseId: 'nobody', licenseIdChoice: charles.licenseId })
  expect(wordsOf(other)).toContain('No license matches.')
  expect((await link({ ...offered, licenseIdChoice: charles.licenseId })).status).toBe(303)
  expect((await link({ licenseId: henry.licenseKey })).status).toBe(303)
  expect(await customerOf(own)).toMatchObject({ licenseIds: [henry.licenseId, charles.licenseId] })
  const mistyped = await link({ licenseId: `${henry.licenseKey.slice(0, -3)}0-0` })
  expect(mistyped.status).toBe(422)
  expect(mistyped.text).not.toContain(henry.licenseKey.slice(0, -8))
  const elsewhere = `/dashboard/customers/${await makeCustomer(api.ask, tenant.token)}`
  const taken = await client.post(`${elsewhere}/link`, { licenseId: 'babbage' })
  expect(taken.status).toBe(422)
  expect(wordsOf(taken)).toContain('All licenses that match were linked to customers.')
  await client.post(`${own}/unlink`, { licenseId: charles.licenseId })
  const left = await client.post(`${elsewhere}/link`, { licenseId: 'babbage' })
  expect(wordsOf(left)).toContain('editor, charles@babbage.example')
  expect(left.text).not.toContain('with a customer by its address')
  expect(left.text).not.toContain('henry@babbage.example')
  const refused = await client.post(`${elsewhere}/link`, { licenseId: henry.licenseKey })
  expect(wordsOf(refused)).toContain('This license belongs to another customer.')
  expect(refused.text).not.toContain(henry.licenseKey)
})

test('customers of addresses are switched off and on, and licenses without one are linked', async () => {
  const owner = clientOf(api.app)
  await owner.signIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
  const choose = (customers: 'on' | 'off') => owner.post('/dashboard/settings/customers', { customers })
  expect(wordsOf(await owner.get('/dashboard/settings'))).toContain('Stop creating customers')
  for (let sent = 0; sent < 2; sent++)
    expect(await choose('off')).toMatchObject({ status: 303, location: '/dashboard/settings' })
  expect(wordsOf(await owner.get('/dashboard/settings'))).toContain(
    'belongs to no customer until you link it',
  )
  const { id } = await mint(api.ask, tenant.token, 'editor', { email: 'page@example.com' })
  await choose('on')
  const path = '/dashboard/customers'
  expect(wordsOf(await client.get(path))).toContain('1 license has an email address and no customer.')
  expect(await client.post(`${path}/link-licenses`, {})).toMatchObject({ status: 303, location: path })
  expect(wordsOf(await client.get(path))).toContain('1 license linked.')
  expect(wordsOf(await client.get(path))).not.toContain('no customer')
  const linked = (await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })).body
  expect(linked).toMatchObject({ license: { customerId: expect.stringMatching(/^cus_/) as string } })
})

test('overrides are edited as a whole, with more rows as needed', async () => {
  const own = `/dashboard/customers/${await makeCustomer(api.ask, tenant.token)}`
  const path = `${own}/entitlements`
  const form = await client.get(path)
  const more = await client.post(path, { ...fieldsOf(form), 'entitlement-0': 'beta', more: 'yes' })
  expect(more.status).toBe(200)
  expect(fieldsOf(more)).toMatchObject({ 'entitlement-0': 'beta', 'entitlement-3': '' })
  const filled = {
    ...fieldsOf(more),
    'product-0': 'editor',
    'expiresOn-0': '2030-01-31',
    'reason-0': 'early access',
    'entitlement-3': 'export',
    'effect-3': 'revoke',
  }
  const wrong = await client.post(path, { ...filled, 'entitlement-1': 'NO', 'expiresOn-0': 'soon' })
  expect(wrong.status).toBe(422)
  expect(wordsOf(wrong)).toContain('Enter a day as 2027-11-21.')
  for (let sent = 0; sent < 2; sent++) expect((await client.post(path, filled)).status).toBe(303)
  const overrides = [
    {
      entitlement: 'beta',
      effect: 'grant',
      productId: 'editor',
      expiresAt: '2030-01-31T23:59:59.000Z',
      reason: 'early access',
    },
    { entitlement: 'export', effect: 'revoke' },
  ]
  expect(await customerOf(own)).toMatchObject({ entitlementOverrides: overrides })
  // The form that was opened before does not undo this without a word.
  const late = await client.post(path, { ...fieldsOf(form), 'entitlement-0': 'other' })
  expect(late.status).toBe(422)
  expect(wordsOf(late)).toContain('The overrides were changed since you opened this page.')
  const removed = { ...fieldsOf(await client.get(path)), 'entitlement-1': '' }
  expect((await client.post(path, removed)).status).toBe(303)
  expect(await customerOf(own)).toMatchObject({ entitlementOverrides: overrides.slice(0, 1) })
})

test('an override has a value if it grants, and rows that contradict each other are shown again', async () => {
  const own = `/dashboard/customers/${await makeCustomer(api.ask, tenant.token)}`
  const path = `${own}/entitlements`
  const filled = {
    ...fieldsOf(await client.get(path)),
    'entitlement-0': 'projects',
    'value-0': '100',
    'entitlement-1': 'tier',
    'value-1': 'gold',
  }
  expect((await client.post(path, filled)).status).toBe(303)
  const overrides = [
    { entitlement: 'projects', effect: 'grant', value: 100 },
    { entitlement: 'tier', effect: 'grant', value: 'gold' },
  ]
  expect(await customerOf(own)).toMatchObject({ entitlementOverrides: overrides })
  expect(wordsOf(await client.get(own))).toContain('projects = 100')
  const opened = fieldsOf(await client.get(path))
  expect(opened).toMatchObject({ 'value-0': '100', 'value-1': 'gold' })
  for (const [wrong, words] of [
    [{ 'value-0': 'false' }, 'instead of false, choose Revoked.'],
    [{ 'effect-0': 'revoke' }, 'Only what is granted has a value.'],
    [{ 'entitlement-1': 'projects' }, 'Two rows grant the same entitlement with different values'],
  ] as const) {
    const again = await client.post(path, { ...opened, ...wrong })
    expect(again.status).toBe(422)
    expect(wordsOf(again)).toContain(words)
  }
  expect(await customerOf(own)).toMatchObject({ entitlementOverrides: overrides })
})

test('notes are added once for a form that is sent twice, shown with their author, and removed', async () => {
  const own = `/dashboard/customers/${await makeCustomer(api.ask, tenant.token)}`
  const form = fieldsOf(await client.get(own))
  const long = await client.post(`${own}/notes`, { ...form, text: 'a'.repeat(2001) })
  expect(long.status).toBe(422)
  expect(wordsOf(long)).toContain('Enter at most 2,000 characters')
  const right = { ...fieldsOf(long), text: 'Pays by invoice.\r\nCalls on <b>Mondays</b>.' }
  for (let sent = 0; sent < 2; sent++)
    expect(await client.post(`${own}/notes`, right)).toMatchObject({ status: 303, location: own })
  const shown = await client.get(own)
  expect(shown.text.split('Calls on &lt;b')).toHaveLength(2)
  expect(wordsOf(shown)).toMatch(/support-\w+-member@example\.com, just now/)
  const auditor = clientOf(api.app)
  await auditor.signIn(await makeMember(api.ledger, tenant.tenantId, 'auditor'))
  const read = await auditor.get(`${own}/notes`)
  expect(wordsOf(read)).toContain('Pays by invoice.')
  expect(read.text).not.toContain('Remove note')
  const { noteId = '' } = fieldsOf(shown)
  for (let sent = 0; sent < 2; sent++)
    expect((await client.post(`${own}/notes/remove`, { noteId })).status).toBe(303)
  expect(wordsOf(await client.get(own))).toContain('No notes.')
})

test("another workspace's customer gets the response of an unknown one", async () => {
  const other = await makeTenant(api.ledger)
  const foreign = await makeCustomer(api.ask, other.token)
  await client.get('/dashboard/account')
  for (const path of ['edit', 'link', 'unlink', 'entitlements', 'notes', 'notes/remove'])
    expect((await client.post(`/dashboard/customers/${foreign}/${path}`)).status).toBe(404)
})
