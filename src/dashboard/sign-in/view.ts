import { maxPasswordLength, minPasswordLength } from '../../access/password.ts'
import { type Content, type Html, html } from '../../html.ts'
import { field, notice, tokenField } from '../frame/parts.ts'

type PasskeyForm = {
  /** The URL that returns the challenge; `action` receives the passkey. */
  challenge: string
  action: string
  /** The name of the field that carries the passkey. */
  field?: string
  token: string
  label: string
  /** Creates a passkey instead of using one. */
  makes?: boolean
  returnTo?: string
  extra?: Content
  second?: boolean
  /** A separator before another sign-in method; undefined when there is none. */
  or?: string
}

/** A form that is only shown by browsers with JavaScript and passkeys. */
export function passkeyForm(form: PasskeyForm): Html {
  return html`<form
    class="stack-tight"
    method="post"
    action=${form.action}
    data-passkey=${form.makes ? 'new' : 'get'}
    data-challenge=${form.challenge}
    hidden
  >
    ${tokenField(form.token)}
    <input type="hidden" name=${form.field ?? 'credential'} value="" data-credential />
    ${form.returnTo !== undefined && html`<input type="hidden" name="return" value=${form.returnTo} />`} ${form.extra}
    <button class=${form.second ? 'second wide-button' : 'wide-button'}>${form.label}</button>
    <p class="error" role="alert"></p>
    ${form.or !== undefined && html`<p class="or">${form.or}</p>`}
  </form>`
}

const code = (name: string, hint: string): Html =>
  field({
    name,
    label: 'Code',
    hint,
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    maxlength: 9,
    className: 'code',
  })

type SignInView = {
  token: string
  returnTo: string
  problem: Content
  email: string
  workspace: string
  passkeys: boolean
  /** The providers of the workspace, or the way to them. */
  providers: Content
}

export function signInView(shown: SignInView): Html {
  const { token, returnTo, problem, email, workspace, passkeys, providers } = shown
  const target = {
    token,
    returnTo,
    challenge: '/dashboard/sign-in/challenge',
    action: '/dashboard/sign-in/passkey',
  }
  return html`<div class="sheet stack">
    <h1>Sign in</h1>
    ${problem && notice('wrong', problem)}
    ${providers}
    ${passkeys && passkeyForm({ ...target, label: 'Sign in with a passkey', second: true, or: 'or' })}
    <form class="stack" method="post" action="/dashboard/sign-in">
      ${tokenField(token)}
      <input type="hidden" name="return" value=${returnTo} />
      ${field({ name: 'email', label: 'Email', type: 'email', value: email, autocomplete: 'username' })}
      ${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
      ${code('code', 'Six-digit code from your authenticator app.')}
      ${field({
        name: 'workspace',
        label: 'Workspace (optional)',
        hint: 'Needed only if your email address belongs to several workspaces.',
        value: workspace,
        required: false,
        autocomplete: 'organization',
      })}
      <button class="wide-button">Sign in</button>
    </form>
    <p class="hint">Locked out? Ask an owner of your workspace or the operator of this server for a new link.</p>
  </div>`
}

/** The fields of a form that waits for a proof. */
export type HeldFields = Readonly<Record<string, string | string[] | undefined>>

type ConfirmView = {
  token: string
  /** Where the held fields and the proof are sent. */
  action: string
  held: HeldFields
  /** The page to return to without a proof. */
  back: string
  problem: Content
  email: string | null
  password: boolean
  passkeys: boolean
  /** The provider that the session began at. */
  provider: { name: string; href: string } | undefined
}

export function confirmView(shown: ConfirmView): Html {
  const { token, action, held, back, problem, email, password, passkeys, provider } = shown
  const hidden = html`${heldFields(held)}<input type="hidden" name="identity-back" value=${back} />`
  return html`<div class="narrow stack">
    <div>
      <h1>Confirm your identity</h1>
      <p class="lead">Confirm who you are to continue. You are not asked again for ten minutes.</p>
    </div>
    ${problem && notice('wrong', problem)}
    ${
      passkeys &&
      passkeyForm({
        token,
        action,
        challenge: '/dashboard/confirm/challenge',
        field: 'identity-credential',
        extra: hidden,
        label: 'Confirm with a passkey',
        second: password,
        ...(password && { or: 'or' }),
      })
    }
    ${
      password &&
      html`<form class="sheet stack" method="post" action=${action}>
        ${tokenField(token)} ${hidden}
        <input type="hidden" name="identity-email" value=${email} autocomplete="username" />
        ${field({ name: 'identity-password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
        ${code('identity-code', 'The six-digit code that your authenticator app shows now.')}
        <div class="decide">
          <button>Confirm</button>
          <a class="button second" href=${back}>Go back</a>
        </div>
      </form>`
    }
    ${
      provider &&
      html`<div class="stack-tight">
        <p><a class="button second" href=${provider.href}>Sign in again with ${provider.name}</a></p>
        <p class="hint">You return to the page before. What you typed there has to be entered again.</p>
      </div>`
    }
    ${!password && html`<p><a href=${back}>Go back</a></p>`}
  </div>`
}

const heldFields = (held: HeldFields): Content =>
  Object.entries(held).flatMap(([name, value]) =>
    name === '_csrf' || value === undefined
      ? []
      : [value].flat().map((one) => html`<input type="hidden" name=${name} value=${one} />`),
  )

type PasswordSetUp = {
  token: string
  action: string
  email: string
  secret: string
  qr: Html
  problem: { field: 'password' | 'code'; message: string } | undefined
  button: string
}

/** One form to choose a password and connect an authenticator app. */
export function passwordSetUp({ token, action, email, secret, qr, problem, button }: PasswordSetUp): Html {
  return html`<form class="stack" method="post" action=${action}>
    ${tokenField(token)}
    <input type="hidden" name="email" value=${email} autocomplete="username" />
    ${field({
      name: 'password',
      label: 'New password',
      type: 'password',
      autocomplete: 'new-password',
      maxlength: maxPasswordLength,
      hint: `At least ${minPasswordLength} characters. Several random words are easy to remember.`,
      error: problem?.field === 'password' ? problem.message : undefined,
    })}
    <div class="stack-tight">
      <h2>Authenticator app</h2>
      <p class="hint">Scan the QR code with an app such as 1Password, Aegis or Google Authenticator, or enter the key by hand.</p>
      ${qr}
      <p><code>${secret.replace(/(.{4})(?=.)/g, '$1 ')}</code></p>
    </div>
    ${field({
      name: 'code',
      label: 'Code',
      hint: 'The six-digit code that the app shows now.',
      autocomplete: 'one-time-code',
      inputmode: 'numeric',
      maxlength: 9,
      className: 'code',
      error: problem?.field === 'code' ? problem.message : undefined,
    })}
    <button class="wide-button">${button}</button>
  </form>`
}

type WelcomeView = {
  email: string
  tenantName: string
  role: string
  /** Whether the link replaces sign-in methods that the member has. */
  replaces: boolean
  setUp: Html
  passkey: Html | null
  problem: Content
}

export function welcomeView(shown: WelcomeView): Html {
  const { email, tenantName, role, replaces, setUp, passkey, problem } = shown
  return html`<div class="sheet stack">
    <div>
      <h1>Welcome to ${tenantName}</h1>
      <p class="lead">
        Choose how you sign in as <strong>${email}</strong> (${role}).${replaces && ' This replaces your earlier sign-in methods.'}
      </p>
    </div>
    ${problem && notice('wrong', problem)} ${passkey}
    ${setUp}
  </div>`
}

/** A page with a message and one link. */
export function messageView(title: string, text: Content, action?: Content): Html {
  return html`<div class="stack narrow">
    <h1>${title}</h1>
    <p class="lead">${text}</p>
    ${action}
  </div>`
}
