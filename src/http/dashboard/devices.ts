import type { FastifyInstance } from 'fastify'
import { listDevicesOfTenant } from '../../../projections/licenses/device-list.ts'
import { listProducts } from '../../../projections/products/queries.ts'
import { Slug } from '../../domain/values.ts'
import { queryOf } from './lists.ts'
import type { Rooms } from './rooms.ts'
import { lookingAt, signedOf } from './signed.ts'
import { devicesView } from './views/devices.ts'

const pageSize = 50
/** More products than anybody chooses from a list. */
const mostChoices = 200

/** Every device of every license; each leads to its license, asked about that device. */
export function deviceListPage(app: FastifyInstance, { services, cursors, show }: Rooms): void {
  app.get('/devices', lookingAt('devices'), async (request, reply) => {
    const { tenantId } = signedOf(request)
    const { cursor, product, status: asked } = queryOf(request)
    const productId = Slug.safeParse(product).data
    const status = asked === 'active' || asked === 'deactivated' ? asked : undefined
    const boundTo = [tenantId, 'dashboard devices', productId ?? null, status ?? null]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const [{ items: devices, next }, choices] = await Promise.all([
      listDevicesOfTenant(services.db, tenantId, { productId, status }, keyset),
      listProducts(services.db, tenantId, { after: undefined, limit: mostChoices }),
    ])
    return show(reply, {
      title: 'Devices',
      nav: 'devices',
      content: (view) =>
        devicesView(view, {
          devices,
          products: choices.items,
          filter: { product: productId, status },
          cursor,
          next: cursors.write(boundTo, next),
        }),
    })
  })
}
