import type { FastifyInstance } from 'fastify'
import { findPortal } from '../../../projections/portal.ts'
import { changePortalLogo } from '../../commands/portal.ts'
import { logoTypeOf, maxLogoBytes } from '../../domain/portal/events.ts'
import { readUploads } from '../forms/uploads.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import type { ShowPortal } from './show.ts'

const manage = pageRoute({ page: 'manage_settings' })
const path = '/dashboard/portal'

const wrongPicture = 'Choose a PNG, JPEG or WebP picture of up to 100 kB.'

/** Uploads and removes the logo of the portal. */
export function logoForms(app: FastifyInstance, { ports }: PageContext, page: ShowPortal): void {
  void app.register(async (uploads) => {
    readUploads(uploads)
    uploads.post('/portal/logo', manage, async (request, reply) => {
      const { tenantId } = principalOf(request)
      const { logo } = (request.body ?? {}) as { logo?: unknown }
      const bytes = logo instanceof Uint8Array ? logo : new Uint8Array()
      const type = logoTypeOf(bytes)
      if (type === undefined || bytes.length > maxLogoBytes) {
        const portal = await findPortal(ports.db, tenantId)
        return page(request, reply, portal, { logoProblem: wrongPicture })
      }
      const picture = { type, data: Buffer.from(bytes).toString('base64') }
      await changePortalLogo(ports, tenantId, picture, originOfMember(request))
      return redirectWith(reply, path, 'The logo was replaced.')
    })
  })

  app.post('/portal/logo/remove', manage, async (request, reply) => {
    await changePortalLogo(ports, principalOf(request).tenantId, null, originOfMember(request))
    return redirectWith(reply, path, 'The logo was removed.')
  })
}
