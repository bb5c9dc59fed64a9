import type { ProviderOfCustomers } from '../../domain/sign-in-providers/provider.ts'
import { type Html, html } from '../../html.ts'
import { portalBeginPath } from '../../http/sign-in-paths.ts'
import { formOf } from '../form.ts'
import { message } from '../page.ts'
import type { Visit } from '../visit.ts'
import { linkMinutes } from './request-link.ts'

/**
 * @param typed what was typed into the form, and whether it is no address
 * @param typed.kept what the visitor came with, which is kept meanwhile
 * @param providers those that all customers may sign in with
 */
export function signInView(
  visit: Visit,
  typed: { email: string; wrong: boolean; kept: 'file' | 'code' | undefined },
  providers: readonly OfferedProvider[],
): Html {
  const { say, home } = visit
  return html`<section class="narrow">
    <h1>${say('signInTitle')}</h1>
    <p class="lead">${say('signInLead')}</p>
    ${typed.kept && html`<p>${say(typed.kept === 'file' ? 'fileKept' : 'activateKept')}</p>`}
    ${formOf(
      visit,
      { action: `${home}/sign-in`, isSheet: true, button: say('signInButton') },
      html`<div class="field">
        <label for="email">${say('emailLabel')}</label>
        <input
          type="email"
          id="email"
          name="email"
          value=${typed.email}
          autocomplete="email"
          required
          maxlength="254"
          aria-invalid=${typed.wrong ? 'true' : undefined}
          aria-describedby=${typed.wrong ? 'email-error' : undefined}
        />
        ${typed.wrong && html`<p class="error" id="email-error">${say('emailWrong')}</p>`}
      </div>`,
    )}
    ${providers.length > 0 && html`<div class="stack"><p>${say('signInOtherwise')}</p>${linksTo(visit, providers, 'button second')}</div>`}
  </section>`
}

/** A provider that a sign-in is offered with. */
type OfferedProvider = Pick<ProviderOfCustomers, 'providerId' | 'name'>

/** Links and no forms: a form may lead to no other site. */
const linksTo = ({ say, tenantId }: Visit, providers: readonly OfferedProvider[], look: string): Html[] =>
  providers.map(
    ({ providerId, name }) =>
      html`<p><a class=${look} href=${portalBeginPath(tenantId, providerId)}>${say('signInWith', { provider: name })}</a></p>`,
  )

/** The providers for the domain of an address, and the link by mail all the same. */
export const chooseView = (visit: Visit, email: string, providers: readonly OfferedProvider[]): Html =>
  message(
    visit.say('signInTitle'),
    visit.say('signInWithLead'),
    html`${linksTo(visit, providers, 'button')}
    ${formOf(
      visit,
      { action: `${visit.home}/sign-in`, button: visit.say('signInByLink'), buttonLook: 'second' },
      html`<input type="hidden" name="email" value=${email} /><input type="hidden" name="by" value="link" />`,
    )}`,
  )

export const linkSentView = ({ say, home }: Visit): Html =>
  message(
    say('linkSentTitle'),
    say('linkSent', { minutes: linkMinutes }),
    html`<p>${say('linkSentHint')}</p>
      <p><a href=${`${home}/sign-in`}>${say('linkSentAgain')}</a></p>`,
  )

/** The page of a link: programs that look into mails open it too, so only its button uses the link. */
export function linkView(visit: Visit, secret: string): Html {
  const { say, home } = visit
  return message(
    say('linkTitle'),
    say('linkLead'),
    formOf(
      visit,
      { action: `${home}/link`, button: say('linkButton') },
      html`<input type="hidden" name="token" value=${secret} />`,
    ),
  )
}

/** The page of a link that cannot be used here. */
export const uselessLinkView = ({ say, home }: Visit, why: 'other browser' | 'expired'): Html =>
  message(
    say(why === 'expired' ? 'linkExpiredTitle' : 'linkOtherBrowserTitle'),
    say(why === 'expired' ? 'linkExpired' : 'linkOtherBrowser', { minutes: linkMinutes }),
    html`<p><a class="button" href=${`${home}/sign-in`}>${say('linkAgain')}</a></p>`,
  )
