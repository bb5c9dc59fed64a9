import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { formProblem, textField } from '../forms/form-fields.ts'
import { heading, section, table, tokenField } from '../frame/parts.ts'
import { type ShownLicense, statusBadge } from '../licenses/view.ts'

type Links = {
  token: string
  customerId: string
  licenses: readonly ShownLicense[]
  form: FilledForm
}

/** The form that links a license, and the linked ones with a button each that unlinks it. */
export function linksView({ token, customerId, licenses, form }: Links): Html {
  const own = `/dashboard/customers/${customerId}`
  const unlink = ({
    id,
    displayKey,
  }: ShownLicense): Html => html`<form method="post" action=${`${own}/unlink`}>
    ${tokenField(token)}
    <input type="hidden" name="licenseId" value=${id} />
    <button class="quiet" aria-label=${`Unlink ${displayKey}`}>Unlink</button>
  </form>`
  return html`<div class="narrow">
    ${heading(
      'Linked licenses',
      "A linked license has the customer's entitlement overrides, and is listed with the customer.",
    )}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${`${own}/link`}>
      ${tokenField(token)}
      ${textField(form, {
        name: 'licenseId',
        label: 'License ID',
        hint: html`On the page of the license: <code>lic_…</code>`,
        maxlength: 100,
        className: 'mono',
      })}
      <div class="decide">
        <button>Link license</button>
        <a class="button second" href=${own}>Back to the customer</a>
      </div>
    </form>
    ${section(
      'Linked now',
      licenses.length === 0
        ? html`<p class="lead">No linked licenses.</p>`
        : html`<div class="sheeted">
            ${table({
              caption: 'Linked licenses',
              columns: [{ label: 'License' }, { label: 'Status', wide: true }, { label: 'Unlink' }],
              rows: licenses.map((license) => [
                html`<span
                  ><a class="mono" href=${`/dashboard/licenses/${license.id}`}>${license.displayKey}</a
                  ><span class="sub">${license.productId}</span></span
                >`,
                statusBadge(license.status),
                unlink(license),
              ]),
            })}
          </div>`,
      "An unlinked license keeps its key and its devices, and loses the customer's overrides at its next check.",
    )}
  </div>`
}
