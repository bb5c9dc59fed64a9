import { findLicenses, listSeated } from '../../../projections/licenses/queries.ts'
import { listEndpoints } from '../../../projections/webhooks.ts'
import { momentOf } from '../../commands/origin.ts'
import { publicNameOf } from '../../domain/deliveries/outbox.ts'
import { LicenseEvent } from '../../domain/licenses/events.ts'
import { ProductEvent } from '../../domain/products/events.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import { WebhookEventName } from '../../domain/webhooks/events.ts'
import type { Ports } from '../../ports.ts'
import { type AffectedDevice, type Effect, type Fact, mostNames, type WebhookCall } from './effect.ts'
import { factsOf } from './facts.ts'
import { effectOnKeyType } from './key-types.ts'
import { type ChangedLicense, effectOnLicenses, followingEvents } from './licenses.ts'
import type { Decided } from './rehearsal-ledger.ts'

/**
 * What decided events would change if they were recorded now. It reads a bounded number of rows.
 * @param facts what no event says
 */
export async function effectOf(
  ports: Ports<'db' | 'findProduct' | 'now'>,
  tenantId: string,
  decided: readonly Decided[],
  facts: readonly Fact[] = [],
): Promise<Effect> {
  const now = momentOf(ports)
  const changed = await changedLicenses(ports, tenantId, decided)
  const events = changed.flatMap((one) => [...one.events, ...followingEvents(one, now)])
  const issued = decided
    .filter(({ category, isNew }) => category === 'license' && isNew)
    .map(({ id, events }) => ({ licenseId: id, events: LicenseEvent.array().parse(events) }))
  const announced = [...events, ...issued.flatMap((one) => one.events)]
  const names = [...announced.flatMap((event) => publicNameOf(event) ?? []), ...facts.flatMap(namesIn)]
  const endpoints = names.length === 0 ? [] : await listEndpoints(ports.db, tenantId)
  const keyTypes = await Promise.all(
    decided
      .filter(({ category }) => category === 'product')
      .flatMap(({ id, events: recorded }) =>
        ProductEvent.array()
          .parse(recorded)
          .map((event) =>
            effectOnKeyType(ports, { tenantId, productId: id.slice(tenantId.length + 1) }, event),
          ),
      ),
  )
  const others = await Promise.all(decided.map((one) => factsOf(ports, tenantId, one)))
  const licenses = effectOnLicenses(changed, now)
  const seated = issued.flatMap(devicesOf)
  return {
    ...licenses,
    devicesGaining: {
      ...licenses.devicesGaining,
      count: licenses.devicesGaining.count + seated.length,
      first: [...licenses.devicesGaining.first, ...seated].slice(0, mostNames),
    },
    entitlementsAppearing: [
      ...licenses.entitlementsAppearing,
      ...keyTypes.flatMap(({ entitlementsAppearing }) => entitlementsAppearing),
    ],
    entitlementsDisappearing: [
      ...licenses.entitlementsDisappearing,
      ...keyTypes.flatMap(({ entitlementsDisappearing }) => entitlementsDisappearing),
    ],
    webhooks: callsFor(names, endpoints),
    also: [...facts, ...keyTypes.flatMap(({ also }) => also), ...others.flat()],
  }
}

/** The devices that a new license comes with, as imported ones may. */
const devicesOf = ({
  licenseId,
  events,
}: {
  licenseId: string
  events: readonly LicenseEvent[]
}): AffectedDevice[] =>
  events.flatMap((event) =>
    event.type === 'DeviceActivated'
      ? [{ licenseId, deviceId: event.data.deviceId, name: event.data.name }]
      : [],
  )

async function changedLicenses(
  { db }: Ports<'db'>,
  tenantId: string,
  decided: readonly Decided[],
): Promise<ChangedLicense[]> {
  const byId = new Map(
    decided
      .filter(({ category }) => category === 'license')
      .map(({ id, events }) => [id, LicenseEvent.array().parse(events)]),
  )
  const entries = await findLicenses(db, tenantId, [...byId.keys()])
  return Promise.all(
    entries.map(async (entry) => {
      const { licenseId } = entry.license
      const seated = await listSeated(db, licenseId, mostNames)
      return { entry, seated, events: byId.get(licenseId) ?? [] }
    }),
  )
}

/** The public events that a fact stands for: an erasure is not rehearsed, and reaches every license of the person. */
const namesIn = (fact: Fact): WebhookEventName[] =>
  fact.what === 'person_erased'
    ? Array.from({ length: fact.licenses.count }, () => 'license.holder_erased')
    : []

/** The deliveries to each endpoint that wants an event, by event name and endpoint. */
function callsFor(names: readonly WebhookEventName[], endpoints: readonly WebhookEndpoint[]): WebhookCall[] {
  return WebhookEventName.options.flatMap((event) => {
    const count = names.filter((name) => name === event).length
    if (count === 0) return []
    return endpoints
      .filter((endpoint) => endpoint.events.includes(event))
      .map(({ endpointId, url }) => ({ event, endpointId, host: new URL(url).host, count }))
  })
}
