import type { OfferedProviders } from '../../../projections/sign-in-providers.ts'
import { type Content, type Html, html } from '../../html.ts'
import { beginPath } from '../../http/sign-in-paths.ts'
import { field } from '../frame/parts.ts'
import { home } from '../session/redirect-with.ts'
import { messageView } from './view.ts'

const toSignIn = html`<p><a href="/dashboard/sign-in">Back to sign in</a></p>`

/** The query that leads back to a page after a sign-in; empty for the home page. */
const backTo = (returnTo: string): string =>
  returnTo === home ? '' : `?return=${encodeURIComponent(returnTo)}`

/** The providers of a workspace on the sign-in page, or the way to them. */
export function providerLinks({ tenantId, providers, any }: OfferedProviders, returnTo: string): Content {
  if (tenantId !== null && providers.length > 0)
    return html`<div class="stack-tight">
      ${providers.map(
        ({ providerId, name }) =>
          html`<a class="button second wide-button" href=${`${beginPath(tenantId, providerId)}${backTo(returnTo)}`}>Sign in with ${name}</a>`,
      )}
      <p class="or">or</p>
    </div>`
  return (
    any && html`<p><a href=${`/dashboard/sign-in/workspace${backTo(returnTo)}`}>Use single sign-on</a></p>`
  )
}

/** Asks for the workspace, whose providers the sign-in page then offers. */
export const workspaceView = (returnTo: string): Html => html`<div class="sheet stack">
  <h1>Single sign-on</h1>
  <form class="stack" method="get" action="/dashboard/sign-in">
    <input type="hidden" name="return" value=${returnTo} />
    ${field({
      name: 'workspace',
      label: 'Workspace',
      hint: 'The tenant ID, which an owner of your workspace sees under Settings.',
      autocomplete: 'organization',
    })}
    <button class="wide-button">Continue</button>
  </form>
  ${toSignIn}
</div>`

type Shown = { title: string; content: () => Html }

const message = (title: string, text: Content): Shown => ({
  title,
  content: () => messageView(title, text, toSignIn),
})

/** The answer belongs to no sign-in that this browser has begun. */
export const stalePage = message(
  'Sign-in not completed',
  'This sign-in was begun in another browser, was already used, or took more than ten minutes. Start again.',
)

export const unreachablePage = (name: string): Shown =>
  message(
    'Not available now',
    `${name} cannot be reached, or does not answer as it should. Try again in a minute, or sign in another way.`,
  )

export const notProvenPage = (name: string): Shown =>
  message('Sign-in not completed', `${name} did not confirm who you are. Start again.`)

/** The same for every reason, so that it does not reveal who is a member. */
export const notAdmittedPage = (name: string): Shown =>
  message(
    'Not allowed',
    `Your account at ${name} cannot sign in to this workspace. Ask an owner of the workspace.`,
  )

export const notConfirmedPage = (name: string): Shown =>
  message(
    'Identity not confirmed',
    `${name} did not say that you have just signed in there as the same person. Ask an owner of the workspace if this happens again.`,
  )

export const notRecordedPage = message(
  'Not available now',
  'Sign-ins cannot be recorded at the moment. Try again in a minute.',
)

/** The member is signed out here; the header of the page leads on to the provider. */
export const signedOutView = (endSession: string): Html =>
  messageView(
    'Signed out',
    'You are signed out of keyledger. Your provider signs you out next.',
    html`<p><a href=${endSession}>Continue to your provider</a></p>`,
  )
