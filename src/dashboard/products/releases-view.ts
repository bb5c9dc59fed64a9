import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { Release } from '../../domain/products/releases.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { typedIn } from '../forms/filled-form.ts'
import { formProblem, textArea } from '../forms/form-fields.ts'
import { moment } from '../frame/moments.ts'
import { heading, section, table, tokenField } from '../frame/parts.ts'

/** More than a member looks through; the form has all of them. */
const shown = 5

/** The newest releases of a product, on its page. */
export function releasesPart(releases: readonly Release[], path: string, mayManage: boolean): Content {
  if (releases.length === 0 && !mayManage) return null
  return section(
    'Releases',
    html`<div class="stack">
      ${
        releases.length > 0 &&
        html`<div class="sheeted">
          ${table({
            caption: 'Releases',
            columns: [
              { label: 'Version' },
              { label: 'Built' },
              { label: 'Channel' },
              { label: 'Address', wide: true },
            ],
            rows: releases
              .slice(0, shown)
              .map(({ version, builtAt, channel, url }): Content[] => [
                version,
                moment(builtAt),
                channel,
                url === null ? '–' : html`<a href=${url} rel="noreferrer">${url}</a>`,
              ]),
          })}
        </div>`
      }
      ${releases.length > shown && html`<p class="sub">And ${(releases.length - shown).toLocaleString('en')} older ones.</p>`}
      ${mayManage && html`<div><a class="button second" href=${`${path}/releases`}>Edit releases</a></div>`}
    </div>`,
    'A customer whose license does not cover a build gets the newest release that it covers.',
  )
}

/** The list of a product's releases as lines. @param writable false for a list that lines would change */
export function releasesFormView(
  { token, product, writable }: { token: string; product: PresentProduct; writable: boolean },
  form: FilledForm,
): Html {
  const path = `/dashboard/products/${product.productId}`
  return html`<div class="narrow">
    ${heading('Releases', 'Which builds of the product your customers can get.')}
    ${formProblem(form)}
    ${
      writable
        ? html`<form class="sheet stack" method="post" action=${`${path}/releases`}>
            ${tokenField(token)}
            <input type="hidden" name="seen" value=${typedIn(form, 'seen')} />
            ${textArea(form, {
              name: 'releases',
              label: 'Releases',
              hint: html`One per line: version, when it was built, channel, address. For
                example <code>3.4.1 2026-11-21T09:30:00Z stable https://acme.example/3.4.1</code>. A day alone is its midnight in UTC;
                the channel is <code>stable</code> when it is left out.`,
              rows: 12,
              required: false,
            })}
            <div class="decide">
              <button>Save releases</button>
              <a class="button second" href=${path}>Cancel</a>
            </div>
          </form>`
        : html`<div class="sheet stack">
            <p>A version contains a space, so this list cannot be edited here. Change it over the API.</p>
            <div><a class="button second" href=${path}>Back to the product</a></div>
          </div>`
    }
  </div>`
}
