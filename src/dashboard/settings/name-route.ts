import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { renameTenant } from '../../commands/tenants.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { wantedLine } from '../forms/typed.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith, returnPath } from '../session/redirect-with.ts'
import { nameView } from './name-view.ts'

const manage = pageRoute({ page: 'manage_settings' })

const Form = z.object({ name: wantedLine(200, 'Enter a name.'), return: z.string().max(600).optional() })

/** Where the workspace is named, also for the form of the first step. */
export function namePages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = (reply: FastifyReply, form: FilledForm) =>
    show(reply, {
      title: 'Workspace name',
      nav: 'settings',
      content: ({ token }) => nameView(token, form),
      form,
    })

  app.get('/settings/name', manage, async (request, reply) =>
    page(reply, newForm({ name: principalOf(request).tenantName })),
  )

  app.post('/settings/name', manage, async (request, reply) => {
    const { filled, data } = readForm(Form, request)
    if (!data) return page(reply, filled)
    await renameTenant(ports, principalOf(request).tenantId, data.name, originOfMember(request))
    return redirectWith(reply, returnPath(data.return ?? '/dashboard/settings'), 'Name saved.')
  })
}
