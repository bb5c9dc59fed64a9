import { type Html, html } from '../../html.ts'
import { ago } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { facts, heading, secretBox, section, tokenField } from '../frame/parts.ts'

const path = '/dashboard/settings/sdk-key'

type MaskedKey = { displayKey: string; issuedAt: string } | null

const operationField = (operation: string): Html =>
  html`<input type="hidden" name="operation" value=${operation} />`

/** The masked key, and the forms that show and rotate it. */
export function sdkKeyView({ token, now }: View, operation: string, key: MaskedKey): Html {
  return html`<div class="narrow">
    ${heading('SDK key', 'Your apps send it with every call of the client API.')}
    <form class="sheet stack" method="post" action=${path}>
      ${tokenField(token)} ${operationField(operation)}
      ${
        key === null
          ? html`<p>No SDK key yet.</p>`
          : facts([
              ['Key', html`<code>${key.displayKey}</code>`],
              ['Issued', ago(key.issuedAt, now)],
            ])
      }
      <div class="decide">
        <button name="action" value="reveal">${key === null ? 'Create key' : 'Show key'}</button>
        <a class="button second" href="/dashboard/settings">Back to settings</a>
      </div>
    </form>
    ${
      key !== null &&
      section(
        'Rotation',
        html`<details>
          <summary>Rotate the key…</summary>
          <form class="stack-tight" method="post" action=${path}>
            ${tokenField(token)} ${operationField(operation)}
            <div><button class="dangerous" name="action" value="rotate">Rotate key</button></div>
          </form>
        </details>`,
        'Apps that were built with the current key are rejected as soon as it is rotated.',
      )
    }
  </div>`
}

/** The whole key. */
export function shownSdkKeyView(sdkKey: string, isNew: boolean): Html {
  return html`<div class="narrow">
    ${heading('SDK key', isNew ? 'The former key no longer works.' : 'Copy it into the settings of your app.')}
    <div class="sheet stack">
      ${secretBox('SDK key', sdkKey)}
      <p><a class="button second" href="/dashboard/settings">Back to settings</a></p>
    </div>
  </div>`
}
