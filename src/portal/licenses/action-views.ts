import { type Html, html } from '../../html.ts'
import { formOf } from '../form.ts'
import { maskedAddress } from '../page.ts'
import type { Visit } from '../visit.ts'
import { freesWords } from './license-view.ts'
import type { LicenseDetails, ShownDevice, ShownLicense } from './shown.ts'

const pathOf = ({ home }: Visit, { licenseId }: ShownLicense): string => `${home}/licenses/${licenseId}`

/** Asks before a device is removed. */
export function freeView(visit: Visit, { license, frees }: LicenseDetails, device: ShownDevice): Html {
  const { say } = visit
  const path = pathOf(visit, license)
  return html`<section class="narrow">
    <h1>${say('freeTitle', { name: device.name })}</h1>
    <p class="lead">${say('freeLead')}</p>
    <p>${freesWords(visit, frees)}</p>
    ${formOf(visit, {
      action: `${path}/devices/${device.instanceId}/free`,
      button: frees.left > 0 ? say('freeButton') : null,
      back: path,
    })}
  </section>`
}

export const maxDeviceName = 80

/** @param typed what was typed, and whether it cannot be used */
export function nameView(
  visit: Visit,
  { license }: LicenseDetails,
  device: ShownDevice,
  typed: { name: string; wrong: boolean },
): Html {
  const { say } = visit
  const path = pathOf(visit, license)
  const described = typed.wrong ? 'name-hint name-error' : 'name-hint'
  return html`<section class="narrow">
    <h1>${say('renameTitle')}</h1>
    <p class="lead">${say('deviceNameApp', { name: device.reportedName })}</p>
    ${formOf(
      visit,
      {
        action: `${path}/devices/${device.instanceId}/name`,
        isSheet: true,
        button: say('save'),
        back: path,
      },
      html`<div class="field">
        <label for="name">${say('renameLabel')}</label>
        <p class="soft" id="name-hint">${say('renameHint')}</p>
        <input
          type="text"
          id="name"
          name="name"
          value=${typed.name}
          maxlength=${maxDeviceName}
          autocomplete="off"
          aria-describedby=${described}
          aria-invalid=${typed.wrong ? 'true' : undefined}
        />
        ${typed.wrong && html`<p class="error" id="name-error">${say('renameWrong')}</p>`}
      </div>`,
    )}
  </section>`
}

/** Asks before the key is replaced. The form names the key, so that sending it twice replaces it once. */
export function replaceView(visit: Visit, license: ShownLicense): Html {
  const { say, customer } = visit
  const path = pathOf(visit, license)
  return html`<section class="narrow">
    <h1>${say('replaceTitle')}</h1>
    <p class="lead">${say('replaceWords', { email: maskedAddress(customer?.email ?? '') })}</p>
    <p><code>${license.displayKey}</code></p>
    ${formOf(
      visit,
      { action: `${path}/replace-key`, button: say('replaceButton'), back: path },
      html`<input type="hidden" name="replaces" value=${license.displayKey} />`,
    )}
  </section>`
}
