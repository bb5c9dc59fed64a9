import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { type DeviceFilter, listDevicesOfTenant } from '../../../projections/licenses/device-list.ts'
import type { Keyset, PageOf } from '../../../projections/page.ts'
import { momentOf } from '../../commands/origin.ts'
import { Slug } from '../../domain/values.ts'
import type { Ports } from '../../ports.ts'
import { lastSeenOf } from '../../usage/device-telemetry.ts'
import { lastRefusalsOf } from '../../usage/read-refusals.ts'
import { one, oneCustomer, productChoices } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, principalOf } from '../session/principal.ts'
import { devicesView, type ShownDevice } from './view.ts'

const pageSize = 50

const Status = z.enum(['active', 'deactivated'])
const Query = z.object({ cursor: one, product: one, status: one, customer: oneCustomer })

/** Devices as {@link devicesTable} shows them: with when they were last seen, and their last refusal. */
export async function shownDevices(
  ports: Ports<'db' | 'now' | 'refusals'>,
  tenantId: string,
  filter: DeviceFilter,
  keyset: Keyset,
): Promise<{ devices: ShownDevice[]; next: PageOf<unknown>['next'] }> {
  const { db } = ports
  const { items, next } = await listDevicesOfTenant(db, tenantId, filter, keyset, momentOf(ports))
  const ids = items.map(({ seat, license }) => ({ licenseId: license.licenseId, deviceId: seat.deviceId }))
  await ports.refusals.flush()
  const [refused, seen] = await Promise.all([
    lastRefusalsOf(db, ids),
    lastSeenOf(
      db,
      items.map(({ seat }) => seat.instanceId),
    ),
  ])
  const devices = items.map((device) => ({
    ...device,
    lastSeenAt: seen.get(device.seat.instanceId),
    refused: refused.get(`${device.license.licenseId} ${device.seat.deviceId}`),
  }))
  return { devices, next }
}

/** The devices of all licenses. Each links to its license with that device selected. */
export function deviceListPage(app: FastifyInstance, { ports, cursors, show }: PageContext): void {
  app.get('/devices', auditedPage('licenses:read', 'devices', Query), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { cursor, product, status: requested, customer } = Query.parse(request.query)
    const productId = Slug.safeParse(product).data
    const status = Status.safeParse(requested).data
    const boundTo = [tenantId, 'dashboard devices', productId ?? null, status ?? null, customer ?? null]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const [{ devices, next }, products] = await Promise.all([
      shownDevices(ports, tenantId, { productId, status, customerId: customer }, keyset),
      productChoices(ports, tenantId),
    ])
    return show(reply, {
      title: 'Devices',
      nav: 'devices',
      content: (view) =>
        devicesView(view, {
          devices,
          products,
          filter: { product: productId, status, customer },
          cursor,
          next: cursors.write(boundTo, next),
        }),
    })
  })
}
