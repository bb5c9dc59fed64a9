/** Guarantee: a POST with a JSON content type and an empty body is handled as one without a body. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const empty = (url: string, token = tenant.token) => api.ask('POST', url, { token, raw: '' })

test('an empty body is accepted where no body is required', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor')
  expect(await empty('/v1/integrations/gumroad/connect')).toMatchObject({ status: 200 })
  expect(await empty(`/v1/licenses/${id}/remint`)).toMatchObject({ status: 200 })
  expect(await empty(`/v1/licenses/${id}/revoke`)).toMatchObject({ status: 202 })
  expect(await empty('/v1/logout', await tenant.tokenWith('products:read'))).toMatchObject({ status: 200 })
})

test("an empty body returns 400 where a body is required, in the interface's error format", async () => {
  expect(await empty('/v1/licenses')).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/^the body must be /) as string },
  })
  for (const call of ['activate', 'validate', 'heartbeat', 'deactivate']) {
    expect(await empty(`/v1/licenses/${call}`)).toMatchObject({
      status: 400,
      body: {
        error: { code: 'invalid_request', message: expect.stringMatching(/^the body must be /) as string },
      },
    })
  }
})

test('white space and incomplete JSON do not count as an empty body', async () => {
  for (const raw of [' ', '{', 'null,']) {
    expect(
      await api.ask('POST', '/v1/integrations/gumroad/connect', { token: tenant.token, raw }),
    ).toMatchObject({ status: 400 })
  }
})
