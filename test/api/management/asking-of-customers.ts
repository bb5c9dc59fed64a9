import { expect } from 'vitest'
import { z } from 'zod'
import type { Method, TestApi, TestTenant } from '../../harness/api.ts'

const Licensed = z.object({ license: z.object({ id: z.string(), customerId: z.string().nullable() }) })

/** What the tests of licenses and their customers ask of the API. @param of is called for each request */
export function askingOfCustomers(of: () => { api: TestApi; tenant: TestTenant }) {
  const ask = (method: Method, url: string, body?: unknown) => {
    const { api, tenant } = of()
    return api.ask(method, url, { token: tenant.token, body })
  }
  /** Expects success, and a body of this shape. */
  const asks = async <S extends z.ZodType>(shape: S, method: Method, url: string, sent?: unknown) => {
    const { status, body } = await ask(method, url, sent)
    expect({ status, body }).toMatchObject({
      status: expect.toSatisfy((code: number) => code < 300) as number,
    })
    return shape.parse(body)
  }
  const minted = async (fields: object) =>
    (await asks(Licensed, 'POST', '/v1/licenses', { productId: 'editor', ...fields })).license
  const customerOf = async (id: string) =>
    (await asks(Licensed, 'GET', `/v1/licenses/${id}`)).license.customerId
  return { ask, asks, minted, customerOf, Licensed }
}
