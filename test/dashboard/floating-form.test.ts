/**
 * Guarantee: how the seats of a key type float is filled in on its form by the same rules as through the API, and nothing of it is lost when
 * something else is saved.
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

describe('seats of a key type', () => {
  const edit = '/dashboard/products/floats/key-types/team/edit'
  const keyType = async () => ((await productOf('floats')).keyTypes as object[])[1]
  const save = async (typed: Record<string, string>) =>
    client.post(edit, { ...fieldsOf(await client.get(edit)), ...typed })

  test('float as a member fills it in, and stay so when something else is saved', async () => {
    await makeProduct(api.ask, tenant.token, 'floats')
    const fields = fieldsOf(await client.get('/dashboard/products/floats/new-key-type'))
    expect(fields).toMatchObject({
      seatPolicy: 'device',
      seatCount: '10',
      seatUnit: 'minute',
      overdraftCount: '',
    })
    const floating = { seatPolicy: 'floating', seatCount: '2', seatUnit: 'hour', seatScope: 'user' }
    const overdraft = { overdraftCount: '33.3', overdraftUnit: 'percent' }
    const made = { ...fields, keyTypeName: 'Team', deviceLimit: '10', ...floating, ...overdraft }
    expect((await client.post('/dashboard/products/floats/key-types', made)).status).toBe(303)
    const floatingSeats = { seatSeconds: 7200, overdraft: { share: 0.333 }, scope: 'user' }
    expect(await keyType()).toMatchObject({ seatPolicy: 'floating', floatingSeats })
    expect(fieldsOf(await client.get(edit))).toMatchObject({ ...floating, ...overdraft })
    expect((await save({ keyTypeName: 'Renamed' })).status).toBe(303)
    expect(await keyType()).toMatchObject({ name: 'Renamed', floatingSeats })
    expect(wordsOf(await client.get('/dashboard/products/floats'))).toContain(
      'for each user, 2 hours after its last call, 33.3% above the limit',
    )
  })

  test('are shown to change for new licenses, and float no more when a member says so', async () => {
    await mint(api.ask, tenant.token, 'floats', { keyTypeId: 'team' })
    const review = await save({
      seatCount: '',
      overdraftCount: '2',
      overdraftUnit: 'seats',
      seatScope: 'device',
      maxBorrowDays: '14',
      maxBorrowed: '3',
      relayDays: '30',
    })
    expect(wordsOf(review)).toContain(
      'for each device, 10 minutes after its last call, 2 above the limit, 3 borrowed for up to 14 days, ' +
        'relays without renewal for up to 30 days',
    )
    expect((await client.post(edit, { ...fieldsOf(review), reviewed: 'yes' })).status).toBe(303)
    expect(await keyType()).toMatchObject({
      floatingSeats: {
        seatSeconds: 600,
        overdraft: { seats: 2 },
        scope: 'device',
        maxBorrowDays: 14,
        maxBorrowed: 3,
        relays: { maxDays: 30 },
      },
    })
    const edited = { maxBorrowDays: '14', maxBorrowed: '3', relayDays: '30' }
    expect(fieldsOf(await client.get(edit))).toMatchObject(edited)
    expect((await save({ seatPolicy: 'device', reviewed: 'yes' })).status).toBe(303)
    expect(await keyType()).not.toHaveProperty('floatingSeats')
  })

  test.each([
    [{ seatCount: '59', seatUnit: 'second' }, 'Enter a period from 60 seconds to 90 days.'],
    [{ seatCount: '91', seatUnit: 'day' }, 'Enter a period from 60 seconds to 90 days.'],
    [{ overdraftCount: '1.5' }, 'Enter a whole number of seats up to 100,000, or up to 100 percent.'],
    [{ overdraftCount: '101', overdraftUnit: 'percent' }, 'or up to 100 percent.'],
    [{ overdraftCount: 'some' }, 'Enter a number.'],
    [{ maxBorrowDays: '14' }, 'Fill in both fields about borrowing, or neither.'],
    [{ relayDays: '367' }, 'Enter a whole number from 1 to 366.'],
    [
      { maxBorrowDays: '14', maxBorrowed: '2', seatScope: 'user' },
      'Only the seats of devices can be borrowed.',
    ],
  ])('that cannot float like %j are shown again', async (typed, words) => {
    const again = await save({ seatPolicy: 'floating', ...typed } as Record<string, string>)
    expect(again.status).toBe(422)
    expect(wordsOf(again)).toContain(words)
    expect(fieldsOf(again)).toMatchObject(typed)
  })
})
