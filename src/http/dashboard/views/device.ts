import type { LoginRequest } from '../../../access/login-requests.ts'
import { grantableOf } from '../../../domain/login/login.ts'
import { quoted } from '../../../domain/plain-text.ts'
import { type Html, html } from '../html.ts'
import { lifetimes } from '../lifetimes.ts'
import type { View } from '../page.ts'
import type { Signed } from '../signed.ts'
import { ago } from './moments.ts'
import { facts, field, heading, notice, select, tokenField } from './parts.ts'
import { scopeBoxes } from './scopes.ts'

type CodeView = { token: string; code: string; problem: string | undefined }

export function codeView({ token, code, problem }: CodeView): Html {
  return html`<div class="narrow">
    ${heading('Sign in a program', 'Enter the code that the program shows you. Did nobody ask you to? Then leave this page.')}
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
      <div><button>Go on</button></div>
    </form>
  </div>`
}

type Review = { login: LoginRequest; signed: Signed; problem: string | undefined }

export function reviewView(view: View, { login, signed, problem }: Review): Html {
  const { clientName, address, scopes, createdAt } = login
  const grantable = grantableOf(scopes, signed.role)
  const withheld = scopes.filter((scope) => !grantable.includes(scope))
  return html`<div>
    ${heading(
      html`Sign in a program that says it is ${quoted(clientName)}?`,
      'It gets an API token of this workspace. Only go on if you started it yourself, just now.',
    )}
    ${problem && notice('wrong', problem)}
    <div class="sheet stack">
      ${facts([
        ['Program', html`says it is ${quoted(clientName)}<span class="sub">nobody has checked that</span>`],
        ['Asks from', html`<code>${address}</code>`],
        ['Asked', ago(createdAt, view.now)],
        ['Workspace', signed.tenantName],
      ])}
    </div>
    ${grantable.length === 0 ? nothingToGrant() : grantForm(view, grantable)}
    ${
      withheld.length > 0 &&
      html`<p class="lead">
        It also asks for ${withheld.map((scope, index) => html`<span>${index > 0 && ', '}<code>${scope}</code></span>`)},
        which your role cannot give.
      </p>`
    }
    <form method="post" action="/dashboard/device/deny" id="deny">${tokenField(view.token)}</form>
  </div>`
}

/** Everything that was asked for is ticked but for `danger`, which a person has to turn on. */
function grantForm(view: View, grantable: readonly LoginRequest['scopes'][number][]): Html {
  return html`<form class="part sheet stack" method="post" action="/dashboard/device/approve">
    ${tokenField(view.token)}
    ${scopeBoxes(
      'What it may do',
      grantable.map((scope) => ({ scope, checked: scope !== 'danger' })),
    )}
    <div class="narrow">
      ${select(
        'lifetime',
        'Signed in for',
        lifetimes.map(([value, label]) => ({ value, label, selected: value === '90' })),
      )}
    </div>
    <div class="decide">
      <button>Sign it in</button>
      <button class="second" form="deny">Deny</button>
    </div>
  </form>`
}

const nothingToGrant = (): Html => html`<div class="part stack">
  ${notice('warn', 'It asks for nothing that your role can give. An owner of the workspace has to sign it in.')}
  <div class="decide"><button class="second" form="deny">Deny</button></div>
</div>`
