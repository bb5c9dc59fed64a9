import { findIntegration } from '../../../projections/integrations.ts'
import { newSecret } from '../../credentials/secret.ts'
import { sameDigest, sha256 } from '../../credentials/sha256.ts'
import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import { Refusal } from '../../domain/refusal.ts'
import { ProviderRefused } from '../../payments/errors.ts'
import type { CardAccess, CardAccount } from '../../payments/stripe/api.ts'
import type { Ports } from '../../ports.ts'
import type { Origin } from '../origin.ts'
import { changeIntegration, disconnect } from './integrations.ts'
import { ownAccessOf } from './own-account.ts'

/** keyledger's own URLs, to which the card provider redirects people. */
export type ReturnAddresses = (state: string) => { returnUrl: string; refreshUrl: string }

/**
 * Starts or continues the onboarding of the tenant's account at the card provider. An account that was
 * connected before is used again.
 * @returns the URL of the provider's onboarding; valid once, for some minutes
 * @throws Refusal `integration_connected`, `platform_key_missing`
 * @throws ProviderRefused, ProviderUnavailable; nothing has changed then
 */
export async function startOnboarding(
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  addresses: ReturnAddresses,
  origin: Origin,
): Promise<string> {
  const known = await findIntegration(ports.db, tenantId, 'stripe')
  if (known?.status === 'connected') throw new Refusal('integration_connected')
  const former = known?.accountId ?? undefined
  const begun = former === undefined ? undefined : await continued(ports, tenantId, former, addresses)
  const { accountId, url } = begun ?? (await opened(ports, tenantId, former, addresses))
  await changeIntegration(ports, tenantId, 'stripe', origin, (at) => ({
    type: 'StartOnboarding',
    tenantId,
    accountId,
    at,
  }))
  return url
}

type Begun = { accountId: string; url: string }

/** Undefined when the account is closed, or no longer grants the platform access: another one is needed. */
async function continued(
  ports: Ports<'providers' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  accountId: string,
  addresses: ReturnAddresses,
): Promise<Begun | undefined> {
  try {
    return { accountId, url: await link(ports, tenantId, accountId, addresses) }
  } catch (error) {
    const isLost =
      error instanceof ProviderRefused && (error.reason === 'permission' || error.reason === 'missing')
    if (isLost) return undefined
    throw error
  }
}

/**
 * Opens an account. Its idempotency key is kept first and permanently, so that the provider returns the same
 * account to a repetition after a crash, and to a concurrent run, instead of opening two.
 */
async function opened(
  ports: Ports<'providers' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  former: string | undefined,
  addresses: ReturnAddresses,
): Promise<Begun> {
  const name = `integration.stripe.account-after.${former ?? 'none'}`
  const fresh = Buffer.from(ports.randomBytes(24)).toString('base64url')
  const idempotencyKey = await ports.secrets.keep(tenantId, name, fresh)
  const accountId = await ports.providers.card.openAccount(tenantId, idempotencyKey)
  return { accountId, url: await link(ports, tenantId, accountId, addresses) }
}

async function link(
  ports: Ports<'providers' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  accountId: string,
  addresses: ReturnAddresses,
): Promise<string> {
  const fresh = newSecret(ports.randomBytes)
  const state = await ports.secrets.keep(tenantId, stateName(accountId), fresh)
  const { returnUrl, refreshUrl } = addresses(state)
  return ports.providers.card.onboardingLink(accountId, returnUrl, refreshUrl)
}

/** The name of the state parameter that authenticates a person's return from the provider. */
const stateName = (accountId: string): string => `integration.stripe.onboarding.${accountId}`

export type ReturnVisit = 'connected' | 'unfinished'

/**
 * Handles a person's return from the onboarding: asks the provider for its progress, and records the
 * connection once all details are submitted.
 * @returns undefined when the state is not the issued one
 * @throws Refusal `platform_key_missing`, ProviderRefused, ProviderUnavailable
 */
export async function finishOnboarding(
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'secrets'>,
  tenantId: string,
  state: string,
  origin: Origin,
): Promise<ReturnVisit | undefined> {
  const account = await expected(ports, tenantId, state)
  if (!account) return undefined
  if (account.status === 'connected') return 'connected'
  const { accountId } = account
  const { detailsSubmitted } = await ports.providers.card.readAccount({ accountId })
  if (!detailsSubmitted) return 'unfinished'
  await changeIntegration(ports, tenantId, 'stripe', origin, (at) => ({
    type: 'FinishOnboarding',
    accountId,
    at,
  }))
  return 'connected'
}

/**
 * Handles a person's return because the onboarding's URL was used or had expired.
 * @returns another URL; undefined when the state is not the issued one, or no onboarding is running
 * @throws Refusal `platform_key_missing`, ProviderRefused, ProviderUnavailable
 */
export async function refreshOnboarding(
  ports: Ports<'db' | 'providers' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  state: string,
  addresses: ReturnAddresses,
): Promise<string | undefined> {
  const account = await expected(ports, tenantId, state)
  return account?.status === 'onboarding' ? link(ports, tenantId, account.accountId, addresses) : undefined
}

/**
 * Removes the account's connection, which invalidates every issued URL. The account stays open at the
 * provider.
 */
export async function disconnectCardAccount(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  tenantId: string,
  origin: Origin,
): Promise<void> {
  const integration = await disconnect(ports, tenantId, 'stripe', origin)
  if (integration.status === 'absent' || integration.accountId === null) return
  await ports.secrets.destroy(tenantId, stateName(integration.accountId))
}

async function expected(
  ports: Ports<'db' | 'secrets'>,
  tenantId: string,
  state: string,
): Promise<{ status: KnownIntegration['status']; accountId: string } | undefined> {
  const known = await findIntegration(ports.db, tenantId, 'stripe')
  if (!known || known.accountId === null || known.status === 'disconnected') return undefined
  // An account of the tenant's own has taken the place of the onboarding.
  if (known.ownAccount) return undefined
  const { status, accountId } = known
  const kept = await ports.secrets.open(tenantId, stateName(accountId))
  // Compare hashes, so that the comparison takes the same time for any input.
  const isOurs = kept !== undefined && sameDigest(sha256(kept), sha256(state))
  return isOurs ? { status, accountId } : undefined
}

export type CardStatus = {
  status: 'not_connected' | 'onboarding' | 'connected'
  /** Whether the account is connected through the platform or with a key of its own; null without a connection. */
  mode: CardMode | null
  /** Whether the account's own key is one of test mode. */
  test: boolean
  connectedAt: string | null
  accountId: string | null
  /**
   * The provider's present state; null without an account, or when the platform no longer has access to it.
   */
  account: CardAccount | null
}

type CardMode = 'connect' | 'own_account'

/** @throws Refusal `platform_key_missing`, `platform_key_refused`, ProviderUnavailable */
export async function cardStatus(
  ports: Ports<'db' | 'providers' | 'secrets'>,
  tenantId: string,
): Promise<CardStatus> {
  const known = await findIntegration(ports.db, tenantId, 'stripe')
  if (known?.status === 'connected' && known.ownAccount) {
    const { status, connectedAt, ownAccount } = known
    const access = await ownAccessOf(ports, known)
    const account = access ? await seen(ports, access) : null
    return { status, mode: 'own_account', test: ownAccount.test, connectedAt, accountId: null, account }
  }
  if (!known || known.accountId === null || known.status === 'disconnected') {
    const nothing = { mode: null, test: false, connectedAt: null, accountId: null, account: null }
    return { status: 'not_connected', ...nothing }
  }
  const { status, connectedAt, accountId } = known
  const account = await seen(ports, { accountId })
  return { status, mode: 'connect', test: false, connectedAt, accountId, account }
}

async function seen(ports: Ports<'providers'>, access: CardAccess): Promise<CardAccount | null> {
  try {
    return await ports.providers.card.readAccount(access)
  } catch (error) {
    if (error instanceof ProviderRefused) return null
    throw error
  }
}
