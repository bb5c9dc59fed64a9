import { type Administration, type Own, tenantOf } from './administered.ts'
import { fieldsOf } from './fields.ts'

export function ofCustomRole(entry: Own<'role'>): Administration {
  const { event } = entry
  const of = { kind: 'role', id: event.data.roleId, tenantId: tenantOf(entry) } as const
  if (event.type === 'CustomRoleRemoved') return { ...of, action: 'deleted', fields: null }
  const { name, scopes } = event.data
  const action = event.type === 'CustomRoleAdded' ? 'created' : 'changed'
  return { ...of, action, fields: fieldsOf({ name, scopes }) }
}

export function ofSignInProvider(entry: Own<'signin'>): Administration {
  const { event } = entry
  const of = { kind: 'sign_in_provider', id: event.data.providerId, tenantId: tenantOf(entry) } as const
  switch (event.type) {
    case 'SignInProviderAdded':
    case 'SignInProviderChanged': {
      const { name, clientId, roleClaim, roles, defaultRole, domains } = event.data
      const mapped = roles.map(({ value, role }) => `${value}: ${role}`)
      const set = { name, clientId, roleClaim, roles: mapped, defaultRole, domains }
      if (event.type === 'SignInProviderChanged') return { ...of, action: 'changed', fields: fieldsOf(set) }
      const { issuer, audience } = event.data
      const whose = audience && { audience: 'customers', customerId: audience.customerId }
      return { ...of, action: 'created', fields: fieldsOf({ issuer, ...whose, ...set }) }
    }
    case 'SignInProviderSecretReplaced':
      return { ...of, action: 'rotated', fields: {} }
    case 'SignInProviderRemoved':
      return { ...of, action: 'deleted', fields: null }
  }
}

export function ofScim(entry: Own<'scim'>): Administration {
  const { event } = entry
  const tenantId = tenantOf(entry)
  if (event.type === 'ScimSettingsChanged') {
    const { roles, defaultRole } = event.data
    const mapped = roles.map(({ group, role }) => `${group}: ${role}`)
    const fields = fieldsOf({ roles: mapped, defaultRole })
    return { kind: 'directory', id: null, tenantId, action: 'changed', fields }
  }
  const of = { kind: 'directory_group', id: event.data.groupId, tenantId } as const
  switch (event.type) {
    case 'ScimGroupAdded': {
      const { displayName, memberIds } = event.data
      return { ...of, action: 'created', fields: fieldsOf({ name: displayName, members: memberIds.length }) }
    }
    case 'ScimGroupChanged':
      return { ...of, action: 'changed', fields: fieldsOf({ name: event.data.displayName }) }
    case 'ScimGroupMembersChanged': {
      const { added, removed } = event.data
      return { ...of, action: 'changed', fields: fieldsOf({ membersAdded: added, membersRemoved: removed }) }
    }
    case 'ScimGroupRemoved':
      return { ...of, action: 'deleted', fields: null }
  }
}
