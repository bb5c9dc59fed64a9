import { expect } from 'vitest'
import { z } from 'zod'
import type { Role } from '../../../src/domain/members/roles.ts'
import type { Answer, Method, TestApi, TestTenant } from '../../harness/api.ts'
import { askApproveRepeat, operator } from '../../harness/gate.ts'

/** A directory of a tenant: it calls the interface as Microsoft Entra and Okta do. */
export type Directory = {
  token: string
  ask(method: Method, path: string, body?: unknown): Promise<Answer>
  /** Creates a user. @returns their id */
  user(userName: string, more?: object): Promise<string>
  group(displayName: string, members?: readonly string[]): Promise<string>
  patch(path: string, ...operations: object[]): Promise<Answer>
  setRoles(roles: readonly { group: string; role: Role }[], defaultRole: Role | null): Promise<Answer>
}

const Made = z.object({ id: z.string() })

export async function openDirectory(api: TestApi, tenant: TestTenant): Promise<Directory> {
  const token = await tenant.tokenWith('scim')
  const headers = { 'content-type': 'application/scim+json' }
  const ask: Directory['ask'] = (method, path, body) =>
    api.ask(method, `/scim/v2${path}`, { token, ...(body !== undefined && { body, headers }) })
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await ask('POST', path, body)
    expect(answer.status, answer.text).toBe(201)
    return Made.parse(answer.body).id
  }
  return {
    token,
    ask,
    user: (userName, more) => made('/Users', { userName, ...more }),
    group: (displayName, members = []) =>
      made('/Groups', { displayName, members: members.map((value) => ({ value })) }),
    patch: (path, ...operations) =>
      ask('PATCH', path, {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: operations,
      }),
    setRoles: (roles, defaultRole) =>
      askApproveRepeat(api, tenant, 'PUT', '/v1/scim', { body: { roles, defaultRole }, by: operator }),
  }
}
