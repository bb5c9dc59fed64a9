/**
 * Every gated route's operation is registered once, so that its confirmations can be shown and resumed by
 * name.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { findOperation, gatedOperations } from '../../src/gate/registry.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const Description = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({ parameters: z.array(z.looseObject({ name: z.string() })).optional() }),
    ),
  ),
})

test('the routes that take a confirmation are those of the registered operations', async () => {
  const { paths } = Description.parse((await api.ask('GET', '/v1/openapi.json')).body)
  const gated = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { parameters }]) => parameters?.some(({ name }) => name === 'X-Service-Confirmation'))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
  expect(gated.sort()).toStrictEqual(
    gatedOperations
      .filter(({ path }) => path.startsWith('/v1/'))
      .map(({ method, path }) => `${method} ${path}`)
      .sort(),
  )
})

test('each has a name of its own, by which it is found', () => {
  for (const operation of gatedOperations) expect(findOperation(operation.name)).toBe(operation)
  expect(findOperation('nothing')).toBeUndefined()
})
