import { mailNameOf, publicNameOf } from '../../src/domain/deliveries/outbox.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import type { WebhookEventName } from '../../src/domain/webhooks/events.ts'
import type { Statement, Statements } from '../statements.ts'
import { defineTable, type RowIn, type RowOf } from '../table.ts'
import { applyToEndpoint, type EndpointAt, loadEndpoints, writesOfEndpoints } from './endpoints.ts'
import { publicEvents } from './public-events.ts'

/**
 * The outbox: deliveries that are not scheduled yet. They follow from the log alone, so a rebuild finds the same ones
 * with the same sequence numbers, whenever an endpoint was added, changed or removed.
 */
export const owedDeliveries = defineTable(
  'owed_deliveries',
  {
    licenseId: 'text not null',
    licenseRevision: 'int not null',
    channel: 'text not null',
    // Of the webhook; empty for a mail.
    endpointId: 'text not null',
    tenantId: 'text not null',
    event: 'text not null',
    sequence: 'int',
    eventId: 'uuid not null',
    correlationId: 'text not null',
    position: 'bigint not null',
  },
  {
    key: ['licenseId', 'licenseRevision', 'channel', 'endpointId'],
    over: 'nothing',
    // One that is scheduled already is skipped, as when the same events are applied again.
    where: `not exists (
      select from deliveries d
      where d.license_id = r.license_id and d.license_revision = r.license_revision and d.channel = r.channel
        and d.endpoint_id = r.endpoint_id
    )`,
    indexes: { owed_deliveries_by_age: '(position)' },
  },
)

/** The last number given within each license for each endpoint and for the feed, and the event that got it. */
export const deliverySequences = defineTable(
  'delivery_sequences',
  {
    licenseId: 'text not null',
    endpointId: 'text not null',
    revision: 'int not null',
    sequence: 'int not null',
  },
  { key: ['licenseId', 'endpointId'], over: 'older row' },
)

type RecordedLicense = Recorded<'license'>
type Sequence = RowIn<typeof deliverySequences>

const idOf = ({ stream }: RecordedLicense): string => stream.slice('license-'.length)
const tenantOf = ({ stream }: Recorded<'webhook'>): string => stream.slice('webhook-'.length)

const isWebhook = (recorded: Recorded): recorded is Recorded<'webhook'> => recorded.category === 'webhook'
/** An event of a license with a public name or a mail. */
const isPublic = (recorded: Recorded): recorded is RecordedLicense =>
  recorded.category === 'license' &&
  (publicNameOf(recorded.event) ?? mailNameOf(recorded.event)) !== undefined

/** Records public events, and a pending delivery for each that a webhook or mail wants. */
export async function applyToPending(db: Statements, entries: readonly Recorded[]): Promise<Statement[]> {
  const own = entries.filter((entry) => isWebhook(entry) || isPublic(entry))
  if (own.length === 0) return []
  const ofLicenses = own.filter(isPublic)
  const issued = tenantsOfIssued(entries)
  const licenseIds = [...new Set(ofLicenses.map(idOf))]
  const others = licenseIds.filter((id) => !issued.has(id))
  const [known, sequences, endpoints] = await Promise.all([
    loadTenants(db, others),
    loadSequences(db, licenseIds),
    loadEndpoints(db, [...new Set([...issued.values(), ...own.filter(isWebhook).map(tenantOf)])], others),
  ])
  const tenants = new Map([...issued, ...known])
  const changed = new Set<string>()
  const numbering = createNumbering(sequences)
  const pending: RowIn<typeof owedDeliveries>[] = []
  const fed: RowIn<typeof publicEvents>[] = []
  for (const entry of own) {
    if (isWebhook(entry)) {
      if (applyToEndpoint(endpoints, tenantOf(entry), entry)) changed.add(tenantOf(entry))
      continue
    }
    const licenseId = idOf(entry)
    const tenantId = tenants.get(licenseId)
    const event = publicNameOf(entry.event)
    if (tenantId === undefined) continue
    const row = {
      licenseId,
      licenseRevision: entry.revision,
      tenantId,
      eventId: entry.id,
      correlationId: entry.metadata.correlationId,
      // JSON knows no bigint.
      position: String(entry.position),
    }
    const mail = mailNameOf(entry.event)
    if (mail) pending.push({ ...row, event: mail, channel: 'mail', endpointId: '', sequence: null })
    if (event === undefined) continue
    const { position, licenseRevision } = row
    const numberOf = (endpointId: string) =>
      numbering.next({ licenseId, endpointId, revision: licenseRevision })
    for (const endpointId of endpointsWanting(endpoints.get(tenantId), event, entry.position)) {
      const sequence = numberOf(endpointId)
      if (sequence !== undefined) pending.push({ ...row, event, channel: 'webhook', endpointId, sequence })
    }
    const sequence = numberOf(feed)
    if (sequence === undefined) continue
    const { at } = entry.metadata
    fed.push({ tenantId, position, licenseId, licenseRevision, event, sequence, at })
  }
  return [
    ...writesOfEndpoints(endpoints, changed),
    ...owedDeliveries.write(pending),
    ...deliverySequences.write(numbering.given()),
    ...publicEvents.write(fed),
  ]
}

/** What stands for the feed where numbers are kept by endpoint: an id that no endpoint has. */
const feed = ''

/** Numbers the events of each license, for each receiver by itself. */
function createNumbering(known: ReadonlyMap<string, Sequence>) {
  const given = new Map<string, Sequence>()
  return {
    /** @returns undefined for an event that had its number before */
    next(of: Omit<Sequence, 'sequence'>): number | undefined {
      const name = sequenceName(of)
      const last = given.get(name) ?? known.get(name)
      if (last && last.revision >= of.revision) return undefined
      const sequence = (last?.sequence ?? 0) + 1
      given.set(name, { ...of, sequence })
      return sequence
    },
    given: (): Sequence[] => [...given.values()],
  }
}

/** The endpoints that want an event, by the settings at the time when it was recorded. */
function endpointsWanting(
  webhook: EndpointAt | undefined,
  event: WebhookEventName,
  position: bigint,
): string[] {
  if (!webhook || webhook.position > position) return []
  return webhook.state.endpoints
    .filter(({ events }) => events.includes(event))
    .map(({ endpointId }) => endpointId)
}

const sequenceName = ({ licenseId, endpointId }: Pick<Sequence, 'licenseId' | 'endpointId'>): string =>
  `${licenseId} ${endpointId}`

/** The tenant of each license that is issued in the page, by license id. */
const tenantsOfIssued = (entries: readonly Recorded[]): Map<string, string> =>
  new Map(
    entries.flatMap(({ category, event }) =>
      category === 'license' && (event.type === 'LicenseMinted' || event.type === 'LicenseImported')
        ? [[event.data.licenseId, event.data.tenantId] as const]
        : [],
    ),
  )

async function loadTenants(db: Statements, licenseIds: readonly string[]): Promise<Map<string, string>> {
  if (licenseIds.length === 0) return new Map()
  const { rows } = await db.query<{ license_id: string; tenant_id: string }>({
    name: 'tenants-of-licenses',
    text: 'select license_id, tenant_id from licenses where license_id = any($1)',
    values: [licenseIds],
  })
  return new Map(rows.map(({ license_id, tenant_id }) => [license_id, tenant_id]))
}

async function loadSequences(db: Statements, licenseIds: readonly string[]): Promise<Map<string, Sequence>> {
  if (licenseIds.length === 0) return new Map()
  const { rows } = await db.query<RowOf<Sequence>>({
    name: 'delivery-sequences-to-apply',
    text: 'select * from delivery_sequences where license_id = any($1)',
    values: [licenseIds],
  })
  return new Map(rows.map(deliverySequences.fieldsIn).map((last) => [sequenceName(last), last]))
}

/** Removes the pending deliveries that the events have scheduled. */
export function removeScheduled(entries: readonly Recorded[]): Statement[] {
  const scheduled = entries.flatMap((entry) =>
    entry.category === 'delivery' && entry.event.type === 'DeliveryScheduled' ? [entry.event.data] : [],
  )
  if (scheduled.length === 0) return []
  return [
    {
      name: 'settle-owed-deliveries',
      text: `delete from owed_deliveries o
             using unnest($1::text[], $2::int[], $3::text[], $4::text[])
               as s (license_id, license_revision, channel, endpoint_id)
             where o.license_id = s.license_id and o.license_revision = s.license_revision
               and o.channel = s.channel and o.endpoint_id = s.endpoint_id`,
      values: [
        scheduled.map(({ licenseId }) => licenseId),
        scheduled.map(({ licenseRevision }) => licenseRevision),
        scheduled.map(({ channel }) => channel),
        scheduled.map(({ endpointId }) => endpointId ?? ''),
      ],
    },
  ]
}
