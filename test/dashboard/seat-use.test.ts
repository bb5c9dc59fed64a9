/**
 * Guarantee: the pages of a license, its customer and its product show its floating seats in use and the denied takings, and that of the
 * license what fewer seats would have refused. Pages without floating seats show none of it, nor does a past state.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { type Acme, makeAcme } from './acme.ts'
import { type Client, clientOf } from './client.ts'
import { wordsOf } from './forms.ts'

let api: TestApi
let acme: Acme
let owner: Client
beforeAll(async () => {
  api = await openTestApi()
  acme = await makeAcme({ api })
  owner = clientOf(api.app)
  await owner.signIn(acme.owner)
})
afterAll(() => api.close())

const license = () => (acme.paths['floating-license'] ?? '').split('?')[0] ?? ''
const barsIn = (text: string) => text.match(/<g class="column">/g)?.length ?? 0

test('the page of a license shows its seats in 24 hours, 30 and 400 days', async () => {
  const day = await owner.get(`${license()}?use=day`)
  expect(wordsOf(day)).toContain(
    '11 of 10 in use now. 2 denied takings in the last 24 hours; 1 seat may be taken',
  )
  expect(day.text).toContain('denied takings in red; the line is the limit, maximum 11, limit 10')
  expect(day.text).toMatch(/<title>2 Mar, 01:\d\d UTC: 11 in use, 1 denied taking<\/title>/)
  const [few, more, most] = await Promise.all(
    ['day', 'month', 'all'].map(async (use) => barsIn((await owner.get(`${license()}?use=${use}`)).text)),
  )
  expect([few, more, most]).toStrictEqual([97 + 11, 121 + 11, 401 + 11])
})

test('the page of a license says what fewer seats would have refused, in the last 30 days', async () => {
  const shown = await owner.get(license())
  expect(wordsOf(shown)).toContain('8 seats would have refused 6 of 22 takings in the last 30 days.')
  expect(shown.text).toContain('<title>8 seats: 6 refused</title>')
  expect(wordsOf(await owner.get(`${license()}?seats=11`))).toContain(
    '11 seats would have refused 0 of 22 takings',
  )
  expect(wordsOf(await owner.get(`${license()}?seats=many`))).toContain('8 seats would have refused 6 of 22')
})

test('so do the pages of its customer and product, without what fewer would have refused', async () => {
  for (const page of ['customer', 'floating-product']) {
    const words = wordsOf(await owner.get(acme.paths[page] ?? ''))
    expect(words).toContain('11 of 10 in use now. 2 denied takings in the last 30 days')
    expect(words).not.toContain('would have refused')
  }
})

test('pages without floating seats show none, and neither does a past state', async () => {
  for (const path of [acme.paths.license, acme.paths.product, `${license()}?asOf=3`])
    expect((await owner.get(path ?? '')).text).not.toContain('id="seat-use"')
})
