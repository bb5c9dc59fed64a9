import { z } from 'zod'
import { approve } from '../../src/gate/approvals.ts'
import type { Answer, Ask, Method, TestApi, TestTenant } from './api.ts'

const Pending = z.object({ confirmation: z.object({ id: z.string(), status: z.literal('pending') }) })

/** The person who approves in tests. */
export const approver = { requestId: 'req_approver', actor: 'member:mem_1' }

/** The id of the confirmation in the response to a gated call. */
export function pendingId({ status, body, text }: Answer): string {
  if (status !== 202) throw new Error(`no confirmation was opened: ${status} ${text}`)
  return Pending.parse(body).confirmation.id
}

type Call = { body?: unknown; token?: string }

/** Who may approve everything. */
export const operator = { requestId: 'req_operator', actor: 'operator:ada' }

/** Sends a gated call with a confirmation. */
export function confirmed(
  ask: Ask,
  tenant: TestTenant,
  method: Method,
  url: string,
  confirmation: string,
  { body, token = tenant.token }: Call = {},
): Promise<Answer> {
  return ask(method, url, { token, body, headers: { 'x-service-confirmation': confirmation } })
}

/** Sends a gated call, approves it, and sends it again. @returns the last answer */
export async function askApproveRepeat(
  { ask, ledger }: TestApi,
  tenant: TestTenant,
  method: Method,
  url: string,
  { by = approver, ...call }: Call & { by?: typeof approver } = {},
): Promise<Answer> {
  const confirmation = pendingId(await ask(method, url, { token: tenant.token, ...call }))
  await approve(ledger.ports, tenant.tenantId, confirmation, by)
  return confirmed(ask, tenant, method, url, confirmation, call)
}
