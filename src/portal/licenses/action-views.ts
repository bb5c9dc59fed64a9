import { type Html, html } from '../../html.ts'
import { maskedAddress, tokenField } from '../page.ts'
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
    <form class="actions" method="post" action=${`${path}/devices/${device.instanceId}/free`}>
      ${tokenField(visit)}
      ${frees.left > 0 && html`<button>${say('freeButton')}</button>`}
      <a class="button second" href=${path}>${say('cancel')}</a>
    </form>
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
    <form class="sheet" method="post" action=${`${path}/devices/${device.instanceId}/name`}>
      ${tokenField(visit)}
      <div class="field">
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
      </div>
      <div class="actions">
        <button>${say('save')}</button>
        <a class="button second" href=${path}>${say('cancel')}</a>
      </div>
    </form>
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
    <form class="actions" method="post" action=${`${path}/replace-key`}>
      ${tokenField(visit)}
      <input type="hidden" name="replaces" value=${license.displayKey} />
      <button>${say('replaceButton')}</button>
      <a class="button second" href=${path}>${say('cancel')}</a>
    </form>
  </section>`
}
