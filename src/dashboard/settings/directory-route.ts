import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readScim } from '../../../projections/scim.ts'
import { newId } from '../../credentials/id.ts'
import { setScim } from '../../gate/operations/scim.ts'
import { type FilledForm, readForm } from '../forms/filled-form.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { directoryPath, directoryView } from './directory-view.ts'
import { DirectoryForm, formOfDirectory } from './sign-in-form.ts'

const path = '/settings/directory'

/** Where owners say which groups of a directory give which roles. */
export function directorySettingPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (request: FastifyRequest, reply: FastifyReply, filled?: FilledForm) => {
    const { scim } = await readScim(ports.db, principalOf(request).tenantId)
    const form = filled ?? formOfDirectory(scim)
    return show(reply, {
      title: 'Directory',
      nav: 'settings',
      content: (view) => directoryView(view, scim, form, newId('req')),
      form,
    })
  }

  app.get(path, pageRoute({ page: 'manage_members' }), async (request, reply) => page(request, reply))

  // With the same rules as an approved API request: the member has just confirmed who they are.
  app.post(path, pageRoute({ page: 'manage_members', proof: 'send' }), async (request, reply) => {
    const { filled, data } = readForm(DirectoryForm, request)
    if (!data) return page(request, reply, filled)
    const { operation: id, ...body } = data
    const { tenantId } = principalOf(request)
    const origin = originOfMember(request)
    await setScim.run(ports, tenantId, { parameters: {}, query: {}, body }, { id, origin })
    return redirectWith(reply, directoryPath, 'Roles saved.')
  })
}
