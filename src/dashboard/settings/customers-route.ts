import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { changeCustomersByAddress } from '../../commands/tenants.ts'
import { type Html, html } from '../../html.ts'
import { formOf } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import { tokenField } from '../frame/parts.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'

const Form = z.object({ customers: z.enum(['on', 'off']) })

const wordsFor = (isOn: boolean): string =>
  isOn
    ? 'A new license belongs to the customer with its email address, who is created if there is none.'
    : 'A new license belongs to no customer until you link it.'

/** Where the workspace says whether new licenses belong to the customer with their holder's address. */
export function customerSettingPages(app: FastifyInstance, { ports }: PageContext): void {
  app.post('/settings/customers', pageRoute({ page: 'manage_settings' }), async (request, reply) => {
    const isOn = formOf(Form, request).customers === 'on'
    await changeCustomersByAddress(ports, principalOf(request).tenantId, isOn, originOfMember(request))
    return redirectWith(reply, '/dashboard/settings', wordsFor(isOn))
  })
}

/** The section on the settings page. */
export const customersSummary = (token: string, isOn: boolean, mayManage: boolean): Html =>
  html`<div class="sheet stack">
    <p>${wordsFor(isOn)}</p>
    ${
      mayManage &&
      html`<form method="post" action="/dashboard/settings/customers">
        ${tokenField(token)} <input type="hidden" name="customers" value=${isOn ? 'off' : 'on'} />
        <button class="second">${isOn ? 'Stop creating customers' : 'Create customers from email addresses'}</button>
      </form>`
    }
  </div>`
