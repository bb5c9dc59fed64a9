import type { LoginRequest } from '../../access/login-requests.ts'
import { grantableOf } from '../../domain/logins/login.ts'
import { quoted } from '../../domain/plain-text.ts'
import { type Html, html } from '../../html.ts'
import { ago } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { facts, field, heading, notice, select, tokenField } from '../frame/parts.ts'
import type { Principal } from '../session/principal.ts'
import { isDangerous, lifetimes, scopeBoxes } from '../tokens/fields.ts'

type CodeView = { token: string; code: string; problem: string | undefined }

export function codeView({ token, code, problem }: CodeView): Html {
  return html`<div class="narrow">
    ${heading('Authorize a device', 'Enter the code that the device shows. If you did not start this yourself, leave this page.')}
    <form class="sheet stack" method="post" action="/dashboard/device">
      ${tokenField(token)}
      ${field({
        name: 'code',
        label: 'Code',
        hint: 'Eight letters, such as BDWP-HQZK.',
        value: code,
        error: problem,
        className: 'code',
        maxlength: 40,
      })}
      <div><button>Continue</button></div>
    </form>
  </div>`
}

type Review = { login: LoginRequest; principal: Principal; problem: string | undefined }

export function reviewView(view: View, { login, principal, problem }: Review): Html {
  const { clientName, address, scopes, createdAt } = login
  const grantable = grantableOf(scopes, principal.role)
  const withheld = scopes.filter((scope) => !grantable.includes(scope))
  return html`<div>
    ${heading(
      html`Authorize a device that calls itself ${quoted(clientName)}?`,
      'It receives an API token for this workspace. Continue only if you started this yourself just now.',
    )}
    ${problem && notice('wrong', problem)}
    <div class="sheet stack">
      ${facts([
        ['Name', html`${quoted(clientName)}<span class="sub">self-reported, not verified</span>`],
        ['IP address', html`<code>${address}</code>`],
        ['Requested', ago(createdAt, view.now)],
        ['Workspace', principal.tenantName],
      ])}
    </div>
    ${grantable.length === 0 ? nothingToGrant() : grantForm(view, grantable)}
    ${
      withheld.length > 0 &&
      html`<p class="lead">
        It also requests ${withheld.map((scope, index) => html`<span>${index > 0 && ', '}<code>${scope}</code></span>`)},
        which your role cannot grant.
      </p>`
    }
    <form method="post" action="/dashboard/device/deny" id="deny">${tokenField(view.token)}</form>
  </div>`
}

/** All requested scopes are checked except `danger`, which a person has to check. */
function grantForm(view: View, grantable: readonly LoginRequest['scopes'][number][]): Html {
  return html`<form class="part sheet stack" method="post" action="/dashboard/device/approve">
    ${tokenField(view.token)}
    ${scopeBoxes(
      'Scopes',
      grantable.map((scope) => ({ scope, checked: !isDangerous(scope) })),
    )}
    <div class="narrow">
      ${select(
        'lifetime',
        'Token expires after',
        lifetimes.map(([value, label]) => ({ value, label, selected: value === '90' })),
      )}
    </div>
    <div class="decide">
      <button>Authorize</button>
      <button class="second" form="deny">Deny</button>
    </div>
  </form>`
}

const nothingToGrant = (): Html => html`<div class="part stack">
  ${notice('warn', 'Your role cannot grant any of the requested scopes. An owner of the workspace must authorize this device.')}
  <div class="decide"><button class="second" form="deny">Deny</button></div>
</div>`
