import { randomBytes } from 'node:crypto'
import { addEndpoint } from '../../src/commands/webhook-endpoints.ts'
import { setWebhook } from '../../src/commands/webhooks.ts'
import { newLicenseKey } from '../../src/credentials/license-key.ts'
import type { Channel } from '../../src/domain/deliveries/events.ts'
import { saleKeyName } from '../../src/domain/licenses/keys.ts'
import type { Ordering, WebhookEventName } from '../../src/domain/webhooks/events.ts'
import { follow } from '../../src/ledger/follow.ts'
import { scheduleDeliveries } from '../../src/reactions/deliveries.ts'
import { runPollers } from '../../src/reactions/poller.ts'
import { type Channels, createAttempts } from '../../src/webhooks/dispatcher.ts'
import type { DispatchFeed } from '../../src/webhooks/feed.ts'
import { createLocalFeed } from '../../src/webhooks/local-feed.ts'
import { createPublisher } from '../../src/webhooks/publisher.ts'
import type { Resolve } from '../../src/webhooks/targets.ts'
import { createWebhookChannel } from '../../src/webhooks/webhook-channel.ts'
import { terms } from '../domain/licenses/license-samples.ts'
import { commandLicense, origin, type TestLedger } from './ledger.ts'

/** The dispatcher of a test: schedules pending deliveries, publishes due ones, makes attempts and records them. */
export type TestDispatch = {
  failures: unknown[]
  stop(): Promise<void>
}

type Options = {
  /** Replaces or adds channels; by default a webhook to any address. */
  channels?: Channels
  feed?: DispatchFeed
  resolve?: Resolve
  allowPrivate?: boolean
  timeLimitMs?: number
  lostAfterMs?: number
  overAfterMs?: number
}

export async function startDispatch(
  ledger: Pick<TestLedger, 'ports'>,
  options: Options = {},
): Promise<TestDispatch> {
  const { ports } = ledger
  const { resolve = async () => ['127.0.0.1'], allowPrivate = true, timeLimitMs = 2000 } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const failures: unknown[] = []
  const onFailure = (error: unknown) => void (signal.aborted || failures.push(error))
  const webhook = createWebhookChannel(ports, { resolve, rules: { allowPrivate }, timeLimitMs })
  const channels: Channels = { webhook, ...options.channels }
  const feed = options.feed ?? createLocalFeed({ pauseMs: 50 })
  const known: Channel[] = ['webhook', 'mail']
  const publisher = createPublisher(
    { ...ports, feed },
    known.filter((channel) => channels[channel] !== undefined),
    onFailure,
    options.lostAfterMs === undefined ? {} : { lostAfterMs: options.lostAfterMs },
  )
  const scheduling = scheduleDeliveries(ports, onFailure)
  const attempts = createAttempts(
    ports,
    channels,
    onFailure,
    options.overAfterMs === undefined ? {} : { overAfterMs: options.overAfterMs },
  )
  const subscribed = subscribe(ledger, signal, [attempts.onEntry, publisher.onEntry, scheduling.onEntry])
  const running = Promise.all([
    subscribed,
    runPollers([scheduling], signal, onFailure),
    publisher.run(signal),
    feed.consume(attempts.make, 64, signal),
  ])
  return {
    failures,
    async stop() {
      stopping.abort()
      await webhook.close()
      await running
    },
  }
}

async function subscribe(
  { ports: { ledger } }: Pick<TestLedger, 'ports'>,
  signal: AbortSignal,
  subscribers: readonly ReturnType<typeof scheduleDeliveries>['onEntry'][],
): Promise<void> {
  for await (const entry of follow(ledger, await ledger.head(), signal, () => undefined)) {
    for (const onEntry of subscribers) onEntry(entry)
  }
}

let wishes = 0

/** Sets the webhook, also to a URL that no vendor may set. @returns the signing secret when it is new */
export async function pointWebhook(
  { ports }: Pick<TestLedger, 'ports'>,
  tenantId: string,
  url: string,
  { events, rotateSecret = false }: { events?: WebhookEventName[]; rotateSecret?: boolean } = {},
): Promise<string | undefined> {
  const operationId = `cnf_test_${++wishes}`
  const { secret } = await setWebhook(ports, tenantId, { url, events, rotateSecret }, operationId, origin)
  return secret
}

/** Adds an endpoint, also at a URL that no vendor may set. */
export async function addTestEndpoint(
  { ports }: TestLedger,
  tenantId: string,
  url: string,
  events?: WebhookEventName[],
  ordering: Ordering = 'license',
): Promise<{ endpointId: string; secret: string | undefined }> {
  const operationId = `cnf_${ports.newId('cnf').slice(4)}`
  const asked = { url, events, description: '', ordering }
  const { endpoint, secret } = await addEndpoint(ports, tenantId, asked, operationId, origin)
  return { endpointId: endpoint.endpointId, secret }
}

/** Mints a license as a sale does: its raw key is sealed for the deliveries that carry it. */
export async function sellLicense(
  ledger: Pick<TestLedger, 'ports'>,
  tenantId: string,
  { email = 'ada@example.com', saleId = `cs_test_${randomBytes(6).toString('hex')}` } = {},
): Promise<{ licenseId: string; licenseKey: string; saleId: string }> {
  const { ports } = ledger
  const { licenseKey, keyHash, displayKey } = newLicenseKey('ACME', ports.randomBytes)
  const licenseId = ports.newId('lic')
  const at = ports.now().toISOString()
  await ports.secrets.keep(tenantId, saleKeyName(licenseId), licenseKey)
  const holder = await ports.subjects.sealPerson(tenantId, email, 'Ada Lovelace')
  const own = { licenseId, tenantId, keyHash, displayKey, saleId, holder, createdAt: at, at }
  await commandLicense(ledger, licenseId, {
    type: 'MintLicense',
    terms: { ...terms, ...own, expiresAt: null, deviceLimit: 5, source: 'sale' },
  })
  return { licenseId, licenseKey, saleId }
}
