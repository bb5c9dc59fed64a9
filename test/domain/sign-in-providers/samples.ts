import type { ProviderSettings } from '../../../src/domain/sign-in-providers/events.ts'
import type { SignInProviderCommand } from '../../../src/domain/sign-in-providers/provider.ts'

export const at = '2026-03-01T12:00:00.000Z'
export const issuer = 'https://login.acme.example'

export const settings: ProviderSettings = {
  name: 'Acme',
  clientId: 'keyledger',
  roleClaim: 'groups',
  roles: [
    { value: 'admins', role: 'admin' },
    { value: 'staff', role: 'support' },
  ],
  defaultRole: null,
  domains: ['acme.example'],
}

const noRoles: ProviderSettings = { ...settings, roleClaim: null, roles: [] }

const named = { providerId: 'entra', at } as const

export const add = {
  type: 'AddProvider',
  ...named,
  operationId: 'req_1',
  tenantId: 'acme',
  issuer,
  settings,
} as const
export const rename = {
  type: 'ChangeProvider',
  ...named,
  operationId: 'req_2',
  change: { name: 'Acme Entra' },
  newSecret: false,
} as const
export const remove = { type: 'RemoveProvider', ...named, operationId: 'req_3' } as const

/** At least one of each type. */
export const signInCommands: readonly SignInProviderCommand[] = [
  add,
  rename,
  { ...rename, operationId: 'req_4', newSecret: true },
  remove,
  { ...add, operationId: 'req_5', providerId: 'okta', audience: { customerId: null }, settings: noRoles },
]
