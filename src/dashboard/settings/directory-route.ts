import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { listCustomRoles } from '../../../projections/custom-roles.ts'
import { readScim } from '../../../projections/scim.ts'
import { newId } from '../../credentials/id.ts'
import { setScim } from '../../gate/operations/scim.ts'
import { type FilledForm, readForm } from '../forms/filled-form.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { runOperation } from '../run-operation.ts'
import { principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { directoryPath, directoryView } from './directory-view.ts'
import { directoryForm, formOfDirectory } from './sign-in-form.ts'

const path = '/settings/directory'

/** Where owners say which groups of a directory give which roles. */
export function directorySettingPages(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context
  const page = async (request: FastifyRequest, reply: FastifyReply, filled?: FilledForm) => {
    const { tenantId } = principalOf(request)
    const { scim } = await readScim(ports.db, tenantId)
    const { roles } = await listCustomRoles(ports.db, tenantId)
    const form = filled ?? formOfDirectory(scim, roles)
    return show(reply, {
      title: 'Directory',
      nav: 'settings',
      content: (view) => directoryView(view, scim, roles, form, newId('req')),
      form,
    })
  }

  app.get(path, pageRoute({ page: 'manage_members' }), async (request, reply) => page(request, reply))

  app.post(path, pageRoute({ page: 'manage_members', proof: 'send' }), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { roles } = await listCustomRoles(ports.db, tenantId)
    const { filled, data } = readForm(directoryForm(roles), request)
    if (!data) return page(request, reply, filled)
    const { operation: id, ...body } = data
    await runOperation(context, request, setScim, id, { body })
    return redirectWith(reply, directoryPath, 'Roles saved.')
  })
}
