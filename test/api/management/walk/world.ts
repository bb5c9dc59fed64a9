import type fc from 'fast-check'
import { expect } from 'vitest'
import { approve } from '../../../../src/gate/approvals.ts'
import {
  type Answer,
  type Ask,
  type Method,
  makeTenant,
  type TestApi,
  type TestTenant,
} from '../../../harness/api.ts'
import { approver, confirmed, pendingId } from '../../../harness/gate.ts'

type ModelKeyType = { name: string; deviceLimit: number | null }
type ModelProduct = { name: string; freeTierEnabled: boolean; keyTypes: Map<string, ModelKeyType> }
type ModelCustomer = { email: string; name: string | null }
export type ModelLicense = {
  productId: string
  keyTypeId: string
  limit: number | null
  email: string | null
  /** One that was created by a call, or one that was found by its address. */
  customer: number | { email: string } | undefined
  /** Whether a person has said whose it is. */
  isDecided: boolean
  status: 'active' | 'suspended' | 'revoked'
  /** Those that are active now, and all that ever were. */
  devices: Set<string>
  known: Set<string>
}

/** What a client expects of the management interface, in the plainest form. */
export type Model = {
  products: Map<string, ModelProduct>
  customers: ModelCustomer[]
  /** The addresses of the customers that licenses have made. */
  buyers: Set<string>
  licenses: ModelLicense[]
  /** How many calls were made. */
  calls: number
}

export type World = {
  api: TestApi
  tenant: TestTenant
  customers: string[]
  licenses: { id: string; key: string; oldKeys: string[] }[]
}

export type Step = fc.AsyncCommand<Model, World>

export const step = (name: string, run: (model: Model, call: Call, real: World) => Promise<void>): Step => ({
  check: () => true,
  async run(model, real) {
    const call: Call = async (method, url, body) => {
      model.calls += 1
      return real.api.ask(method, url, { token: real.tenant.token, ...(body !== undefined && { body }) })
    }
    await run(model, call, real)
  },
  toString: () => name,
})

export type Call = (method: Method, url: string, body?: object) => Promise<Answer>

export async function newWorld(api: TestApi): Promise<{ model: Model; real: World }> {
  return {
    model: { products: new Map(), customers: [], buyers: new Set(), licenses: [], calls: 0 },
    real: { api, tenant: await makeTenant(api.ledger), customers: [], licenses: [] },
  }
}

/** Makes a gated call, and has it approved and made again unless it is refused at once. */
export async function gated(
  call: Call,
  { api, tenant }: World,
  method: Method,
  url: string,
): Promise<Answer> {
  const first = await call(method, url)
  if (first.status !== 202) return first
  const confirmation = pendingId(first)
  await approve(api.ledger.ports, tenant.tenantId, confirmation, approver)
  return confirmed(api.ask, tenant, method, url, confirmation)
}

/** The element at an index that may be beyond the end, if there is any. */
export function at<Item>(list: readonly Item[], index: number): Item | undefined {
  return list.length === 0 ? undefined : list[index % list.length]
}

export function expectStatus(answer: Answer, status: number): void {
  expect(answer.status, answer.text).toBe(status)
}

/** All items of a list, page by page. */
export async function allOf(ask: Ask, token: string, url: string, limit: number): Promise<unknown[]> {
  const items: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body, text } = await ask(
      'GET',
      `${url}limit=${String(limit)}${cursor && `&cursor=${cursor}`}`,
      { token },
    )
    expect(status, text).toBe(200)
    const page = body as { items: unknown[]; nextCursor: string | null }
    items.push(...page.items)
    cursor = page.nextCursor
  }
  return items
}
