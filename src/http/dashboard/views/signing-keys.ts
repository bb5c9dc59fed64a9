import type { KeyState, KeyStatus } from '../../../domain/signing/signing.ts'
import { type Content, type Html, html } from '../html.ts'
import type { View } from '../page.ts'
import { ago } from './moments.ts'
import { badge, heading, table, tokenField } from './parts.ts'

const statusWords: Record<KeyStatus, Content> = {
  next: badge('plain', 'signs next'),
  signing: badge('good', 'signs'),
  retiring: badge('plain', 'still published'),
  retired: badge('plain', 'retired'),
}

/** The keys that are published; retired ones are of no more use to anybody. */
export function signingKeysSummary(view: View, keys: readonly KeyState[], mayManage: boolean): Html {
  const published = keys.filter(({ status }) => status !== 'retired')
  return html`<div class="sheet stack">
    ${
      published.length === 0
        ? html`<p>There is none yet. The first one is made when an app first asks.</p>`
        : table({
            caption: 'Signing keys',
            columns: [
              { label: 'Key' },
              { label: 'State' },
              { label: 'Signs from' },
              { label: 'Published until' },
            ],
            rows: published.map(({ kid, status, signsFrom, publishedUntil }) => [
              html`<code>${kid}</code>`,
              statusWords[status],
              ago(signsFrom, view.now),
              publishedUntil === null ? 'it is replaced' : ago(publishedUntil, view.now),
            ]),
          })
    }
    ${
      mayManage &&
      html`<p><a class="button second" href="/dashboard/settings/signing-keys">Rotate the key</a></p>`
    }
  </div>`
}

export function rotateSigningKeyView(token: string, newest: KeyState | undefined): Html {
  return html`<div class="narrow">
    ${heading('Signing keys', 'Leases and settings are signed with them, and your apps check that.')}
    <form class="sheet stack" method="post" action="/dashboard/settings/signing-keys">
      ${tokenField(token)}
      <input type="hidden" name="replaces" value=${newest?.kid ?? 'none'} />
      <p>
        ${
          newest?.status === 'next'
            ? html`The key <code>${newest.kid}</code> is published and will sign within five minutes. Rotating again now
                changes nothing.`
            : html`A new key is published at once and signs in five minutes, when every app's keyset has it.
              ${
                newest &&
                html`The present key <code>${newest.kid}</code> stays published until all that it has signed has
                ended. `
              }Apps notice nothing.`
        }
      </p>
      <div class="decide">
        <button>Rotate the key</button>
        <a class="button second" href="/dashboard/settings">Cancel</a>
      </div>
    </form>
  </div>`
}
