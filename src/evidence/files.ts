import { readFileSync } from 'node:fs'
import { listDeliveriesOfLicense } from '../../projections/deliveries/queries.ts'
import { listDevices } from '../../projections/licenses/queries.ts'
import { saleStreamOf } from '../commands/sales.ts'
import { sha256 } from '../credentials/sha256.ts'
import type { KnownDelivery } from '../domain/deliveries/delivery.ts'
import { shownSeat } from '../domain/licenses/seats.ts'
import type { LogEntry } from '../domain/recorded.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import {
  confirmationStream,
  customerStream,
  deliveryStream,
  licenseStream,
  linkStream,
  signingStream,
} from '../domain/streams.ts'
import { type LicenseHistoryEntry, readHistory } from '../history/entries.ts'
import { createWithholding } from '../notary/withheld.ts'
import type { Ports } from '../ports.ts'
import { readSaleEvents } from '../sales/history.ts'
import { readTelemetry } from '../usage/device-telemetry.ts'
import { shownPayloads } from '../webhooks/public-events.ts'
import type { Case, DeliveryCounts } from './case.ts'
import { eventFiles } from './event-files.ts'
import { eventsIn, eventsInAll } from './events.ts'
import { type ArchiveProofs, openProofs } from './proofs.ts'
import { readme } from './readme.ts'
import { summaryOf } from './summary.ts'
import { type ArchivedFile, jsonFile, lineFiles } from './zip.ts'

const pageSize = 100

/** All files of an archive except the manifest, one at a time. */
export async function* filesOf(
  ports: Ports<'db' | 'deriveId' | 'ledger' | 'receipts' | 'secrets' | 'subjects'>,
  about: Case,
): AsyncIterable<ArchivedFile> {
  const { sale, licenseId } = about
  const none = () => ({ pending: 0, delivered: 0, abandoned: 0 })
  const counts: DeliveryCounts = { webhook: none(), mail: none() }
  const proofs = await openProofs(ports, about)
  yield { name: 'README.txt', content: Buffer.from(readme(about, proofs !== undefined)) }
  yield jsonFile('license.json', licenseOf(about))
  yield* lineFiles('devices', devicesOf(ports, licenseId))
  yield* lineFiles('history', historyOf(ports, about))
  if (sale) {
    yield jsonFile('sale.json', saleOf(sale, about))
    yield* notificationFiles(ports, sale)
  }
  yield* lineFiles('deliveries', deliveriesOf(ports, about, counts))
  yield jsonFile('usage.json', usageOf(about))
  yield* allEventFiles(ports, about, proofs)
  if (proofs) yield* proofFiles(proofs)
  yield { name: 'summary.html', content: Buffer.from(await summaryOf(ports, about, counts)) }
}

function licenseOf({ entry, holder }: Case): object {
  const { keyHash: _, holder: __, seats: ___, status: ____, ...license } = entry.license
  return { revision: entry.revision, ...license, email: holder.email, name: holder.name }
}

async function* devicesOf({ db }: Ports<'db'>, licenseId: string): AsyncIterable<object> {
  const telemetry = await readTelemetry(db, licenseId)
  for (const seat of await listDevices(db, licenseId)) {
    yield { ...shownSeat(seat), telemetry: telemetry.get(seat.instanceId) ?? null }
  }
}

/** The history in public terms, oldest first, as of the archive's beginning. */
async function* historyOf(
  ports: Ports<'db' | 'subjects'>,
  { tenantId, licenseId, entry }: Case,
): AsyncIterable<LicenseHistoryEntry> {
  let after: number | undefined
  do {
    const page = await readHistory(
      ports,
      { tenantId, licenseId },
      { order: 'oldest', after, limit: pageSize },
    )
    for (const shown of page.entries) if (shown.sequence <= entry.revision) yield shown
    after = page.next
  } while (after !== undefined && after < entry.revision)
}

function saleOf({ customer: _, keyName: __, ...sale }: KnownSale, { buyer }: Case): object {
  return { ...sale, email: buyer.email, name: buyer.name }
}

async function* deliveryPages({ db }: Ports<'db'>, licenseId: string): AsyncIterable<KnownDelivery[]> {
  let page: KnownDelivery[] = []
  do {
    page = await listDeliveriesOfLicense(db, licenseId, page.at(-1), pageSize)
    yield page
  } while (page.length === pageSize)
}

/**
 * The deliveries with every attempt and, for a webhook, the payload with the key masked. Mails are not stored
 * after they were sent.
 */
async function* deliveriesOf(
  ports: Ports<'db' | 'deriveId' | 'subjects'>,
  { tenantId, licenseId }: Case,
  counts: DeliveryCounts,
): AsyncIterable<object> {
  for await (const page of deliveryPages(ports, licenseId)) {
    const payloads = await shownPayloads(ports, tenantId, page)
    for (const [index, { place: _, ...delivery }] of page.entries()) {
      counts[delivery.channel][delivery.status]++
      const payload = delivery.channel === 'webhook' ? (payloads[index] ?? null) : null
      yield { ...delivery, payload }
    }
  }
}

function usageOf({ entry, counted }: Case): object {
  return {
    note: 'Validations are counted per product and hour, not per license: these are all validations of the product since this license was issued. See devices for when each device was last seen.',
    productId: entry.license.productId,
    since: entry.license.createdAt,
    ...counted,
  }
}

async function* allEventFiles(
  ports: Ports<'db' | 'ledger'>,
  about: Case,
  proofs: ArchiveProofs | undefined,
): AsyncIterable<ArchivedFile> {
  const { ledger } = ports
  const { tenantId, licenseId, entry, sale, confirmationIds } = about
  const withheldOf = createWithholding()
  const files = (name: string, entries: AsyncIterable<LogEntry>) =>
    eventFiles(name, entries, withheldOf, proofs)
  yield* files('license', eventsIn(ledger, licenseStream(licenseId), entry.revision))
  if (sale) {
    yield* files('sale', eventsIn(ledger, saleStreamOf(sale)))
    const { provider, links } = sale
    const linkStreams = links.map((link) => linkStream(tenantId, provider, sha256(link)))
    yield* files('notices', eventsInAll(ledger, linkStreams))
  }
  const { customerId } = entry.license
  if (customerId !== null) yield* files('customer', eventsIn(ledger, customerStream(customerId)))
  const confirmations = confirmationIds.map(confirmationStream)
  yield* files('confirmations', eventsInAll(ledger, confirmations))
  yield* files('deliveries', eventsInAll(ledger, deliveryStreams(ports, licenseId)))
  // With it, the key of the log proves whose signature the manifest has.
  if (proofs) yield* files('signing', eventsIn(ledger, signingStream(tenantId)))
}

/** What the proofs lead to, and a program that verifies them. */
function* proofFiles({ checkpoint, keys }: ArchiveProofs): Iterable<ArchivedFile> {
  yield { name: 'proofs/checkpoint', content: Buffer.from(checkpoint) }
  yield { name: 'proofs/keys.txt', content: Buffer.from(keys) }
  yield { name: 'verify.mjs', content: readFileSync(verifier) }
}

/** Generated from src/verifier by infra/build/evidence-verifier.ts. */
const verifier = new URL('./verify.mjs', import.meta.url)

async function* deliveryStreams(ports: Ports<'db'>, licenseId: string): AsyncIterable<string> {
  for await (const page of deliveryPages(ports, licenseId)) {
    for (const { deliveryId } of page) yield deliveryStream(deliveryId)
  }
}

/** The payment provider's notifications, byte for byte, as far as they are stored; and a list of all. */
async function* notificationFiles(
  ports: Ports<'ledger' | 'secrets'>,
  sale: KnownSale,
): AsyncIterable<ArchivedFile> {
  const list: object[] = []
  for (const { type, data } of await readSaleEvents(ports, sale)) {
    if (!('payload' in data)) continue
    const raw = await ports.secrets.open(sale.tenantId, data.payload)
    const name = `notifications/${String(list.length + 1).padStart(4, '0')}.txt`
    const { notificationId, occurredAt, at: receivedAt } = data
    const file = raw === undefined ? null : name
    list.push({ provider: sale.provider, notificationId, event: type, occurredAt, receivedAt, file })
    if (raw !== undefined) yield { name, content: Buffer.from(raw) }
  }
  yield jsonFile('notifications.json', list)
}
