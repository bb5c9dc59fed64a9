import { findIntegration, findIntegrationOfAccount } from '../../projections/integrations.ts'
import { findTenant } from '../../projections/tenants.ts'
import { apiKeyOf } from '../commands/integrations/api-key.ts'
import { ownAccessOf } from '../commands/integrations/own-account.ts'
import { saleOfLink } from '../commands/sales.ts'
import { sameDigest, sha256 } from '../credentials/sha256.ts'
import { type KnownIntegration, packOf } from '../domain/integrations/integration.ts'
import { keyTypeSoldAs } from '../domain/integrations/mapping.ts'
import type { Provider, SigningMarketplace } from '../domain/integrations/provider.ts'
import { Refusal } from '../domain/refusal.ts'
import { isSlug } from '../domain/values.ts'
import { ProviderRefused } from '../payments/errors.ts'
import { giverNamed, translatePing, translateResource } from '../payments/gumroad/notification.ts'
import type { PaymentNotification } from '../payments/notification.ts'
import type { Incoming } from '../payments/payment-provider.ts'
import { paymentProviders } from '../payments/registry.ts'
import type { CardAccess } from '../payments/stripe/api.ts'
import { namesOf } from '../payments/stripe/invoices.ts'
import { isNamed, withLineItems } from '../payments/stripe/line-items.ts'
import { type StripeNotification, translateStripe, verifyStripe } from '../payments/stripe/notification.ts'
import { ignored, incomplete, type Translated } from '../payments/translated.ts'
import type { Ports } from '../ports.ts'

/** A verified notification, and the tenant that it is for. */
export type VerifiedNotification = {
  tenantId: string
  translated: Translated
  /** Another name of its payment, by which the sale is known instead. It is received first. */
  paymentNamed?: PaymentNotification | undefined
}

/**
 * Verifies an event of stripe, signed with the platform's secret. It is for the tenant whose account it names; an event of
 * the platform's own account is for the tenant that its metadata names, and only in test mode.
 * @returns `bad_signature` when the signature is wrong or stale; undefined for an account that no tenant has connected
 * @throws ProviderUnavailable, ProviderRefused when stripe has to be asked and does not answer
 */
export async function verifyStripeEvent(
  ports: Ports<'db' | 'ledger' | 'now' | 'providers'>,
  secret: string,
  { raw, header }: Incoming,
): Promise<VerifiedNotification | 'bad_signature' | undefined> {
  if (!(await verifyStripe(raw, header('stripe-signature'), secret, ports.now()))) return 'bad_signature'
  const event = translateStripe(raw.toString('utf8'))
  if (!event) return undefined
  const { accountId, testTenantId } = event
  const tenantId = accountId === undefined ? testTenantId : await tenantOfAccount(ports, accountId)
  if (tenantId === undefined || !(await tenantExists(ports, tenantId))) return undefined
  const access = accountId === undefined || !ports.providers.hasPlatformKey ? undefined : { accountId }
  return withRead(ports, tenantId, access, event)
}

/**
 * Verifies an event of a tenant's own account at stripe, signed with the secret of the tenant's own endpoint.
 * @returns undefined when the signature is wrong or stale, and when the tenant has connected no account of its own
 * @throws ProviderUnavailable, ProviderRefused when stripe has to be asked and does not answer
 */
export async function verifyOwnStripeEvent(
  ports: Ports<'db' | 'ledger' | 'now' | 'providers' | 'secrets'>,
  tenantId: string,
  { raw, header }: Incoming,
): Promise<VerifiedNotification | undefined> {
  const integration = await connected(ports, tenantId, 'stripe')
  const name = integration?.ownAccount ? integration.credentials.webhookSecret : null
  const secret = name === null ? undefined : await ports.secrets.open(tenantId, name)
  if (!integration || secret === undefined) return undefined
  if (!(await verifyStripe(raw, header('stripe-signature'), secret, ports.now()))) return undefined
  const event = translateStripe(raw.toString('utf8'))
  if (!event) return { tenantId, translated: incomplete }
  // The tenant may be a platform itself: what its connected accounts sell is not its own sale.
  if (event.accountId !== undefined) return { tenantId, translated: ignored }
  const access = await ownAccessOf(ports, integration)
  return withRead(ports, tenantId, access, event)
}

/** The event with what only stripe itself knows of it. */
async function withRead(
  ports: Ports<'ledger' | 'providers'>,
  tenantId: string,
  access: CardAccess | undefined,
  event: StripeNotification,
): Promise<VerifiedNotification> {
  const translated = await withSessionItems(ports, tenantId, access, event)
  return { tenantId, translated, paymentNamed: await paymentNamedBy(ports, tenantId, access, translated) }
}

/**
 * Reads what was bought in a session of stripe. Nothing of the sale is recorded before: when stripe does not answer, or the
 * process is killed, the notification is not acknowledged, and stripe sends it again.
 * @param access undefined when there is no key to read with; the sale is then what the notification says
 * @throws ProviderUnavailable; ProviderRefused when the notification does not say what was sold
 */
async function withSessionItems(
  ports: Ports<'ledger' | 'providers'>,
  tenantId: string,
  access: CardAccess | undefined,
  { sessionToRead: session, translated }: Pick<StripeNotification, 'sessionToRead' | 'translated'>,
): Promise<Translated> {
  if (!access || session === undefined || translated.type !== 'sold') return translated
  const place = { tenantId, provider: 'stripe', link: `sale:${session}` } as const
  // The items of a sale that is known are recorded.
  if ((await saleOfLink(ports, place)) !== null) return translated
  try {
    return withLineItems(translated, await ports.providers.card.readLineItems(access, session))
  } catch (error) {
    if (!(error instanceof ProviderRefused)) throw error
    // A live key does not find a session of test mode, now or later.
    const isElsewhere = error.reason === 'missing' && translated.test
    // A buyer whose license is known gets it, although the key may not read whether there is more.
    if (isElsewhere || isNamed(translated)) return translated
    throw error
  }
}

/**
 * Asks stripe which invoice a refunded or disputed payment has paid, when its sale is not known: a subscription's
 * checkout names its invoice, but a charge only its payment.
 * @param access undefined when there is no key to ask with
 * @returns undefined when the sale is known, the payment has paid no invoice, or there is no key to ask with
 * @throws ProviderUnavailable
 */
async function paymentNamedBy(
  ports: Ports<'ledger' | 'providers'>,
  tenantId: string,
  access: CardAccess | undefined,
  translated: Translated,
): Promise<PaymentNotification | undefined> {
  if (!access || !isOfPayment(translated) || !translated.link.startsWith(paymentPrefix)) return undefined
  const { provider, link, notificationId, test, at } = translated
  if ((await saleOfLink(ports, { tenantId, provider, link })) !== null) return undefined
  const payment = link.slice(paymentPrefix.length)
  try {
    const invoice = await ports.providers.card.readInvoiceOf(access, payment)
    if (invoice === undefined) return undefined
    const common = { provider: 'stripe', notificationId: `${notificationId}.invoice`, test, at } as const
    return namesOf(invoice, payment, common)
  } catch (error) {
    // Asking again would give the same answer. The notification is kept until another one names its payment.
    if (error instanceof ProviderRefused || error instanceof Refusal) return undefined
    throw error
  }
}

const paymentPrefix = 'payment:'

async function tenantOfAccount({ db }: Ports<'db'>, accountId: string): Promise<string | undefined> {
  const integration = await findIntegrationOfAccount(db, accountId)
  if (!integration || integration.status === 'disconnected' || integration.ownAccount) return undefined
  return integration.tenantId
}

async function tenantExists({ db }: Ports<'db'>, tenantId: string): Promise<boolean> {
  return isSlug(tenantId) && (await findTenant(db, tenantId)) !== undefined
}

/**
 * Verifies a notification that is signed with the secret of the tenant's own connection.
 * @returns undefined when the signature is wrong or stale, and when there is no such connection
 * @throws ProviderUnavailable, ProviderRefused when the provider has to be asked and does not answer
 */
export async function verifySigned(
  ports: Ports<'db' | 'now' | 'providers' | 'secrets'>,
  tenantId: string,
  provider: SigningMarketplace,
  incoming: Incoming,
): Promise<VerifiedNotification | undefined> {
  const integration = await connected(ports, tenantId, provider)
  const name = integration?.credentials.webhookSecret
  const secret = name ? await ports.secrets.open(tenantId, name) : undefined
  const now = ports.now()
  if (!integration || secret === undefined) return undefined
  if (!paymentProviders[provider].isSigned(incoming, secret, now)) return undefined
  const { mappings } = integration
  const apiKey = await apiKeyOf(ports, integration)
  const isMapped = (id: string) =>
    mappings.some(({ mapping }) => keyTypeSoldAs(mapping, id) !== undefined) ||
    packOf(integration, id) !== undefined
  const translated = await ports.providers.translate(provider, incoming, { apiKey, isMapped, now })
  return { tenantId, translated }
}

/**
 * Verifies a form of gumroad, which is authenticated by the token in the address alone.
 * @returns undefined for a bad token, an unknown tenant and one that is not connected, so that the caller cannot tell them apart
 */
export async function verifyGumroadForm(
  ports: Ports<'db' | 'ledger' | 'now'>,
  tenantId: string,
  address: { kind: 'ping' | 'resource'; token: string },
  { raw }: Incoming,
): Promise<VerifiedNotification | undefined> {
  const integration = await connected(ports, tenantId, 'gumroad')
  // Compared even when there is nothing to compare with, so that the time it takes reveals nothing either.
  const known = integration?.credentials.pingToken?.hash ?? sha256('')
  const isGood = sameDigest(known, sha256(address.token)) && address.token !== ''
  if (!integration || !isGood) return undefined
  const text = raw.toString('utf8')
  if (address.kind === 'ping') return { tenantId, translated: translatePing(text, ports.now()) }
  const translated = translateResource(text, ports.now())
  return { tenantId, translated, paymentNamed: await giverNamedBy(ports, tenantId, text, translated) }
}

/** A refunded or disputed purchase that is no known sale may be that of a gift's giver. */
async function giverNamedBy(
  ports: Ports<'ledger'>,
  tenantId: string,
  raw: string,
  translated: Translated,
): Promise<PaymentNotification | undefined> {
  if (!isOfPayment(translated)) return undefined
  const { provider, link } = translated
  const isKnown = (await saleOfLink(ports, { tenantId, provider, link })) !== null
  return isKnown ? undefined : giverNamed(raw, translated)
}

const ofPayments: ReadonlySet<string> = new Set(['refunded', 'disputed', 'dispute_won', 'dispute_lost'])

const isOfPayment = (translated: Translated): translated is Extract<PaymentNotification, { link: string }> =>
  ofPayments.has(translated.type)

async function connected(
  ports: Ports<'db'>,
  tenantId: string,
  provider: Provider,
): Promise<KnownIntegration | undefined> {
  if (!isSlug(tenantId)) return undefined
  const integration = await findIntegration(ports.db, tenantId, provider)
  return integration?.status === 'connected' ? integration : undefined
}
