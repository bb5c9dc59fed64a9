import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import { Refusal } from '../refusal.ts'
import type { ProviderSettings, SignInProviderEvent } from './events.ts'

/** A provider of OpenID Connect that members of a workspace sign in with. */
export type SignInProvider = ProviderSettings & {
  providerId: string
  /** It never changes: people are linked by what this issuer calls them. */
  issuer: string
  /** The operation that brought the client secret, which names it in the vault. */
  secretOf: string
  createdAt: string
  updatedAt: string
}

/** The providers of a tenant. They share a stream, so that their number has a limit and no issuer is there twice. */
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
  | (Named & { type: 'AddProvider'; tenantId: string; issuer: string; settings: ProviderSettings })
  /** What is undefined stays. `newSecret`: the vault holds a client secret of this operation. */
  | (Named & { type: 'ChangeProvider'; change: Changes; newSecret: boolean })
  | (Named & { type: 'RemoveProvider' })

type Changes = { readonly [K in keyof ProviderSettings]?: ProviderSettings[K] | undefined }

export const maxProviders = 10

const noProviders: SignInProviders = { tenantId: undefined, providers: [], operationIds: [] }

export const findProvider = (
  { providers }: Pick<SignInProviders, 'providers'>,
  providerId: string,
): SignInProvider | undefined => providers.find((provider) => provider.providerId === providerId)

/**
 * Settings that are already recorded and a repeated operation change nothing.
 * @throws Refusal `sign_in_provider_exists`, `sign_in_issuer_taken`, `sign_in_provider_limit`, `sign_in_provider_not_found`
 */
function decide(state: SignInProviders, command: SignInProviderCommand): SignInProviderEvent[] {
  const { operationId, providerId, at } = command
  if (state.operationIds.includes(operationId)) return []
  const present = findProvider(state, providerId)
  if (command.type === 'AddProvider') {
    const { tenantId, issuer, settings } = command
    if (present) throw new Refusal('sign_in_provider_exists')
    if (state.providers.some((provider) => provider.issuer === issuer))
      throw new Refusal('sign_in_issuer_taken')
    if (state.providers.length >= maxProviders) throw new Refusal('sign_in_provider_limit')
    const data = { tenantId, operationId, providerId, issuer, ...settings, at }
    return [{ type: 'SignInProviderAdded', data }]
  }
  if (!present) throw new Refusal('sign_in_provider_not_found')
  if (command.type === 'RemoveProvider')
    return [{ type: 'SignInProviderRemoved', data: { operationId, providerId, at } }]
  const before = settingsOf(present)
  const after = settingsOf({ ...present, ...withoutUndefined(command.change) })
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
      const { tenantId, issuer } = data
      const added = { providerId, issuer, secretOf: operationId, createdAt: at, updatedAt: at }
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
