import type { MadeFile } from '../../commands/devices/files.ts'
import { dayIn } from '../../domain/portal/languages.ts'
import type { PortalTextKey } from '../../domain/portal/texts.ts'
import { type Html, html } from '../../html.ts'
import { qrCode } from '../../qr-code.ts'
import { formOf } from '../form.ts'
import type { Visit } from '../visit.ts'

/** Takes the text that the app made on a machine without a network. */
export const fileFormView = (
  visit: Visit,
  licenseId: string,
  typed: { text: string; problem?: PortalTextKey },
): Html =>
  carriedForm(visit, `${visit.home}/licenses/${licenseId}`, {
    ...typed,
    action: 'file',
    title: visit.say('fileTitle'),
    lead: `${visit.say('filesLead')} ${visit.say('fileHold')}`,
    label: visit.say('fileLabel'),
    hint: visit.say('fileHow'),
  })

type CarriedForm = {
  text: string
  problem?: PortalTextKey
  action: string
  title: string
  lead: string
  label: string
  hint: string
}

/** A form for a text that was carried here. @param path of the page to return to, under which the form is sent */
export function carriedForm(
  visit: Visit,
  path: string,
  { text, problem, action, title, lead, label, hint }: CarriedForm,
): Html {
  const { say } = visit
  return html`<section class="narrow">
    <h1>${title}</h1>
    <p class="lead">${lead}</p>
    ${formOf(
      visit,
      { action: `${path}/${action}`, isSheet: true, button: say('fileButton'), back: path },
      html`<div class="field">
        <label for="request">${label}</label>
        <p class="soft" id="request-hint">${hint}</p>
        <textarea
          id="request"
          name="request"
          rows="8"
          spellcheck="false"
          autocomplete="off"
          required
          aria-describedby=${problem ? 'request-hint request-error' : 'request-hint'}
          aria-invalid=${problem ? 'true' : undefined}
        >
${text}</textarea>
        ${problem && html`<p class="error" id="request-error">${say(problem)}</p>`}
      </div>`,
    )}
  </section>`
}

/** The license file that answers a request: to keep as a file, to copy, or to scan. */
export function fileView(visit: Visit, licenseId: string, { seat, file, text, token }: MadeFile): Html {
  const { say, home, language } = visit
  return html`<section class="narrow">
    <h1>${say('fileTitle')}</h1>
    <p class="lead">${say('fileFor', { name: seat.name, date: dayIn(language, file.endsAt) })}</p>
    <div class="sheet stack">
      <div class="actions">
        <a class="button" download="license.txt" href=${`data:text/plain,${encodeURIComponent(text)}`}>${say('fileSave')}</a>
        <a class="button second" href=${`${home}/licenses/${licenseId}`}>${say('fileBack')}</a>
      </div>
      ${qrCode(token, say('fileScan'))}
      <pre class="carried">${text}</pre>
    </div>
  </section>`
}
