import type { FastifyInstance } from 'fastify'
import { acceptJson } from '../../http/limits/bodies.ts'
import type { VendorPorts } from '../../http/ports.ts'
import { scimMediaType, scimPath } from '../../http/scim-errors.ts'
import { discoveryRoutes } from './discovery.ts'
import { groupRoutes } from './groups.ts'
import { userRoutes } from './users.ts'

/** What is entered at the directory. */
export const scimBaseUrl = (baseUrl: string): string => `${baseUrl}${scimPath}`

/** SCIM 2.0 (RFC 7643 and 7644): a directory manages the members of the workspace whose token it has. */
export function scimRoutes(app: FastifyInstance, ports: VendorPorts, baseUrl: string): void {
  const base = scimBaseUrl(baseUrl)
  void app.register(
    async (scim) => {
      acceptJson(scim, scimMediaType)
      discoveryRoutes(scim, base)
      userRoutes(scim, ports, base)
      groupRoutes(scim, ports, base)
    },
    { prefix: scimPath },
  )
}
