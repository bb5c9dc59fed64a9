/**
 * Guarantee: a workspace has at most fifty custom roles, each with a name of its own. Whatever its scopes, no role allows what lets its
 * member manage members, decide on requests or manage tokens, nor to grant what it does not have.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { customRoles, maxRoles } from '../../../src/domain/custom-roles/custom-roles.ts'
import type { CustomRoleEvent } from '../../../src/domain/custom-roles/events.ts'
import { grantableOf } from '../../../src/domain/logins/login.ts'
import {
  grantableBy,
  lackingScopes,
  may,
  permissions,
  type Right,
  RoleId,
  seesAddresses,
} from '../../../src/domain/members/roles.ts'
import { combinableScopes, Scope } from '../../../src/domain/tokens/events.ts'
import { givenOn } from '../given.ts'
import { add, at, change, otherId, remove, roleId } from './samples.ts'

const given = givenOn(customRoles)

const data = {
  tenantId: 'acme',
  operationId: 'req_1',
  roleId,
  name: 'Support lead',
  scopes: ['customers:read', 'licenses:read'] satisfies Scope[],
  at,
}
const added: CustomRoleEvent = { type: 'CustomRoleAdded', data }
const removed: CustomRoleEvent = { type: 'CustomRoleRemoved', data: { operationId: 'req_3', roleId, at } }

describe('a custom role', () => {
  test('is added once, with each scope once', () => {
    const twice = { ...add, scopes: [...add.scopes, ...add.scopes] }
    given().when(twice).expectEvents([added])
    given(added).when(twice).expectEvents([])
  })
  test.each(['support LEAD', 'owner', 'Owner', 'reseller', 'auditor'])(
    'has a name of its own: not %s',
    (name) => {
      const other = { ...add, roleId: otherId, operationId: 'req_9', name }
      given(added).when(other).expectRefusal('role_exists')
      given(added, {
        type: 'CustomRoleAdded',
        data: { ...data, roleId: otherId, operationId: 'req_8', name: 'Other' },
      })
        .when({ ...change, roleId: otherId, name })
        .expectRefusal('role_exists')
    },
  )
  test('never has the scope that manages members', () => {
    given()
      .when({ ...add, scopes: ['scim'] })
      .expectRefusal('scope_not_for_roles')
    given(added)
      .when({ ...change, scopes: ['licenses:read', 'scim'] })
      .expectRefusal('scope_not_for_roles')
  })
  test('keeps what a change leaves out', () =>
    given(added)
      .when({ ...change, scopes: undefined })
      .expectEvents([
        {
          type: 'CustomRoleChanged',
          data: { operationId: 'req_2', roleId, name: 'Reporting', scopes: data.scopes, at },
        },
      ]))
  test('that is as it should be records nothing', () =>
    given(added)
      .when({ ...change, name: data.name, scopes: data.scopes })
      .expectEvents([]))
  test('is removed when nothing gives it', () => given(added).when(remove).expectEvents([removed]))
  test('in use is not removed', () =>
    given(added)
      .when({ ...remove, isInUse: true })
      .expectRefusal('role_in_use'))
  test('that is gone is not changed, and a repeated removal is none', () => {
    given(added, removed).when(change).expectRefusal('role_not_found')
    given(added, removed).when(remove).expectEvents([])
  })
  test('is one of fifty at the most', () => {
    const many = Array.from({ length: maxRoles }, (_, n): CustomRoleEvent => {
      const id = RoleId.parse(`rol_${String(n).padStart(26, '0')}`)
      return {
        type: 'CustomRoleAdded',
        data: { ...data, roleId: id, operationId: `req_${n}x`, name: `Role ${n}` },
      }
    })
    expect(maxRoles).toBe(50)
    given(...many)
      .when({ ...add, operationId: 'req_new' })
      .expectRefusal('role_limit')
    given(...many.slice(1))
      .when({ ...add, operationId: 'req_new' })
      .expectEvents([{ type: 'CustomRoleAdded', data: { ...data, operationId: 'req_new' } }])
  })
})

/** The scopes that each right takes, as it was decided; null for what no custom role has. */
const matrix: Record<Right, readonly Scope[] | null> = {
  'products:read': ['products:read'],
  'licenses:read': ['licenses:read'],
  'integrations:read': ['integrations:read'],
  'customers:read': ['customers:read'],
  'usage:read': ['usage:read'],
  see_requests: ['danger'],
  view_as_customer: ['customers:read', 'licenses:read'],
  see_insights: ['licenses:read', 'usage:read'],
  ask_for_changes: ['licenses:read', 'licenses:write', 'danger'],
  change_licenses: ['licenses:read', 'licenses:write', 'customers:read', 'customers:write'],
  manage_products: ['products:read', 'products:write'],
  delete_key_types: ['products:read', 'products:write', 'danger'],
  replay_sales: ['licenses:read', 'licenses:write'],
  manage_connections: ['integrations:read', 'integrations:write', 'danger'],
  decide_confirmations: null,
  manage_tokens: null,
  manage_members: null,
  manage_settings: null,
}
const rights = Object.keys(matrix) as Right[]

describe('what a custom role allows', () => {
  test('names every permission', () =>
    expect(rights.filter((right) => !right.includes(':')).sort()).toStrictEqual([...permissions].sort()))

  test.each(rights)('%s follows from its scopes, and needs each of them', (right) => {
    const needed = matrix[right]
    const role = (scopes: readonly Scope[]) => ({ roleId, name: 'owner', scopes })
    if (needed === null) {
      expect(may(role(Scope.options), right)).toBe(false)
      return
    }
    expect(may(role(needed), right)).toBe(true)
    for (const scope of needed) {
      const without = role(combinableScopes.filter((one) => one !== scope))
      expect(may(without, right)).toBe(false)
      expect(lackingScopes(without, right)).toStrictEqual([scope])
    }
  })

  const anyRole = fc.subarray([...combinableScopes]).map((scopes) => ({ roleId, name: 'owner', scopes }))

  test('never exceeds an owner, and grants no scope that it lacks, nor scim', () =>
    fc.assert(
      fc.property(anyRole, fc.subarray([...Scope.options]), (role, asked) => {
        for (const right of rights) if (may(role, right)) expect(may('owner', right)).toBe(true)
        for (const scope of grantableOf(asked, role)) expect(role.scopes).toContain(scope)
        expect(grantableBy(role)).not.toContain('scim')
        expect(seesAddresses(role)).toBe(false)
      }),
    ))

  test('is nothing once the role is gone', () => {
    expect(rights.filter((right) => may(roleId, right))).toStrictEqual([])
    expect(grantableBy(roleId)).toStrictEqual([])
  })
})
