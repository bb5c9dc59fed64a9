import { z } from 'zod'
import { givesSeats, licenseStatuses } from '../../../src/domain/licenses/status.ts'
import type { TestApi } from '../../harness/api.ts'
import type { World } from './world.ts'

const License = z.object({
  license: z.object({
    id: z.string(),
    displayKey: z.string(),
    status: z.enum(licenseStatuses),
    entitlements: z.array(z.string()),
    email: z.string().nullable(),
    devices: z.array(z.object({ deviceId: z.string(), status: z.string() })),
  }),
})
const Endpoints = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      url: z.string(),
      events: z.array(z.string()),
      ordering: z.string(),
      paused: z.boolean(),
      secret: z.string(),
    }),
  ),
})

/** What the interfaces and the outbox show of a tenant. */
export async function observe({ ask, ledger }: TestApi, { tenant, licenseIds, spareToken }: World) {
  const { token, tenantId } = tenant
  const read = async (url: string, as = token) => ask('GET', url, { token: as })
  const licenses = []
  for (const id of licenseIds) licenses.push(License.parse((await read(`/v1/licenses/${id}`)).body).license)
  const { rows } = await ledger.db.query<{ call: string }>(
    `select concat_ws(' ', event, endpoint_id, license_id, license_revision) as call from owed_deliveries
     where tenant_id = $1 and channel = 'webhook'`,
    [tenantId],
  )
  const { rows: keys } = await ledger.db.query<{ display_key: string }>(
    `select display_key from client_keys where tenant_id = $1 and kind = 'sdk'`,
    [tenantId],
  )
  const { keyTypes } = z
    .object({ keyTypes: z.array(z.looseObject({ keyTypeId: z.string(), deviceLimit: z.int().nullable() })) })
    .parse((await read('/v1/products/editor/key-types')).body)
  return {
    licenses,
    calls: rows.map(({ call }) => call),
    endpoints: Endpoints.parse((await read('/v1/webhook-endpoints')).body).items,
    keyTypes,
    sdkKey: keys[0]?.display_key ?? null,
    tokenWorks: (await read('/v1/licenses', spareToken.token)).status === 200,
  }
}
export type Observed = Awaited<ReturnType<typeof observe>>

type Seat = { licenseId: string; deviceId: string }

/** The devices that may work: active ones of licenses that give seats. */
const seatsIn = ({ licenses }: Observed): Seat[] =>
  licenses.flatMap(({ id, status, devices }) =>
    givesSeats(status)
      ? devices
          .filter((device) => device.status === 'active')
          .map(({ deviceId }) => ({ licenseId: id, deviceId }))
      : [],
  )

const without = <T>(list: readonly T[], others: readonly T[]): T[] => {
  const known = new Set(others.map((one) => JSON.stringify(one)))
  return list.filter((one) => !known.has(JSON.stringify(one)))
}

/** How often each name occurs, in the order of the names. */
const counts = (list: readonly string[]): [string, number][] =>
  [...Map.groupBy(list, (name) => name)]
    .map(([name, all]): [string, number] => [name, all.length])
    .toSorted(([left], [right]) => (left < right ? -1 : 1))

/** What is different afterwards. */
export function differences(before: Observed, after: Observed) {
  const pairs = before.licenses.flatMap((license) => {
    const now = after.licenses.find(({ id }) => id === license.id)
    return now ? [{ license, now }] : []
  })
  return {
    statuses: pairs
      .filter(({ license, now }) => license.status !== now.status)
      .map(({ license: { id, displayKey, status }, now }) => ({
        id,
        displayKey,
        from: status,
        to: now.status,
      })),
    losing: without(seatsIn(before), seatsIn(after)),
    gaining: without(seatsIn(after), seatsIn(before)),
    appearing: counts(pairs.flatMap(({ license, now }) => without(now.entitlements, license.entitlements))),
    disappearing: counts(
      pairs.flatMap(({ license, now }) => without(license.entitlements, now.entitlements)),
    ),
    calls: counts(without(after.calls, before.calls).map((call) => call.split(' ').slice(0, 2).join(' '))),
    erased: pairs.filter(({ license, now }) => license.email !== null && now.email === null).length,
    endpoints: endpointDifferences(before, after),
    keyTypesGone: without(
      before.keyTypes.map(({ keyTypeId }) => keyTypeId),
      after.keyTypes.map(({ keyTypeId }) => keyTypeId),
    ),
    deviceLimits: without(
      after.keyTypes.map(({ keyTypeId, deviceLimit }) => ({ keyTypeId, deviceLimit })),
      before.keyTypes.map(({ keyTypeId, deviceLimit }) => ({ keyTypeId, deviceLimit })),
    ),
    sdkKey: before.sdkKey === after.sdkKey ? 'same' : before.sdkKey === null ? 'created' : 'replaced',
    tokenStops: before.tokenWorks && !after.tokenWorks,
  }
}

function endpointDifferences(before: Observed, after: Observed) {
  const ids = (of: Observed) => of.endpoints.map(({ id }) => id)
  const changed = before.endpoints.flatMap(({ secret, ...endpoint }) => {
    const now = after.endpoints.find(({ id }) => id === endpoint.id)
    if (!now) return []
    const { secret: newSecret, ...rest } = now
    return [
      ...(JSON.stringify(rest) === JSON.stringify(endpoint) ? [] : [`changed ${endpoint.id}`]),
      ...(newSecret === secret ? [] : [`secret ${endpoint.id}`]),
    ]
  })
  return [
    ...changed,
    ...without(ids(before), ids(after)).map((id) => `removed ${id}`),
    ...without(ids(after), ids(before)).map(() => 'added'),
  ].toSorted()
}
