import type { KeyState, KeyStatus } from '../../domain/signing/signing.ts'
import { type Content, type Html, html } from '../../html.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, heading, table, tokenField } from '../frame/parts.ts'

const statusWords: Record<KeyStatus, Content> = {
  next: badge('plain', 'next'),
  signing: badge('good', 'signing'),
  retiring: badge('plain', 'retiring'),
  retired: badge('plain', 'retired'),
}

/** The published keys; retired ones are not listed. */
export function signingKeysSummary(view: View, keys: readonly KeyState[], mayManage: boolean): Html {
  const published = keys.filter(({ status }) => status !== 'retired')
  return html`<div class="sheet stack">
    ${
      published.length === 0
        ? html`<p>No signing keys yet. The first one is created on the first request from an app.</p>`
        : table({
            caption: 'Signing keys',
            columns: [{ label: 'Key' }, { label: 'Status' }, { label: 'Signs from' }, { label: 'Published' }],
            rows: published.map(({ kid, status, signsFrom, publishedUntil }) => [
              html`<code>${kid}</code>`,
              statusWords[status],
              signsFrom === null ? 'Its rotation' : ago(signsFrom, view.now),
              publishedUntil === null ? 'Until it is replaced' : html`Until ${moment(publishedUntil)}`,
            ]),
          })
    }
    ${
      mayManage &&
      html`<p><a class="button second" href="/dashboard/settings/signing-keys">Rotate key</a></p>`
    }
  </div>`
}

export function rotateSigningKeyView(token: string, newest: KeyState | undefined): Html {
  return html`<div class="narrow">
    ${heading('Signing keys', 'Leases and settings are signed with these keys. Your apps verify the signatures.')}
    <form class="sheet stack" method="post" action="/dashboard/settings/signing-keys">
      ${tokenField(token)}
      <input type="hidden" name="replaces" value=${newest?.kid ?? 'none'} />
      ${explanation(newest)}
      <div class="decide">
        <button name="what" value="rotate">Rotate key</button>
        ${!isPrepared(newest) && html`<button class="second" name="what" value="prepare">Publish next key</button>`}
        <a class="button second" href="/dashboard/settings">Cancel</a>
      </div>
    </form>
  </div>`
}

const isPrepared = (newest: KeyState | undefined): boolean => newest?.signsFrom === null

function explanation(newest: KeyState | undefined): Html {
  if (newest && isPrepared(newest))
    return html`<p>
      The next key <code>${newest.kid}</code> is published and signs nothing yet. Rotate when your apps have it: it then starts
      signing, at once if it was published at least five minutes ago.
    </p>`
  const forPinning = html`<p>
    Do your apps ship with the keys? Publish the next key first, ship it with a new version of your app, and rotate later.
  </p>`
  if (newest?.status === 'next')
    return html`<p>
        The key <code>${newest.kid}</code> is published and starts signing within five minutes. Rotating again now has no effect.
      </p>
      ${forPinning}`
  return html`<p>
      A new key is published immediately and starts signing in five minutes, when every app's keyset has it.${' '}
      ${
        newest &&
        html`The current key <code>${newest.kid}</code> stays published until everything it signed has expired. `
      }Apps are not affected.
    </p>
    ${forPinning}`
}
