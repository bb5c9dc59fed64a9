/**
 * Guarantee: a malformed id in a path gets the same response as an absent one, on every operation of the management
 * interface.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { fitting, type Resolve } from '../fuzz/schema.ts'
import { type Method, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const Operation = z.looseObject({
  parameters: z
    .array(z.looseObject({ in: z.string(), name: z.string(), required: z.boolean().optional() }))
    .default([]),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) }).optional(),
})
const Description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) })

/** Ids of no existing thing, each in the form of its kind. */
const absent: Record<string, string> = {
  productId: 'absent',
  keyTypeId: 'absent',
  provider: 'absent',
  tag: 'fr',
}

/** These make what is absent. */
const making: ReadonlySet<string> = new Set(['put /v1/portal/languages/{tag}'])
const ofNothing = '00000000000000000000000000'
const prefixes: Record<string, string> = {
  licenses: 'lic',
  customers: 'cus',
  resellers: 'rsl',
  confirmations: 'cnf',
  sales: 'sal',
}
const malformed = ['No Slug', 'ÄÖÜ', '-', 'a'.repeat(5000), '\u0000', "'; --", '%', '😀', 'lic_', '0']

/** The query parameters without which an operation is refused, whatever the id. */
const required: Record<string, string> = { '/v1/licenses/{id}/diff': '?from=0' }

test('a malformed id gets the same response as an absent one', async () => {
  const { paths, ...rest } = Description.parse(api.app.swagger())
  const resolve: Resolve = (reference) =>
    reference
      .split('/')
      .slice(1)
      .reduce<unknown>((at, name) => (Object(at) as Record<string, unknown>)[name], { paths, ...rest })
  let asked = 0
  for (const [template, methods] of Object.entries(paths)) {
    if (!template.startsWith('/v1/') || !template.includes('{')) continue
    for (const [method, operation] of Object.entries(methods)) {
      if (making.has(`${method} ${template}`)) continue
      const schema = operation.requestBody?.content['application/json']?.schema
      const bodies =
        schema === undefined ? [undefined] : fc.sample(fitting(schema, resolve), { numRuns: 50, seed: 7 })
      const [kind = ''] = /(?<=^\/v1\/)[a-z-]+/.exec(template) ?? []
      const answerTo = async (body: unknown, id: (name: string) => string) => {
        const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(id(name)))
        const url = `${path}${required[template] ?? ''}`
        const sent = { token: tenant.token, ...(body !== undefined && { body }) }
        const { status, body: said } = await api.ask(method.toUpperCase() as Method, url, sent)
        return { template, method, status, said }
      }
      const prefix = prefixes[kind] ?? 'whd'
      const ofNone = (name: string) => absent[name] ?? `${prefix}_${ofNothing}`
      // Some bodies that fit the schema break a rule between their fields.
      let body: unknown
      let expected = { status: 0 }
      for (const fitted of bodies) {
        // What else a body names exists, so that the path alone decides.
        const named = Object(fitted) as object
        body = 'productId' in named ? { ...named, productId: 'editor', keyTypeId: 'default' } : fitted
        expected = await answerTo(body, ofNone)
        if (expected.status !== 400) break
      }
      expect(expected).toMatchObject({ status: 404 })
      for (const bad of malformed) {
        asked++
        expect({ bad, ...(await answerTo(body, () => bad)) }).toStrictEqual({ bad, ...expected })
      }
    }
  }
  expect(asked).toBeGreaterThan(200)
})

test('a change of a key type with a malformed id returns 404', async () => {
  const url = '/v1/products/editor/key-types/No%20Slug'
  const answer = await api.ask('PATCH', url, { token: tenant.token, body: { deviceLimit: 2 } })
  expect(answer).toMatchObject({ status: 404, body: { error: 'key type not found' } })
})
