import type { ListedSession } from '../../../access/sessions.ts'
import type { SetUp, waysIn } from '../../../commands/set-up.ts'
import { rightsOf } from '../../../domain/member/roles.ts'
import { type Content, type Html, html } from '../html.ts'
import type { View } from '../page.ts'
import { memberIn } from '../session.ts'
import type { Signed } from '../signed.ts'
import { ago, dayOf } from './moments.ts'
import { badge, facts, field, heading, notice, section, table, tokenField } from './parts.ts'
import { passkeyForm, passwordSetUp } from './sign-in.ts'

type Account = {
  signed: Signed
  ways: Awaited<ReturnType<typeof waysIn>>
  sessions: readonly ListedSession[]
  passkeysPossible: boolean
}

export function accountView(view: View, { signed, ways, sessions, passkeysPossible }: Account): Html {
  return html`<div>
    ${heading('Your account', `${rightsOf[signed.role].summary}.`)}
    <div class="sheet">
      ${facts([
        ['E-mail', signed.email ?? 'erased'],
        ['Role', signed.role],
        ['Workspace', `${signed.tenantName} (${signed.tenantId})`],
      ])}
    </div>
    ${section('How you sign in', waysView(view, ways, passkeysPossible))}
    ${section('Where you are signed in', sessionsView(view, sessions, signed.sessionHash))}
  </div>`
}

function waysView(view: View, { password, passkeys }: Account['ways'], passkeysPossible: boolean): Html {
  const passwordRow: Content[] = [
    html`<span>Password and authenticator app</span>`,
    '',
    html`<a href="/dashboard/account/password">${password ? 'Change' : 'Set up'}</a>`,
  ]
  const passkeyRows = passkeys.map(({ credentialId, name, createdAt, lastUsedAt }): Content[] => [
    html`<span>${name}<span class="sub">passkey, since ${dayOf(createdAt)}</span></span>`,
    lastUsedAt === null ? 'never used yet' : html`<span>used ${ago(lastUsedAt, view.now)}</span>`,
    html`<form method="post" action="/dashboard/account/passkeys/remove">
      ${tokenField(view.token)}
      <input type="hidden" name="passkey" value=${credentialId} />
      <button class="quiet" aria-label=${`Remove the passkey ${name}`}>Remove</button>
    </form>`,
  ])
  return html`<div class="stack">
    <div class="sheeted">
      ${table({
        caption: 'How you sign in',
        columns: [{ label: 'Way' }, { label: 'Last used', wide: true }, { label: 'Change' }],
        rows: [...passkeyRows, ...(password || passkeys.length === 0 ? [passwordRow] : [])],
      })}
    </div>
    <div class="actions">
      ${passkeysPossible && html`<a class="button second" href="/dashboard/account/passkeys/new">Add a passkey</a>`}
      ${
        !password &&
        passkeys.length > 0 &&
        html`<a class="button second" href="/dashboard/account/password">Set up a password too</a>`
      }
    </div>
  </div>`
}

/** What a browser says of itself, as short as people say it. */
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
        ? badge('good', 'this one')
        : html`<form method="post" action="/dashboard/account/sessions/end">
            ${tokenField(view.token)}
            <input type="hidden" name="session" value=${sessionHash} />
            <button class="quiet">End</button>
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
          { label: 'End' },
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
    ${heading('New password', 'Replaces the password and the authenticator app that you have, and ends your other sessions.')}
    <div class="sheet">
      ${passwordSetUp({
        token,
        action: '/dashboard/account/password',
        email,
        secret,
        qr,
        problem,
        button: 'Use this from now on',
      })}
    </div>
    <p class="notice-last"><a href="/dashboard/account">Go back</a></p>
  </div>`
}

export function newPasskeyView(token: string, problem: string | undefined): Html {
  return html`<div class="narrow stack">
    ${heading('New passkey', 'Your browser asks for a finger, a face or a PIN, and keeps the key for you.')}
    ${problem && notice('wrong', problem)}
    <div class="sheet">
      ${passkeyForm({
        token,
        action: '/dashboard/account/passkeys',
        challenge: '/dashboard/account/passkeys/challenge',
        label: 'Make the passkey',
        makes: true,
        extra: field({
          name: 'name',
          label: 'Name',
          hint: 'So that you know it again: “MacBook”, “Blue security key”.',
          maxlength: 60,
          value: 'Passkey',
        }),
      })}
      <noscript><p>A passkey needs JavaScript, which this browser has turned off.</p></noscript>
    </div>
    <p><a href="/dashboard/account">Go back</a></p>
  </div>`
}
