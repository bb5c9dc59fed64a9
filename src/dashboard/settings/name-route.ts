import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { renameTenant } from '../../commands/tenants.ts'
import { type Html, html } from '../../html.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { textField } from '../forms/form-fields.ts'
import { wantedLine } from '../forms/typed.ts'
import { pageRoute } from '../frame/page-route.ts'
import { heading, tokenField } from '../frame/parts.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith, returnPath } from '../session/redirect-with.ts'

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

const path = '/dashboard/settings/name'

const nameField = (form: FilledForm): Html =>
  textField(form, { name: 'name', label: 'Name', maxlength: 200, autocomplete: 'organization' })

const nameView = (token: string, form: FilledForm): Html => html`<div class="narrow">
  ${heading('Workspace name', 'Shown in emails to your customers, in the portal, and on these pages.')}
  <form class="sheet stack" method="post" action=${path}>
    ${tokenField(token)} ${nameField(form)}
    <div class="decide">
      <button>Save</button>
      <a class="button second" href="/dashboard/settings">Cancel</a>
    </div>
  </form>
</div>`

/** The same form within a page, which it leads back to. */
export const shortNameForm = (token: string, name: string, returnTo: string): Html =>
  html`<form class="stack-tight" method="post" action=${path}>
    ${tokenField(token)} <input type="hidden" name="return" value=${returnTo} /> ${nameField(newForm({ name }))}
    <div><button class="second">Save name</button></div>
  </form>`
