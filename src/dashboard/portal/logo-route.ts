import type { FastifyInstance } from 'fastify'
import { findPortal } from '../../../projections/portal.ts'
import { changePortalLogo } from '../../commands/portal.ts'
import { logoTypeOf, maxLogoBytes } from '../../domain/portal/events.ts'
import { invalid } from '../../http/problem.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import type { ShowPortal } from './show.ts'

const manage = pageRoute({ page: 'manage_settings' })
const path = '/dashboard/portal'

/** Larger pictures are refused with a sentence; still larger ones with the connection. */
const maxUpload = 1_048_576

const wrongPicture = 'Choose a PNG, JPEG or WebP picture of up to 100 kB.'

/** Uploads and removes the logo of the portal. */
export function logoForms(app: FastifyInstance, { ports }: PageContext, page: ShowPortal): void {
  void app.register(async (uploads) => {
    readPictures(uploads)
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

/** Parses forms with a file: each field as text, and the file as its bytes. */
function readPictures(app: FastifyInstance): void {
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit: maxUpload },
    async (request: { headers: { 'content-type'?: string | undefined } }, body: Buffer) => {
      const headers = { 'content-type': request.headers['content-type'] ?? '' }
      const form = await new Response(Uint8Array.from(body), { headers }).formData().catch(() => {
        throw invalid('The form could not be read. Go back, reload the page and try again.')
      })
      const fields: Record<string, string | Uint8Array> = {}
      for (const [name, value] of form)
        fields[name] = typeof value === 'string' ? value : new Uint8Array(await value.arrayBuffer())
      return fields
    },
  )
}
