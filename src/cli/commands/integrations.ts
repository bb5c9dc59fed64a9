import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { findTenant } from '../../../projections/tenants.ts'
import { baseUrlOf } from '../../app/start/own-address.ts'
import { withStores } from '../../app/with-stores.ts'
import { startOnboarding } from '../../commands/integrations/card-account.ts'
import { connectMarketplace } from '../../commands/integrations/integrations.ts'
import { connectOwnAccount } from '../../commands/integrations/own-account.ts'
import type { Origin } from '../../commands/origin.ts'
import { parseConfig } from '../../config.ts'
import { Provider, ProviderCredential, type SigningMarketplace } from '../../domain/integrations/provider.ts'
import { Refusal } from '../../domain/refusal.ts'
import {
  onboardingAddresses,
  pingUrlOf,
  resourcesUrlOf,
  stripeWebhookUrlOf,
  webhookUrlOf,
} from '../../payments/addresses.ts'
import type { Ports } from '../../ports.ts'
import { print } from '../../terminal/output.ts'
import { parsed } from '../arguments.ts'
import { hostOptionsIn } from '../host-form.ts'

/** What to set up at the provider; it contains secrets that are shown only once. */
type Revealed = Record<string, string>

/**
 * `keyledger integrations connect <provider> --tenant <id>`: connects a payment provider, and prints what to enter
 * there, which is shown only once.
 */
export async function connectOnHost(
  [name]: readonly string[],
  given: Record<string, unknown>,
): Promise<void> {
  const options = hostOptionsIn({ secrets: z.boolean().default(false) }, given)
  const provider = parsed(Provider, name, 'the provider')
  const secrets = options.secrets ? await secretsOnStdin() : undefined
  const baseUrl = baseUrlOf(parseConfig(process.env))
  await withStores(async ({ ports }, origin) => {
    if (!(await findTenant(ports.db, options.tenant))) throw new Refusal('tenant_not_found')
    const connected = { tenantId: options.tenant, baseUrl }
    const revealed = await connect(ports, connected, provider, secrets, origin)
    print(options, revealed, () => Object.entries(revealed).map(([what, value]) => `${what}  ${value}`))
  })
}

type Connected = { tenantId: string; baseUrl: string }
type Secrets = { webhookSecret: string; apiKey?: string }

function connect(
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  connected: Connected,
  provider: Provider,
  given: Secrets | undefined,
  origin: Origin,
): Promise<Revealed> {
  if (provider === 'stripe') {
    return given ? connectOwnStripe(ports, connected, given, origin) : connectStripe(ports, connected, origin)
  }
  if (provider === 'gumroad') return connectGumroad(ports, connected, origin)
  return connectSigning(ports, connected, provider, given, origin)
}

async function connectStripe(
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  { tenantId, baseUrl }: Connected,
  origin: Origin,
): Promise<Revealed> {
  return { url: await startOnboarding(ports, tenantId, onboardingAddresses(baseUrl, tenantId), origin) }
}

async function connectOwnStripe(
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'secrets'>,
  { tenantId, baseUrl }: Connected,
  { webhookSecret, apiKey = '' }: Secrets,
  origin: Origin,
): Promise<Revealed> {
  await connectOwnAccount(ports, tenantId, { webhookSecret, apiKey }, origin.requestId, origin)
  return { webhookUrl: stripeWebhookUrlOf(baseUrl, tenantId) }
}

async function connectGumroad(
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  { tenantId, baseUrl }: Connected,
  origin: Origin,
): Promise<Revealed> {
  const { pingToken = '' } = await connectMarketplace(
    ports,
    tenantId,
    { provider: 'gumroad' },
    origin.requestId,
    origin,
  )
  return {
    pingUrl: pingUrlOf(baseUrl, tenantId, pingToken),
    resourcesUrl: resourcesUrlOf(baseUrl, tenantId, pingToken),
  }
}

async function connectSigning(
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  { tenantId, baseUrl }: Connected,
  provider: SigningMarketplace,
  given: Secrets | undefined,
  origin: Origin,
): Promise<Revealed> {
  // Lemon Squeezy accepts at most 40 characters.
  const made = { webhookSecret: Buffer.from(ports.randomBytes(24)).toString('base64url') }
  const secrets = given ?? made
  await connectMarketplace(ports, tenantId, { provider, ...secrets }, origin.requestId, origin)
  return { webhookUrl: webhookUrlOf(baseUrl, tenantId, provider), ...(!given && made) }
}

/** Not as arguments, which every user of the host can read. */
async function secretsOnStdin(): Promise<Secrets> {
  const [first = '', second = ''] = (await text(process.stdin)).split('\n').map((line) => line.trim())
  const webhookSecret = parsed(ProviderCredential, first, 'the webhook secret')
  return second === ''
    ? { webhookSecret }
    : { webhookSecret, apiKey: parsed(ProviderCredential, second, 'the API key') }
}
