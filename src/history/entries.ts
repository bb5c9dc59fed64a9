import type { Pool } from 'pg'
import { listDeliveriesOfEvents } from '../../projections/deliveries/queries.ts'
import {
  type HistoryEntry,
  type HistoryOrder,
  readEffectiveEvents,
  readHistoryPage,
} from '../../projections/history/queries.ts'
import { findSaleOfLicense } from '../../projections/sales/queries.ts'
import type { KnownDelivery } from '../domain/deliveries/delivery.ts'
import { type PublicName, publicNames } from '../domain/licenses/event-names.ts'
import type { Holder, LicenseEvent } from '../domain/licenses/events.ts'
import { absentLicense, evolveLicense, type License } from '../domain/licenses/license.ts'
import type { Ports } from '../ports.ts'
import { unknownPerson } from '../vault/subjects.ts'
import { type NamedActor, nameActors } from './actors.ts'
import { type Change, changesOf, changesOfPerson } from './changes.ts'
import { wordsOf } from './sentences.ts'

/** An event of a license in public terms, for support staff, auditors and API clients. */
export type LicenseHistoryEntry = {
  /** Its revision in the license's stream: 0 is the first event. */
  sequence: number
  event: PublicName
  time: string
  actor: NamedActor
  requestId: string
  /** What happened, in one line, without the actor. */
  summary: string
  /** The device of the event. */
  device: { deviceId: string; name: string | null } | null
  changes: Change[]
  links: {
    saleId: string | null
    customerId: string | null
    confirmationId: string | null
    deliveries: { id: string; channel: KnownDelivery['channel']; status: KnownDelivery['status'] }[]
  }
}

type LicenseRef = { tenantId: string; licenseId: string }

export type HistoryPage = {
  entries: LicenseHistoryEntry[]
  /** The recorded events, in the same order. */
  recorded: HistoryEntry[]
  /** The sequence after which the next page begins; undefined on the last one. */
  next: number | undefined
}

/**
 * A page of a license's history. The changes of each event are derived from the few events that decided the
 * license's state before the page, so every page costs the same.
 * @param place a license that is known to be the tenant's
 */
export async function readHistory(
  ports: Ports<'db' | 'subjects'>,
  ref: LicenseRef,
  { order, after, limit }: { order: HistoryOrder; after?: number | undefined; limit: number },
): Promise<HistoryPage> {
  const rows = await readHistoryPage(ports.db, ref.licenseId, order, after, limit + 1)
  const recorded = rows.slice(0, limit)
  const entries = await describeEntries(ports, ref, recorded)
  return { entries, recorded, next: rows.length > limit ? recorded.at(-1)?.revision : undefined }
}

/** Describes consecutive events of a license, in the given order. */
async function describeEntries(
  ports: Ports<'db' | 'subjects'>,
  ref: LicenseRef,
  recorded: readonly HistoryEntry[],
): Promise<LicenseHistoryEntry[]> {
  const { tenantId, licenseId } = ref
  const inOrder = recorded.toSorted((left, right) => left.revision - right.revision)
  const [first] = inOrder
  if (!first) return []
  const [changes, nameOf, deliveries, sale] = await Promise.all([
    changesIn(ports, ref, inOrder),
    nameActors(
      ports,
      tenantId,
      recorded.map(({ actor }) => actor),
    ),
    listDeliveriesOfEvents(ports.db, licenseId, first.revision, inOrder.at(-1)?.revision ?? 0),
    recorded.some(isOfSale) ? findSaleOfLicense(ports.db, tenantId, licenseId) : undefined,
  ])
  return recorded.map((entry) => {
    const { event, revision, causationId } = entry
    const changed = changes.get(revision) ?? { changes: [], deviceName: null }
    return {
      sequence: revision,
      event: publicNames[event.type],
      time: entry.at,
      actor: nameOf(entry.actor),
      requestId: entry.requestId,
      summary: wordsOf(event, changed.deviceName),
      device: 'deviceId' in event.data ? { deviceId: event.data.deviceId, name: changed.deviceName } : null,
      changes: changed.changes,
      links: {
        saleId: isOfSale(entry) ? (sale?.id ?? null) : null,
        customerId: ('customerId' in event.data && event.data.customerId) || null,
        confirmationId: causationId.startsWith('cnf_') ? causationId : null,
        deliveries: (deliveries.get(revision) ?? []).map(({ deliveryId: id, channel, status }) => ({
          id,
          channel,
          status,
        })),
      },
    }
  })
}

/** Whether the event belongs to the license's sale: its issue, and everything about payments. */
const isOfSale = ({ event, actor }: HistoryEntry): boolean =>
  ('saleId' in event.data && event.data.saleId !== null) || actor.startsWith('provider:')

type EntryChanges = { changes: Change[]; deviceName: string | null }

/** What each event changed, by its revision. The events are consecutive, oldest first. */
async function changesIn(
  { db, subjects }: Ports<'db' | 'subjects'>,
  { tenantId, licenseId }: LicenseRef,
  entries: readonly HistoryEntry[],
): Promise<Map<number, EntryChanges>> {
  const deviceIds = [...new Set(entries.flatMap(({ event }) => deviceOf(event)))]
  const first = entries[0]?.revision ?? 0
  let license = first === 0 ? absentLicense : await licenseBefore(db, licenseId, first, deviceIds)
  const changed = new Map<number, EntryChanges>()
  const people: { changes: Change[]; before: Holder | null; after: Holder | null }[] = []
  for (const { event, revision, at } of entries) {
    const before = license
    license = evolveLicense(before, event)
    const [deviceId] = deviceOf(event)
    const seat =
      deviceId === undefined || license.status === 'absent' ? undefined : license.seats.get(deviceId)
    const changes = changesOf(before, license, event, at)
    changed.set(revision, { changes, deviceName: seat?.name ?? null })
    if (event.type === 'LicenseEdited')
      people.push({ changes, before: holderOf(before), after: holderOf(license) })
  }
  const known = await subjects.openPeople(
    tenantId,
    people.flatMap(({ before, after }) => [before, after]),
  )
  for (const [index, { changes }] of people.entries()) {
    const [before = unknownPerson, after = unknownPerson] = known.slice(index * 2, index * 2 + 2)
    changes.push(...changesOfPerson(before, after))
  }
  return changed
}

const holderOf = (license: License): Holder | null => (license.status === 'absent' ? null : license.holder)

/** The license with the seats of these devices only, but with the right count of used seats. */
async function licenseBefore(
  db: Pool,
  licenseId: string,
  revision: number,
  deviceIds: readonly string[],
): Promise<License> {
  const [deciding, [before]] = await Promise.all([
    readEffectiveEvents(db, licenseId, revision - 1, deviceIds),
    readHistoryPage(db, licenseId, 'newest', revision, 1),
  ])
  const license = deciding.reduce((state, { event }) => evolveLicense(state, event), absentLicense)
  return license.status === 'absent' || !before ? license : { ...license, seatsUsed: before.seatsUsed }
}

const deviceOf = (event: LicenseEvent): string[] => ('deviceId' in event.data ? [event.data.deviceId] : [])
