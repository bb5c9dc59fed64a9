import { memberIn } from '../../access/member-sessions.ts'
import type { ListedSession } from '../../access/sessions.ts'
import type { SetUp, signInMethods } from '../../commands/members/set-up.ts'
import { roleName, roleSummary } from '../../domain/members/roles.ts'
import { type Content, type Html, html } from '../../html.ts'
import { ago, dayOf } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, facts, field, heading, notice, section, table, tokenField } from '../frame/parts.ts'
import type { Principal } from '../session/principal.ts'
import { passkeyForm, passwordSetUp } from '../sign-in/view.ts'

type Account = {
  principal: Principal
  ways: Awaited<ReturnType<typeof signInMethods>>
  sessions: readonly ListedSession[]
  passkeysPossible: boolean
}

export function accountView(view: View, { principal, ways, sessions, passkeysPossible }: Account): Html {
  return html`<div>
    ${heading('Your account', `${roleSummary(principal.role)}.`)}
    <div class="sheet">
      ${facts([
        ['Email', principal.email ?? 'erased'],
        ['Role', roleName(principal.role)],
        ['Workspace', `${principal.tenantName} (${principal.tenantId})`],
      ])}
    </div>
    ${section('Sign-in methods', waysView(view, ways, passkeysPossible))}
    ${section('Sessions', sessionsView(view, sessions, principal.sessionHash))}
  </div>`
}

function waysView(view: View, { password, passkeys }: Account['ways'], passkeysPossible: boolean): Html {
  const passwordRow: Content[] = [
    html`<span>Password and authenticator app</span>`,
    '',
    html`<a href="/dashboard/account/password">${password ? 'Change' : 'Set up'}</a>`,
  ]
  const passkeyRows = passkeys.map(({ credentialId, name, createdAt, lastUsedAt }): Content[] => [
    html`<span>${name}<span class="sub">passkey, added ${dayOf(createdAt)}</span></span>`,
    lastUsedAt === null ? 'never used' : html`<span>used ${ago(lastUsedAt, view.now)}</span>`,
    html`<form method="post" action="/dashboard/account/passkeys/remove">
      ${tokenField(view.token)}
      <input type="hidden" name="passkey" value=${credentialId} />
      <button class="quiet" aria-label=${`Remove passkey ${name}`}>Remove</button>
    </form>`,
  ])
  return html`<div class="stack">
    <div class="sheeted">
      ${table({
        caption: 'Sign-in methods',
        columns: [{ label: 'Method' }, { label: 'Last used', wide: true }, { label: 'Action' }],
        rows: [...passkeyRows, ...(password || passkeys.length === 0 ? [passwordRow] : [])],
      })}
    </div>
    <div class="actions">
      ${passkeysPossible && html`<a class="button second" href="/dashboard/account/passkeys/new">Add passkey</a>`}
      ${
        !password &&
        passkeys.length > 0 &&
        html`<a class="button second" href="/dashboard/account/password">Set up password</a>`
      }
    </div>
  </div>`
}

/** A short name for the browser in a user agent. */
export function browserName(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown browser'
  const browser = /Edg\//.test(userAgent)
    ? 'Edge'
    : /Firefox\//.test(userAgent)
      ? 'Firefox'
      : /Chrom(?:e|ium)\//.test(userAgent)
        ? 'Chrome'
        : /Safari\//.test(userAgent)
          ? 'Safari'
          : 'Another browser'
  const system = /Android|iPhone|iPad|Mac OS X|Windows|Linux/
    .exec(userAgent)?.[0]
    .replace('Mac OS X', 'macOS')
  return system ? `${browser} on ${system}` : browser
}

function sessionsView(view: View, sessions: readonly ListedSession[], own: string): Html {
  const rows = sessions.map(({ sessionHash, data, createdAt, lastSeenAt }): Content[] => {
    const member = memberIn(data)
    return [
      html`<span
        >${browserName(member?.userAgent ?? null)}<span class="sub">${member?.address ?? ''}</span></span
      >`,
      ago(createdAt, view.now),
      ago(lastSeenAt, view.now),
      sessionHash === own
        ? badge('good', 'current')
        : html`<form method="post" action="/dashboard/account/sessions/end">
            ${tokenField(view.token)}
            <input type="hidden" name="session" value=${sessionHash} />
            <button class="quiet">End session</button>
          </form>`,
    ]
  })
  return html`<div class="stack">
    <div class="sheeted">
      ${table({
        caption: 'Your sessions',
        columns: [
          { label: 'Browser' },
          { label: 'Signed in', wide: true },
          { label: 'Last seen' },
          { label: 'Action' },
        ],
        rows,
      })}
    </div>
    ${
      sessions.length > 1 &&
      html`<form method="post" action="/dashboard/account/sessions/end-others">
        ${tokenField(view.token)}<button class="second">Sign out everywhere else</button>
      </form>`
    }
  </div>`
}

type NewPassword = {
  token: string
  email: string
  secret: string
  qr: Html
  setUp: Extract<SetUp, { done: false }> | undefined
}

export function newPasswordView({ token, email, secret, qr, setUp }: NewPassword): Html {
  const problem =
    setUp && (setUp.problem === 'password' || setUp.problem === 'code')
      ? { field: setUp.problem, message: setUp.message }
      : undefined
  return html`<div class="narrow">
    ${heading('New password', 'Replaces your current password and authenticator app, and ends your other sessions.')}
    <div class="sheet">
      ${passwordSetUp({
        token,
        action: '/dashboard/account/password',
        email,
        secret,
        qr,
        problem,
        button: 'Save password',
      })}
    </div>
    <p class="notice-last"><a href="/dashboard/account">Go back</a></p>
  </div>`
}

export function newPasskeyView(token: string, problem: string | undefined): Html {
  return html`<div class="narrow stack">
    ${heading('New passkey', 'Your browser asks for a fingerprint, your face or a PIN, and stores the passkey.')}
    ${problem && notice('wrong', problem)}
    <div class="sheet">
      ${passkeyForm({
        token,
        action: '/dashboard/account/passkeys',
        challenge: '/dashboard/account/passkeys/challenge',
        label: 'Create passkey',
        makes: true,
        extra: field({
          name: 'name',
          label: 'Name',
          hint: 'A name to recognize it by, such as “MacBook” or “Blue security key”.',
          maxlength: 60,
          value: 'Passkey',
        }),
      })}
      <noscript><p>Passkeys need JavaScript, which is turned off in this browser.</p></noscript>
    </div>
    <p><a href="/dashboard/account">Go back</a></p>
  </div>`
}
