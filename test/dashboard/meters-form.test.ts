/**
 * Guarantee: the meters of a key type are filled in on its form by the same rules as through the API, and nothing of them is lost or changed
 * when something else is saved.
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
  await makeProduct(api.ask, tenant.token, 'metered')
})
afterAll(() => api.close())

const edit = '/dashboard/products/metered/key-types/pro/edit'
const keyType = async () => {
  const { body } = await api.ask('GET', '/v1/products/metered', { token: tenant.token })
  const { keyTypes } = (body as { product: { keyTypes: { keyTypeId: string; meters?: object[] }[] } }).product
  return keyTypes.find(({ keyTypeId }) => keyTypeId === 'pro')
}
const save = async (typed: Record<string, string>) =>
  client.post(edit, { ...fieldsOf(await client.get(edit)), ...typed })

const calls = {
  meter: 'api-calls',
  unit: 'calls',
  included: '10000',
  period: 'month',
  overage: 'allow',
  overageLimit: '2500.50',
  rollover: true,
  thresholds: [50, 90],
}

describe('meters of a key type', () => {
  test('are filled in with a new key type, the form of which offers one', async () => {
    const fields = fieldsOf(await client.get('/dashboard/products/metered/new-key-type'))
    expect(fields).toMatchObject({
      meterId1: '',
      meterPeriod1: 'month',
      meterOverage1: 'block',
      meterThresholds1: '80, 100',
    })
    expect(fields).not.toHaveProperty('meterId2')
    const typed = {
      meterId1: 'api-calls',
      meterUnit1: 'calls',
      meterIncluded1: '10000',
      meterOverage1: 'allow',
      meterLimit1: '2500.50',
      meterRollover1: 'on',
      meterThresholds1: '50, 90',
    }
    const made = { ...fields, keyTypeName: 'Pro', ...typed }
    expect((await client.post('/dashboard/products/metered/key-types', made)).status).toBe(303)
    expect((await keyType())?.meters).toMatchObject([calls])
    expect(fieldsOf(await client.get(edit))).toMatchObject(typed)
  })

  test('stay exactly as the API set them when something else is saved, up to the twentieth', async () => {
    const meters = Array.from({ length: 20 }, (_, index) => ({
      meter: `m-${index}`,
      unit: `unit ${index}, "quoted" & more`,
      included: `${index}.${index}`,
      period: (['day', 'week', 'month', 'purchase', 'license'] as const)[index % 5],
      overage: (['block', 'allow', 'block', 'notify'] as const)[index % 4],
      thresholds: [[80, 100], [], [1000, 1], [33]][index % 4],
      overageLimit: index % 4 === 1 ? '0.000001' : null,
      rollover: index % 5 < 2,
    }))
    const path = '/v1/products/metered/key-types/pro'
    expect((await api.ask('PATCH', path, { token: tenant.token, body: { meters } })).status).toBe(200)
    const before = await keyType()
    expect(before?.meters).toHaveLength(20)
    expect((await save({ keyTypeName: 'Renamed' })).status).toBe(303)
    expect(await keyType()).toStrictEqual({ ...before, name: 'Renamed' })
    await api.ask('PATCH', path, { token: tenant.token, body: { meters: [calls] } })
  })

  test('stay as they are when a page without their fields is sent', async () => {
    const fields = fieldsOf(await client.get(edit))
    const others = Object.fromEntries(Object.entries(fields).filter(([name]) => !/^meter/.test(name)))
    expect((await client.post(edit, { ...others, keyTypeName: 'Older page' })).status).toBe(303)
    expect(await keyType()).toMatchObject({ name: 'Older page', meters: [calls] })
  })

  test('are shown to change before they are saved, when licenses have them, and can be added and removed', async () => {
    await mint(api.ask, tenant.token, 'metered', { keyTypeId: 'pro' })
    const review = await save({ meterId2: 'minutes', meterUnit2: 'minutes', meterIncluded2: '0' })
    expect(wordsOf(review)).toContain('Meters of its licenses')
    expect((await client.post(edit, { ...fieldsOf(review), reviewed: 'yes' })).status).toBe(303)
    expect((await keyType())?.meters).toMatchObject([calls, { meter: 'minutes', overageLimit: null }])
    expect((await save({ meterRemoved1: 'on', reviewed: 'yes' })).status).toBe(303)
    expect((await keyType())?.meters).toMatchObject([{ meter: 'minutes' }])
    expect((await save({ meterRemoved1: 'on', reviewed: 'yes' })).status).toBe(303)
    expect(await keyType()).not.toHaveProperty('meters')
  })

  test.each([
    [{ meterId1: 'API calls' }, 'Use lowercase letters, digits and hyphens.'],
    [{ meterId1: '' }, 'Use lowercase letters, digits and hyphens.'],
    [{ meterUnit1: '' }, 'Enter what is counted'],
    [{ meterIncluded1: '1,000' }, 'Enter a number with up to 6 decimal places'],
    [{ meterIncluded1: '' }, '0 for nothing'],
    [{ meterIncluded1: '1.0000001' }, 'Enter a number with up to 6 decimal places'],
    [{ meterLimit1: '5' }, 'Leave this empty where uses beyond what is included are refused.'],
    [{ meterOverage1: 'allow', meterLimit1: 'many' }, 'or leave this empty for no limit.'],
    [{ meterThresholds1: '80, many' }, 'Enter up to ten different whole percentages'],
    [{ meterThresholds1: '80, 80' }, 'Enter up to ten different whole percentages'],
    [{ meterPeriod1: 'license', meterRollover1: 'on' }, 'Choose another period.'],
    [{ meterId2: 'calls', meterUnit2: 'x', meterIncluded2: '1' }, 'Another meter has this ID.'],
  ])('that cannot be like %j are shown again', async (typed, words) => {
    const good = { meterId1: 'calls', meterUnit1: 'calls', meterIncluded1: '5' }
    const again = await save({ ...good, ...typed } as Record<string, string>)
    expect(again.status).toBe(422)
    expect(wordsOf(again)).toContain(words)
    expect(fieldsOf(again)).toMatchObject(typed)
  })
})
