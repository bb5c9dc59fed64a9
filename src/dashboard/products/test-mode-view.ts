import type { PresentProduct } from '../../../projections/products/queries.ts'
import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { formProblem, textField } from '../forms/form-fields.ts'
import { badge, facts, heading, section, tokenField } from '../frame/parts.ts'

/** The switch of test mode, and the form of the keys for the test checkout. */
export function testModeView(token: string, product: PresentProduct, form: FilledForm): Html {
  const { productId, name, settings, testKeys } = product
  const path = `/dashboard/products/${productId}`
  const { enabled, publishableKey } = settings.testMode
  return html`<div class="narrow">
    ${heading('Test mode', `In test mode, test payments for ${name} create test licenses.`)}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${`${path}/test-mode`}>
      ${tokenField(token)}
      ${facts([
        ['Test mode', enabled ? badge('warn', 'on') : badge('plain', 'off')],
        ['Publishable key', publishableKey === undefined ? 'not set' : html`<code>${publishableKey}</code>`],
        ['Secret key', testKeys?.secretName ? 'set' : 'not set'],
      ])}
      <div class="decide">
        <button name="mode" value=${enabled ? 'off' : 'on'} class=${enabled ? 'dangerous' : undefined}>
          ${enabled ? 'Turn test mode off' : 'Turn test mode on'}
        </button>
        <a class="button second" href=${path}>Back to the product</a>
      </div>
      ${enabled && html`<p class="hint">Turning it off destroys the secret key.</p>`}
    </form>
    ${section(
      'Stripe test keys',
      html`<form class="sheet stack" method="post" action=${`${path}/test-keys`}>
        ${tokenField(token)}
        ${textField(form, {
          name: 'publishableKey',
          label: 'Publishable key',
          hint: html`Begins with <code>pk_test_</code>.`,
          maxlength: 255,
        })}
        ${textField(form, {
          name: 'secretKey',
          label: 'Secret key',
          type: 'password',
          hint: html`Begins with <code>sk_test_</code>, or better <code>rk_test_</code> for a restricted key. It is stored
            encrypted and never shown again.`,
          autocomplete: 'new-password',
          maxlength: 255,
        })}
        <div><button>Save keys and turn test mode on</button></div>
      </form>`,
      'Only needed for the test checkout of Stripe.',
    )}
  </div>`
}
