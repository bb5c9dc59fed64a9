import type { FastifyReply } from 'fastify'
import { minorDigits } from '../domain/currency.ts'
import { directionOf, formsOf, languageNames, type PortalLanguage } from '../domain/portal/languages.ts'
import type { PortalTextKey } from '../domain/portal/texts.ts'
import { type Content, documentOf, type Html, html } from '../html.ts'
import { brandPath, iconPath, logoPath, stylePath } from './assets.ts'
import { tokenField } from './form.ts'
import { viewingBanner } from './viewing/view.ts'
import type { Visit } from './visit.ts'

/** What stands above a page once after something was done: one of the portal's own texts. */
export type Notice = { kind: 'done' | 'wrong'; text: PortalTextKey }

type Page = { title: string; content: Content; notice?: Notice | undefined }

/** Sends a page of a portal. */
export function showPage(reply: FastifyReply, visit: Visit, page: Page, status = 200): FastifyReply {
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .send(documentOf(frame(visit, page, reply.request.url)))
}

/** A page that says one thing, outside a portal: the same for every portal that does not exist, whatever the reason. */
export function showPlain(reply: FastifyReply, title: string, text: string, status: number): FastifyReply {
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .send(
      documentOf(
        html`<html lang="en">
          ${head(title, [])}
          <body>
            <main class="page">${message(title, text)}</main>
          </body>
        </html>`,
      ),
    )
}

const head = (title: string, styles: readonly string[], icon = iconPath): Html => html`<head>
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <meta name="robots" content="noindex" />
  <title>${title}</title>
  <link rel="icon" href=${icon} />
  ${[stylePath, ...styles].map((path) => html`<link rel="stylesheet" href=${path} />`)}
</head>`

function frame(visit: Visit, { title, content, notice }: Page, url: string): Html {
  const { portal, home, language, say, customer, viewing } = visit
  const { supportEmail } = portal.settings
  const logo = logoPath(portal)
  return html`<html lang=${language} dir=${directionOf(language)}>
    ${head(`${title} · ${portal.name}`, [brandPath(portal)], logo ?? iconPath)}
    <body>
      ${typeof viewing === 'object' && viewingBanner(visit, viewing)}
      <header class="top">
        <a class="brand" href=${home}>
          ${logo !== null && html`<img src=${logo} alt="" />`}
          <span>${portal.name}</span>
        </a>
        ${
          customer &&
          viewing === undefined &&
          html`<form method="post" action=${`${home}/sign-out`}>
            ${tokenField(visit)}
            <button class="quiet">${say('signOut')}</button>
          </form>`
        }
      </header>
      <main class="page">
        ${notice && html`<p class=${`notice ${notice.kind}`} role=${notice.kind === 'wrong' ? 'alert' : 'status'}>${say(notice.text)}</p>`}
        ${content}
      </main>
      <footer>
        ${customer?.email && html`<p>${say('signedInAs', { email: customer.email })}</p>`}
        ${supportEmail !== null && html`<p>${withAddress(say('footer'), supportEmail)}</p>`}
        <nav aria-label=${say('language')}>
          ${Object.entries(languageNames(portal.addedLanguages)).map(([tag, name]) =>
            tag === language
              ? html`<span aria-current="true" lang=${tag}>${name}</span>`
              : html`<a href=${inLanguage(url, tag)} lang=${tag} hreflang=${tag}>${name}</a>`,
          )}
        </nav>
      </footer>
    </body>
  </html>`
}

/** The text with a link where the address belongs. */
function withAddress(text: string, email: string): Content {
  const [before = '', ...after] = text.split('{support}')
  return [before, html`<a href=${`mailto:${email}`}>${email}</a>`, after.join('')]
}

/** The same page in another language. */
function inLanguage(url: string, language: string): string {
  const { pathname, searchParams } = new URL(url, 'http://here.invalid')
  searchParams.set('language', language)
  searchParams.delete('done')
  return `${pathname}?${searchParams}`
}

/** A page that says one thing. */
export const message = (title: string, text: string, more?: Content): Html => html`<section class="narrow">
  <h1>${title}</h1>
  <p class="lead">${text}</p>
  ${more}
</section>`

/** An amount in minor units. A currency that is not a code of three letters is written unchanged. */
export function amountIn(language: PortalLanguage, amount: number, currency: string): string {
  if (!/^[a-z]{3}$/i.test(currency)) return `${amount} ${currency}`
  const count = minorDigits(currency)
  const shown = { minimumFractionDigits: count, maximumFractionDigits: count }
  const format = new Intl.NumberFormat(formsOf(language), { style: 'currency', currency, ...shown })
  return format.format(amount / 10 ** count)
}

/** The last characters of an order's number, so that people recognize it and others learn little. */
export const maskedOrder = (saleId: string): string => `••••${saleId.length > 8 ? saleId.slice(-4) : ''}`

/** `a•••@example.com` */
export const maskedAddress = (email: string): string =>
  `${email.slice(0, 1)}•••${email.slice(email.lastIndexOf('@'))}`
