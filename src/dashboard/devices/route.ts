import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { listDevicesOfTenant } from '../../../projections/licenses/device-list.ts'
import { momentOf } from '../../commands/origin.ts'
import { Slug } from '../../domain/values.ts'
import { lastRefusalsOf } from '../../usage/read-refusals.ts'
import { one, productChoices } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, principalOf } from '../session/principal.ts'
import { devicesView } from './view.ts'

const pageSize = 50

const Status = z.enum(['active', 'deactivated'])
const Query = z.object({ cursor: one, product: one, status: one })

/** The devices of all licenses. Each links to its license with that device selected. */
export function deviceListPage(app: FastifyInstance, { ports, cursors, show }: PageContext): void {
  app.get('/devices', auditedPage('devices', Query), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { cursor, product, status: requested } = Query.parse(request.query)
    const productId = Slug.safeParse(product).data
    const status = Status.safeParse(requested).data
    const boundTo = [tenantId, 'dashboard devices', productId ?? null, status ?? null]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const [{ items: devices, next }, products] = await Promise.all([
      listDevicesOfTenant(ports.db, tenantId, { productId, status }, keyset, momentOf(ports)),
      productChoices(ports, tenantId),
    ])
    await ports.refusals.flush()
    const refused = await lastRefusalsOf(
      ports.db,
      devices.map(({ seat, license }) => ({ licenseId: license.licenseId, deviceId: seat.deviceId })),
    )
    return show(reply, {
      title: 'Devices',
      nav: 'devices',
      content: (view) =>
        devicesView(view, {
          devices,
          refused,
          products,
          filter: { product: productId, status },
          cursor,
          next: cursors.write(boundTo, next),
        }),
    })
  })
}
