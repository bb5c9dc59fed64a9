import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { WaitingApp } from '../../access/browser-activations.ts'
import { plainText } from '../../domain/plain-text.ts'
import { type Content, type Html, html } from '../../html.ts'
import { formOf } from '../form.ts'
import { seatsOf, validityOf } from '../licenses/view.ts'
import type { Visit } from '../visit.ts'
import type { Choice } from './choices.ts'

/** Takes the code that an app shows. @param typed what was entered, and whether no app waits with it */
export function codeView(visit: Visit, typed: { code: string; wrong: boolean }): Html {
  const { say, home } = visit
  return html`<section class="narrow">
    <h1>${say('activateTitle')}</h1>
    <p class="lead">${say('activateLead')}</p>
    ${formOf(
      visit,
      { action: `${home}/activate-app`, isSheet: true, button: say('activateNext'), back: home },
      html`<div class="field">
        <label for="code">${say('activateCode')}</label>
        <input
          type="text"
          id="code"
          name="code"
          value=${typed.code}
          autocomplete="off"
          autocapitalize="characters"
          spellcheck="false"
          required
          maxlength="40"
          aria-invalid=${typed.wrong ? 'true' : undefined}
          aria-describedby=${typed.wrong ? 'code-error' : undefined}
        />
        ${typed.wrong && html`<p class="error" id="code-error">${say('activateUnknown')}</p>`}
      </div>`,
    )}
  </section>`
}

/** Asks which license the app gets, after the person has compared the code. */
export function chooseView(
  visit: Visit,
  {
    code,
    app,
    product,
    choices,
  }: { code: string; app: WaitingApp; product: Pick<PresentProduct, 'name'>; choices: readonly Choice[] },
): Html {
  const { say, home } = visit
  const action = `${home}/activate-app/choose`
  const codeField = html`<input type="hidden" name="code" value=${code} />`
  const deny = formOf(visit, { action, button: say('activateDeny'), buttonLook: 'second' }, codeField)
  const names = { app: product.name, device: plainText(app.deviceName) }
  return html`<section class="narrow">
    <h1>${say('activateTitle')}</h1>
    <p class="lead">${say('activateAsks', names)}</p>
    <p><strong>${say('activateCode')}: ${code}</strong></p>
    <p>${say('activateWarning')}</p>
    ${
      choices.length === 0
        ? html`<p>${say('activateNone')}</p>`
        : formOf(
            visit,
            { action, isSheet: true, button: say('activateButton') },
            html`${codeField}
              <fieldset class="field">
                <legend>${say('activateChoose')}</legend>
                ${choices.map((choice, index) => choiceField(visit, choice, index === 0))}
              </fieldset>`,
          )
    }
    ${deny}
  </section>`
}

function choiceField(visit: Visit, { license }: Choice, isFirst: boolean): Content {
  const { licenseId, planName, displayKey } = license
  const id = `license-${licenseId}`
  return html`<div class="choice">
    <input type="radio" id=${id} name="license" value=${licenseId} checked=${isFirst} aria-describedby=${`${id}-hint`} />
    <label for=${id}>${planName} <code>${displayKey}</code></label>
    <p class="soft" id=${`${id}-hint`}>${validityOf(visit, license)} ${seatsOf(visit, license)}</p>
  </div>`
}
