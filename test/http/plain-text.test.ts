/**
 * Guarantee: text with control characters or unpaired surrogates gets 400 in every field of every body, including
 * those of providers and pages, and is never recorded.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { clientOf } from '../dashboard/client.ts'
import { makeMember } from '../dashboard/members.ts'
import { fitting, type Resolve } from '../fuzz/schema.ts'
import { type Method, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { sdkKeyOf } from './apps.ts'
import { makeProduct } from './samples.ts'

let api: TestApi
let tenant: TestTenant
let sdkKey: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
})
afterAll(() => api.close())

const Operation = z.looseObject({
  operationId: z.string(),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) }).optional(),
})
const Description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) })

/** What an app says of itself and its build is dropped where it is invalid, so that it does not keep the app from its license. */
const dropped = new Set(['app_version', 'sdk_version', 'platform', 'sdk', 'app_built_at', 'app_channel'])
/** Keys are copied with line breaks; templates and notes have several lines. */
const severalLines = new Set(['license_key', 'licenseKey', 'text', 'html', 'metadata'])

type Spoilt = { path: string[]; value: unknown }

/** The value once for each text in it, with that text made invalid. */
function spoilt(value: unknown, bad: string, path: string[] = []): Spoilt[] {
  if (typeof value === 'string') return [{ path, value: `a${bad}b` }]
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) =>
      spoilt(item, bad, [...path, '[]']).map((inner) => ({
        ...inner,
        value: value.with(index, inner.value),
      })),
    )
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, field]) =>
    spoilt(field, bad, [...path, name]).map((inner) => ({
      ...inner,
      value: { ...value, [name]: inner.value },
    })),
  )
}

describe.each([
  ['NUL', '\0'],
  ['half of a surrogate pair', '\ud800'],
  ['a bell', '\u0007'],
  ['a control character above ASCII', '\u009b'],
])('with %s', (_name, bad) => {
  test('every string in every JSON body returns 400', async () => {
    const { paths, ...rest } = Description.parse(api.app.swagger())
    const resolve: Resolve = (reference) =>
      reference
        .split('/')
        .slice(1)
        .reduce<unknown>((at, name) => (Object(at) as Record<string, unknown>)[name], { paths, ...rest })
    let asked = 0
    for (const [template, methods] of Object.entries(paths)) {
      for (const [method, { operationId, requestBody }] of Object.entries(methods)) {
        const schema = requestBody?.content['application/json']?.schema
        // It has its own rule for keys, and validates each row of an import separately.
        if (schema === undefined || operationId === 'createCheckout' || operationId === 'importLicenses')
          continue
        const url = template
          .replace('{tenantId}', tenant.tenantId)
          .replace('{productId}', 'editor')
          .replace('{provider}', 'gumroad')
          .replace(/\{\w+\}/g, 'default')
        for (const body of fc.sample(fitting(schema, resolve), { numRuns: 4, seed: 7 })) {
          for (const { path, value } of spoilt(body, bad)) {
            const isExempt = (names: Set<string>) => path.some((name) => names.has(name))
            if (isExempt(dropped) || (isExempt(severalLines) && bad !== '\0' && bad !== '\ud800')) continue
            asked++
            // Starting a login is limited by address.
            await api.ledger.ports.db.query('delete from vault.attempts')
            const answer = await api.ask(method.toUpperCase() as Method, url, {
              token: tenant.token,
              headers: { 'x-service-sdk-key': sdkKey },
              body: value,
            })
            expect({ operationId, path, status: answer.status }).toStrictEqual({
              operationId,
              path,
              status: 400,
            })
          }
        }
      }
    }
    expect(asked).toBeGreaterThan(50)
  })

  test('a row of an import is invalid, and the others are imported', async () => {
    const licenseKey = `OLD-${bad.codePointAt(0)}-4711-2049`
    const { status, body } = await api.ask('POST', '/v1/licenses/import', {
      token: tenant.token,
      body: {
        productId: 'editor',
        licenses: [{ licenseKey: 'OLD-0000-0000', devices: [{ deviceId: `a${bad}b` }] }, { licenseKey }],
      },
    })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        results: [
          { index: 0, status: 'invalid' },
          { index: 1, status: 'imported' },
        ],
      },
    })
  })
})

test('a form field with NUL returns 400', async () => {
  const client = clientOf(api.app)
  await client.get('/dashboard/sign-in')
  const fields = { email: 'ada\0@example.com', password: 'x', code: '' }
  expect((await client.post('/dashboard/sign-in', fields)).status).toBe(400)

  const member = await makeMember(api.ledger, tenant.tenantId, 'owner')
  await client.signIn(member)
  for (const [url, name] of [
    ['/dashboard/new-customer', 'email'],
    ['/dashboard/search', 'text'],
    ['/dashboard/device', 'code'],
  ] as const) {
    expect({ url, status: (await client.post(url, { [name]: 'a\0b' })).status }).toStrictEqual({
      url,
      status: 400,
    })
  }
})
