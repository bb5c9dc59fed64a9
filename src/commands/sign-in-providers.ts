import type { ProviderClient } from '../access/openid/openid.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ProviderAudience, ProviderSettings } from '../domain/sign-in-providers/events.ts'
import {
  findProvider,
  type SignInProvider,
  type SignInProviderCommand,
  type SignInProviders,
  signInProviders,
} from '../domain/sign-in-providers/provider.ts'
import type { Ports } from '../ports.ts'
import { withTenantLock } from './cross-stream/tenant-lock.ts'
import { type RoleMapping, requireRoles, rolesIn } from './custom-roles.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

type ChangePorts = Ports<'db' | 'execute' | 'ledger' | 'now' | 'secrets'>

export type NewProvider = {
  providerId: string
  issuer: string
  /** Undefined: members of the workspace. */
  audience?: ProviderAudience | undefined
  clientSecret: string
  settings: ProviderSettings
}

/**
 * Adds a provider that members sign in with, or customers.
 * @param operationId names this operation, so that a repetition after a crash adds nothing
 * @throws Refusal `sign_in_provider_exists`, `sign_in_issuer_taken`, `sign_in_provider_limit`, `sign_in_roles_of_others`,
 *   `role_not_found`
 */
export async function addProvider(
  ports: ChangePorts,
  tenantId: string,
  { clientSecret, ...added }: NewProvider,
  operationId: string,
  origin: Origin,
): Promise<SignInProvider> {
  const command = { type: 'AddProvider', ...added, tenantId, operationId, at: momentOf(ports) } as const
  const state = await giving(ports, tenantId, added.settings, () =>
    change(ports, tenantId, command, clientSecret, origin),
  )
  return required(state, added.providerId)
}

export type ProviderChange = { [K in keyof ProviderSettings]?: ProviderSettings[K] | undefined } & {
  clientSecret?: string | undefined
}

/**
 * Changes a provider; what is undefined stays.
 * @throws Refusal `sign_in_provider_not_found`, `sign_in_roles_of_others`, `role_not_found`
 */
export async function changeProvider(
  ports: ChangePorts,
  tenantId: string,
  providerId: string,
  { clientSecret, ...changes }: ProviderChange,
  operationId: string,
  origin: Origin,
): Promise<SignInProvider> {
  const newSecret = clientSecret !== undefined
  const at = momentOf(ports)
  const command = { type: 'ChangeProvider', change: changes, newSecret, providerId, operationId, at } as const
  const state = await giving(ports, tenantId, changes, () =>
    change(ports, tenantId, command, clientSecret, origin),
  )
  return required(state, providerId)
}

/** Changes a provider while the custom roles that it is to give stay. @throws Refusal `role_not_found` */
function giving<T>(
  ports: ChangePorts,
  tenantId: string,
  mapping: RoleMapping,
  work: () => Promise<T>,
): Promise<T> {
  return withTenantLock(ports.db, tenantId, 'members', async () => {
    await requireRoles(ports, tenantId, rolesIn(mapping))
    return work()
  })
}

/**
 * Removes a provider and destroys its client secret. The sessions that began at it stop working.
 * @throws Refusal `sign_in_provider_not_found`
 */
export async function removeProvider(
  ports: ChangePorts,
  tenantId: string,
  providerId: string,
  operationId: string,
  origin: Origin,
): Promise<void> {
  const command = { type: 'RemoveProvider', providerId, operationId, at: momentOf(ports) } as const
  await change(ports, tenantId, command, undefined, origin)
}

/** keyledger as the client of a provider, with its secret. @throws Error when the vault has lost the secret */
export async function clientOf(
  { secrets }: Ports<'secrets'>,
  tenantId: string,
  { issuer, clientId, secretOf }: SignInProvider,
): Promise<ProviderClient> {
  const clientSecret = await secrets.open(tenantId, secretName(secretOf))
  if (clientSecret === undefined) throw new Error('the client secret of a sign-in provider is missing')
  return { issuer, clientId, clientSecret }
}

const secretName = (operationId: string): string => `sign-in-provider.${operationId}`

/** Seals a new secret before the event that refers to it is appended, unless the operation was run before. */
async function change(
  ports: ChangePorts,
  tenantId: string,
  command: SignInProviderCommand,
  clientSecret: string | undefined,
  origin: Origin,
): Promise<SignInProviders> {
  const { state } = await ports.execute(
    signInProviders,
    tenantId,
    async (before) => {
      // Refuses before a secret is kept.
      if (signInProviders.decide(before, command).length === 0) return undefined
      if (clientSecret !== undefined)
        await ports.secrets.keep(tenantId, secretName(command.operationId), clientSecret)
      return command
    },
    causeOf(origin, command.at),
  )
  // Also those of a run that was killed before it destroyed them.
  const used = new Set(state.providers.map(({ secretOf }) => secretOf))
  const unused = state.operationIds.filter((id) => !used.has(id))
  await Promise.all(unused.map((id) => ports.secrets.destroy(tenantId, secretName(id))))
  return state
}

/** @throws Refusal when it was removed meanwhile */
function required(state: SignInProviders, providerId: string): SignInProvider {
  const provider = findProvider(state, providerId)
  if (!provider) throw new Refusal('sign_in_provider_not_found')
  return provider
}
