import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import { GivenRole } from '../members/roles.ts'
import { OrganizationRole } from '../organizations/events.ts'
import { Refusal } from '../refusal.ts'
import type { ProviderAudience, ProviderSettings, SignInProviderEvent } from './events.ts'

/** A provider of OpenID Connect that members of a workspace sign in with, or its customers. */
export type SignInProvider = ProviderSettings & {
  providerId: string
  /** It never changes: people are linked by what this issuer calls them. */
  issuer: string
  /** Absent: members of the workspace. It never changes: an approval says whom a provider lets in. */
  audience?: ProviderAudience
  /** The operation that brought the client secret, which names it in the vault. */
  secretOf: string
  createdAt: string
  updatedAt: string
}

/** One that customers sign in to the portal with. */
export type ProviderOfCustomers = SignInProvider & { audience: ProviderAudience }

export const isOfCustomers = (provider: SignInProvider): provider is ProviderOfCustomers =>
  provider.audience !== undefined

/** The providers of a tenant. They share a stream, so that their number has a limit and no issuer is there twice for the same people. */
export type SignInProviders = {
  /** Undefined before the first one. */
  tenantId: string | undefined
  /** In the order in which they were added. */
  providers: readonly SignInProvider[]
  /** Every operation that changed something, so that none is repeated after a crash. */
  operationIds: readonly string[]
}

type Named = { operationId: string; providerId: string; at: string }

export type SignInProviderCommand =
  | (Named & {
      type: 'AddProvider'
      tenantId: string
      issuer: string
      audience?: ProviderAudience | undefined
      settings: ProviderSettings
    })
  /** What is undefined stays. `newSecret`: the vault holds a client secret of this operation. */
  | (Named & { type: 'ChangeProvider'; change: Changes; newSecret: boolean })
  | (Named & { type: 'RemoveProvider' })

type Changes = { readonly [K in keyof ProviderSettings]?: ProviderSettings[K] | undefined }

/** As many as the sign-in page of the dashboard may offer, and as many as a vendor's customers may have. */
export const maxProviders = { members: 10, customers: 100 } as const

const noProviders: SignInProviders = { tenantId: undefined, providers: [], operationIds: [] }

export const findProvider = (
  { providers }: Pick<SignInProviders, 'providers'>,
  providerId: string,
): SignInProvider | undefined => providers.find((provider) => provider.providerId === providerId)

type Addition = Pick<SignInProvider, 'providerId' | 'issuer' | 'audience'>

/**
 * Refuses a provider that cannot be added to these.
 * @throws Refusal `sign_in_provider_exists`, `sign_in_issuer_taken`, `sign_in_provider_limit`
 */
export function requireAddable(
  state: Pick<SignInProviders, 'providers'>,
  { providerId, issuer, audience }: Addition,
): void {
  if (findProvider(state, providerId)) throw new Refusal('sign_in_provider_exists')
  const ofSameKind = state.providers.filter(
    (provider) => (provider.audience === undefined) === (audience === undefined),
  )
  const hasIssuer = ofSameKind.some(
    (provider) => provider.issuer === issuer && provider.audience?.customerId === audience?.customerId,
  )
  if (hasIssuer) throw new Refusal('sign_in_issuer_taken')
  const most = audience === undefined ? maxProviders.members : maxProviders.customers
  if (ofSameKind.length >= most) throw new Refusal('sign_in_provider_limit')
}

type Mapping = { [K in 'roleClaim' | 'roles' | 'defaultRole']?: ProviderSettings[K] | undefined }

/**
 * Refuses roles that nobody has whom the provider is for. Customers who are in no organization have none.
 * @throws Refusal `sign_in_roles_of_others`
 */
export function requireFittingRoles(
  audience: ProviderAudience | undefined,
  { roleClaim = null, roles = [], defaultRole = null }: Mapping,
): void {
  const given = [...roles.map(({ role }) => role), ...(defaultRole === null ? [] : [defaultRole])]
  const isFitting =
    audience?.customerId === null
      ? given.length === 0 && roleClaim === null
      : given.every((role) => (audience ? OrganizationRole : GivenRole).safeParse(role).success)
  if (!isFitting) throw new Refusal('sign_in_roles_of_others')
}

/**
 * Settings that are already recorded and a repeated operation change nothing.
 * @throws Refusal `sign_in_provider_exists`, `sign_in_issuer_taken`, `sign_in_provider_limit`, `sign_in_provider_not_found`,
 *   `sign_in_roles_of_others`
 */
function decide(state: SignInProviders, command: SignInProviderCommand): SignInProviderEvent[] {
  const { operationId, providerId, at } = command
  if (state.operationIds.includes(operationId)) return []
  const present = findProvider(state, providerId)
  if (command.type === 'AddProvider') {
    const { tenantId, issuer, audience, settings } = command
    const whose = audience && { audience }
    requireAddable(state, { providerId, issuer, ...whose })
    requireFittingRoles(audience, settings)
    const data = { tenantId, operationId, providerId, issuer, ...whose, ...settings, at }
    return [{ type: 'SignInProviderAdded', data }]
  }
  if (!present) throw new Refusal('sign_in_provider_not_found')
  if (command.type === 'RemoveProvider')
    return [{ type: 'SignInProviderRemoved', data: { operationId, providerId, at } }]
  const before = settingsOf(present)
  const after = settingsOf({ ...present, ...withoutUndefined(command.change) })
  requireFittingRoles(present.audience, after)
  const decided: SignInProviderEvent[] = []
  if (!sameJson(before, after))
    decided.push({ type: 'SignInProviderChanged', data: { operationId, providerId, ...after, at } })
  if (command.newSecret)
    decided.push({ type: 'SignInProviderSecretReplaced', data: { operationId, providerId, at } })
  return decided
}

const settingsOf = (of: ProviderSettings): ProviderSettings => {
  const { name, clientId, roleClaim, roles, defaultRole, domains } = of
  return { name, clientId, roleClaim, roles, defaultRole, domains }
}

const withoutUndefined = (change: Changes): Partial<ProviderSettings> =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))

/** Never refuses: what is recorded has happened. */
function evolve(state: SignInProviders, { type, data }: SignInProviderEvent): SignInProviders {
  const { operationId, providerId, at } = data
  const operationIds = [...new Set([...state.operationIds, operationId])]
  const changed = (change: Partial<SignInProvider>): SignInProviders => ({
    ...state,
    operationIds,
    providers: state.providers.map((provider) =>
      provider.providerId === providerId ? { ...provider, ...change, updatedAt: at } : provider,
    ),
  })
  switch (type) {
    case 'SignInProviderAdded': {
      const { tenantId, issuer, audience } = data
      const whose = audience && { audience }
      const added = { providerId, issuer, ...whose, secretOf: operationId, createdAt: at, updatedAt: at }
      const providers = [...state.providers, { ...settingsOf(data), ...added }]
      return { tenantId, operationIds, providers }
    }
    case 'SignInProviderChanged':
      return changed(settingsOf(data))
    case 'SignInProviderSecretReplaced':
      return changed({ secretOf: operationId })
    case 'SignInProviderRemoved': {
      const providers = state.providers.filter((provider) => provider.providerId !== providerId)
      return { ...state, operationIds, providers }
    }
  }
}

/** The rules of the streams of sign-in providers, one for each tenant. */
export const signInProviders: Decider<SignInProviders, SignInProviderCommand, 'signin'> = {
  category: 'signin',
  initial: noProviders,
  decide,
  evolve,
}
