/** Guarantee: no response can be cached, except those meant to be, or interpreted as another content type. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { assets } from '../../src/dashboard/assets.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { sdkKeyOf } from './apps.ts'
import { makeProduct } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const Paths = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

async function headersOf(method: string, url: string, headers: Record<string, string> = {}) {
  const answer = await api.app.inject({ method: method as 'GET', url, headers })
  return {
    status: answer.statusCode,
    cache: answer.headers['cache-control'],
    sniff: answer.headers['x-content-type-options'],
    id: typeof answer.headers['request-id'],
  }
}
const careful = { cache: 'no-store', sniff: 'nosniff', id: 'string' }

test('every operation returns no-store and nosniff, with and without a token', async () => {
  const { paths } = Paths.parse(api.app.swagger())
  for (const [path, methods] of Object.entries(paths)) {
    if (/service-keys|openapi\.json/.test(path)) continue
    for (const method of Object.keys(methods)) {
      const url = path.replace('{tenantId}', tenant.tenantId).replace(/\{\w+\}/g, 'absent')
      for (const headers of [{}, { authorization: `Bearer ${tenant.token}` }]) {
        const said = await headersOf(method.toUpperCase(), url, headers as Record<string, string>)
        expect({ method, path, ...said }).toMatchObject({ method, path, ...careful })
      }
    }
  }
})

test.each([
  ['an unknown path', 'GET', '/v1/nothing'],
  ['a method that is not allowed', 'PUT', '/v1/products'],
  ['a malformed URL', 'GET', '/v1/licenses/%E0%A4%A'],
  ['a page', 'GET', '/dashboard/sign-in'],
  ['a redirect to a page', 'GET', '/login'],
])('%s returns no-store and nosniff', async (_what, method, url) =>
  expect(await headersOf(method, url)).toMatchObject(careful),
)

test('cacheable responses return a max-age', async () => {
  const sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  const place = `/${tenant.tenantId}`
  for (const [url, cache] of [
    [`${place}/.well-known/service-keys`, /^public, max-age=\d+$/],
    [`${place}/editor/pricing`, /^public, max-age=\d+$/],
    [`${place}/editor/config`, /^private, max-age=\d+$/],
    ['/v1/openapi.json', /^public, max-age=\d+$/],
    [assets.style, /max-age=\d{4,}/],
  ] as const) {
    const said = await headersOf('GET', url, { 'x-service-sdk-key': sdkKey })
    expect({ url, ...said }).toMatchObject({
      url,
      status: 200,
      sniff: 'nosniff',
      cache: expect.stringMatching(cache) as string,
    })
  }
})
